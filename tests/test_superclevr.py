"""Super-CLEVR's parts and 3D questions run from their own metadata with a small plug-in of what data cannot say.

The plug-ins' composite nodes leave slots open as vqagen's own do. Facts of the formats are those of the published data;
scenes, templates and words are ours.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from program_notation import template as notation

import vqagen

HERE = Path(__file__).parent / "superclevr"
PLUGINS = sorted(HERE.glob("*.py"))
SIZES, COLORS, MATERIALS = ("small", "large"), ("red", "blue", "green"), ("rubber", "metal")
SHAPES, GROUPS = (
    ("suv", "wagon", "road", "tandem"),
    {"suv": "car", "wagon": "car", "road": "bicycle", "tandem": "bicycle"},
)
TYPES = {"weel": "Partname", "<R>": "Relation", "<N>": "Integer"}
Record = dict[str, Any]


def draw_thing(rng: random.Random) -> Record:
    return {"size": rng.choice(SIZES), "color": rng.choice(COLORS), "material": rng.choice(MATERIALS)}


def parts_scene(rng: random.Random) -> Record:
    """Objects with some parts each, every part with values of its own."""
    names = ("wheel", "door", "saddle", "trunk")
    things = [{**draw_thing(rng), "shape": rng.choice(SHAPES)} for _ in range(rng.randint(2, 5))]
    return {
        "objects": [
            {**thing, "parts": {name: draw_thing(rng) for name in rng.sample(names, rng.randint(1, 3))}}
            for thing in things
        ]
    }


def solid_scene(rng: random.Random) -> Record:
    """Objects turned by some degrees, and how much of each of their parts is hidden."""
    names = ("door_left", "door_right", "saddle", "trunk")
    count = rng.randint(2, 5)
    return {
        "objects": [
            {"color": rng.choice(COLORS), "shape": rng.choice(SHAPES), "rotation": rng.uniform(0, 360)}
            for _ in range(count)
        ],
        "occlusion": {
            str(i): {name: [rng.choice((0, 0.25))] for name in rng.sample(names, rng.randint(1, 4))}
            for i in range(count)
        },
    }


SCENES: dict[str, Callable[[random.Random], Record]] = {"parts": parts_scene, "solid": solid_scene}


class Made:
    """Questions of one of the two domains about 60 scenes of its own."""

    def __init__(self, commands: Commands, name: str, flags: str = "") -> None:
        rng = random.Random(5)
        self.scenes = [
            {**SCENES[name](rng), "image_filename": f"{name}_{i:03d}.png", "image_index": i} for i in range(60)
        ]
        Path("scenes.json").write_text(json.dumps({"scenes": self.scenes}))
        self.files = f"--scenes scenes.json --metadata {HERE / name}.json --plugin {HERE / name}.py"
        self.templates = HERE / f"{name}_templates.json"
        commands.done(f"generate {self.files} --templates {self.templates} -o q.json {flags}")
        self.questions = json.loads(Path("q.json").read_text())["questions"]
        self.commands = commands

    def of_family(self, number: int) -> list[Record]:
        return [question for question in self.questions if question["question_family_index"] == number]


def values(question: Record) -> dict[str, str]:
    """By function, what a question's program says."""
    return {node["type"]: node["value_inputs"][0] for node in question["program"] if node["value_inputs"]}


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    monkeypatch.chdir(tmp_path)
    return Commands(capsysbinary)


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("flags", ["", "--degeneracy all --redundancy reduce"])
def test_every_answer_is_verified(commands: Commands, name: str, flags: str) -> None:
    """By verify, with the plug-in and the metadata alone."""
    made = Made(commands, name, flags)

    report = json.loads(commands.done(f"verify q.json {made.files} --json").out)

    assert report["checked"] == len(made.questions) > 75
    assert report["mismatched"] == 0


@pytest.mark.parametrize("name", SCENES)
def test_check_has_nothing_to_say(commands: Commands, name: str) -> None:
    made = Made(commands, name)

    checked = commands.done(f"check {made.templates} {made.files}")

    assert checked.out == b"0 errors, 0 warnings in 1 file\n"


@pytest.mark.parametrize(("name", "filters"), [("parts", ("material", "partname")), ("solid", ("side", "partname"))])
def test_a_composite_node_of_a_plug_in_leaves_slots_open(
    commands: Commands, name: str, filters: tuple[str, ...]
) -> None:
    """In some questions it says one attribute, in some another, in some both."""
    made = Made(commands, name)

    said = {tuple(each for each in filters if f"partfilter_{each}" in values(q)) for q in made.of_family(0)}

    assert {filters, *((each,) for each in filters)} <= said


def test_parts_are_those_of_the_record(commands: Commands) -> None:
    """Answers about parts are as found in the scene records by hand."""
    made = Made(commands, "parts")

    for question in made.of_family(0):
        thing = _described(made.scenes[question["image_index"]], values(question))
        (part,) = [
            part
            for name, part in thing["parts"].items()
            if values(question).get("partfilter_partname", name) == name
            and values(question).get("partfilter_material", part["material"]) == part["material"]
        ]
        assert question["answer"] == part["color"]


def test_hidden_parts_are_those_of_the_record(commands: Commands) -> None:
    made = Made(commands, "solid")

    answers = []
    for question in made.of_family(0):
        said, scene = values(question), made.scenes[question["image_index"]]
        if "filter_pose" in said:
            continue
        place = scene["objects"].index(_described(scene, said))
        (hidden,) = [
            ratio
            for name, (ratio,) in scene["occlusion"][str(place)].items()
            if said.get("partfilter_partname", name) == name and name.endswith(said.get("partfilter_side", ""))
        ]
        answers.append(question["answer"])
        assert question["answer"] == (hidden > 0)
    assert {*answers} == {True, False}


def _described(scene: Record, said: dict[str, str]) -> Record:
    """The one object that a question's filters describe."""
    (thing,) = [
        thing
        for thing in scene["objects"]
        if said.get("filter_color", thing["color"]) == thing["color"]
        and said.get("filter_size", thing.get("size")) == thing.get("size")
        and said.get("filter_shape", thing["shape"]) in (thing["shape"], GROUPS[thing["shape"]])
    ]
    return thing


def test_what_may_be_absent_is_asked_for_as_often(commands: Commands) -> None:
    """Whether there is such a part is answered "no" as often as "yes"."""
    answers = [question["answer"] for question in Made(commands, "parts").of_family(2)]

    assert 0.4 < answers.count(False) / len(answers) < 0.6
    assert len(answers) > 40


def test_no_needless_word_is_left_where_they_are_reduced(commands: Commands) -> None:
    """In a plug-in's reference too: an object has one part of a name, so a name says enough."""
    for question in Made(commands, "parts", "--redundancy reduce").of_family(0):
        assert not {"partfilter_partname", "partfilter_material"} <= values(question).keys()


@pytest.mark.parametrize(
    ("side_input", "message"),
    [
        ("weel", "unknown value 'weel'; did you mean 'wheel'?"),
        ("<R>", "partfilter_unique takes no Relation slot"),
        ("<N>", "partfilter_unique describes by Size, Color, Material, Shape, Partname; nothing filters by Integer"),
    ],
)
def test_what_a_plug_ins_composite_node_cannot_say(commands: Commands, side_input: str, message: str) -> None:
    text = (
        (HERE / "parts_templates.json")
        .read_text()
        .replace('"Partname", "name": "<P>"', f'"{TYPES[side_input]}", "name": "<P>"')
    )
    Path("mine.json").write_text(
        text if side_input.startswith("<") else text.replace('["<M2>", "<P>"]', f'["{side_input}", "<P>"]')
    )

    ran = commands(f"check mine.json --metadata {HERE}/parts.json --plugin {HERE}/parts.py")

    assert message in ran.out.decode() + ran.err


def test_a_plug_ins_composite_node_may_say_a_value(commands: Commands) -> None:
    """A literal is always said, as in vqagen's own."""
    text = (HERE / "parts_templates.json").read_text().replace('["<M2>", "<P>"]', '["<M2>", "wheel"]')
    Path("mine.json").write_text(text.replace("<M2> <P> part of", "<M2> wheel of"))
    made = Made(commands, "parts")
    commands.done(f"generate {made.files} --templates mine.json --only color_of_part -o q.json --force")

    said = [values(question) for question in json.loads(Path("q.json").read_text())["questions"]]

    assert {each["partfilter_partname"] for each in said} == {"wheel"}


def asked_of_parts(template: Record, folder: Path, **settings: Any) -> list[vqagen.Question]:
    """Questions of one template about the parts of 20 scenes."""
    rng = random.Random(5)
    (folder / "mine.json").write_text(json.dumps([template]))
    made = vqagen.generate(
        [{**parts_scene(rng), "image_filename": f"{i}.png", "image_index": i} for i in range(20)],
        metadata=HERE / "parts.json",
        templates=folder / "mine.json",
        plugins=[HERE / "parts.py"],
        **settings,
    )
    return list(made)


def test_constraints_hold_for_a_plug_ins_composite_node(tmp_path: Path) -> None:
    """Also where it may lose words that it does not need."""
    template = json.loads((HERE / "parts_templates.json").read_text())[0]
    constraint = {"type": "NOT_NULL", "params": ["<M2>"]}

    made = asked_of_parts({**template, "constraints": [constraint]}, tmp_path, redundancy="reduce")
    said = [{node.function for node in question.program.nodes} for question in made]

    assert len(said) > 5
    assert all("partfilter_material" in each for each in said)
    assert not all("partfilter_partname" in each for each in said)


def test_a_plug_ins_composite_node_fits_something_in_both_scenes_of_a_pair(tmp_path: Path) -> None:
    """Words that are taken over to another scene may fit nothing there, which only a node that says so allows."""
    nodes = "scene, objects2parts 0, partfilter 1 <C2> <P>, part2object 2, count 3"
    template = {"text": ["How many have a <C2> <P>?"], **notation(nodes, {"<C2>": "Color", "<P>": "Partname"})}

    made = asked_of_parts(template, tmp_path, balance="pairs")

    assert len(made) > 5
    assert all(question.answer for question in made)


def test_the_plug_ins_are_short() -> None:
    assert all(len(path.read_text().splitlines()) < 80 for path in PLUGINS)
    assert len(PLUGINS) == len(SCENES)
