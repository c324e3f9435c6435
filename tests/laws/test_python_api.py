"""The Python API: what the commands do, as typed calls."""

from __future__ import annotations

import inspect
import json
import pickle
import pydoc
import re
import runpy
import typing
from dataclasses import fields, replace
from itertools import cycle
from pathlib import Path
from typing import Any

import orjson
import pytest
from commands import Commands
from scene_records import SMALL_SCENES, sampled_scenes

import vqagen
from vqagen import api
from vqagen.tasks.settings import setting_of


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    """A file of sampled scenes."""
    path = tmp_path / "scenes.json"
    path.write_text(json.dumps({"scenes": sampled_scenes(4, seed=2)}))
    return path


def test_type_checkers_see_what_every_public_name_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table and the imports beside it are the same names."""
    loaded = {name: getattr(vqagen, name) for name in api.MODULES}
    monkeypatch.setattr(typing, "TYPE_CHECKING", True)
    seen = runpy.run_path(api.__file__)
    names = {name for name in seen if not name.startswith("_")} - {
        "annotations",
        "TYPE_CHECKING",
        "MODULES",
        "RETIRED",
        "SHOWN_SETTINGS",
    }

    assert {name: seen[name] for name in names} == loaded


def test_public_names_stand_in_one_sorted_list() -> None:
    assert list(api.MODULES) == sorted(api.MODULES)
    assert set(api.MODULES) <= set(dir(vqagen))


def test_the_help_of_the_package_fits_two_screens_and_names_what_there_is() -> None:
    """It lists functions by job; each has its own help."""
    lines = pydoc.plain(pydoc.render_doc(vqagen)).splitlines()
    listed = re.findall(
        r"\w+", "".join(line[:58] for line in lines[lines.index("DESCRIPTION") : lines.index("VERSION")])
    )

    assert len(lines) <= 70
    assert {"generate", "write_questions", "verify", "evaluate", "audit", "show_file"} <= {*listed} & {*api.MODULES}


@pytest.mark.parametrize(
    ("call", "settings"),
    [
        (vqagen.generate, vqagen.QuestionSettings),
        (vqagen.dialogs, vqagen.DialogSettings),
        (vqagen.trials, vqagen.DirectorSettings),
    ],
)
def test_help_shows_every_setting_with_its_default_and_what_it_does(call: Any, settings: Any) -> None:
    """Editors too."""
    shown, text = inspect.signature(call).parameters, " ".join(pydoc.render_doc(call).split())

    for field in fields(settings):
        assert (shown[field.name].default, shown[field.name].kind) == (field.default, inspect.Parameter.KEYWORD_ONLY)
        assert f"* {field.name}: {setting_of(field).help}" in text
    assert "settings" not in shown


def test_a_question_its_program_and_its_scene_are_shown_in_words() -> None:
    """As a notebook shows them."""
    (question, *_) = vqagen.generate(sampled_scenes(1, seed=1), seed=7)
    (*_, large) = vqagen.generate(sampled_scenes(2, seed=1, domain="market"), domain="market")

    assert repr(question).startswith(f"Question(question={question.question!r}, answer=")
    assert repr(question.program).startswith("Program(scene(), filter_")
    assert repr(question.scene) == f"Scene(0, {question.scene.describe(question.scene.everything)})"
    assert (large.scene.size, repr(large.scene)[-9:]) == (11, "; 1 more)")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'vqagen' has no attribute 'generat'"):
        vqagen.generat  # noqa: B018


@pytest.mark.parametrize("name", api.RETIRED)
def test_a_name_of_an_older_version_is_an_attribute_error_with_its_successor(name: str) -> None:
    message = f"`vqagen.{name}` was removed in version 2.0: {api.RETIRED[name]}"
    with pytest.raises(AttributeError, match=re.escape(message)):
        getattr(vqagen, name)


def test_generate_makes_what_the_command_writes(scenes: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    flags = "--seed 8 --start-index 1 --count 2 --templates-per-image 3"
    ran = Commands(capsysbinary).done(f"generate --scenes '{scenes}' --out - {flags}")
    questions = vqagen.generate(scenes, seed=8, start_index=1, count=2, templates_per_image=3)
    records = [question.to_record() for question in questions]
    assert json.loads(json.dumps(records)) == json.loads(ran.out)["questions"]
    assert len(records) == 6


def test_what_is_wrong_is_raised_before_the_first_question(scenes: Path) -> None:
    """Not when the questions are asked for."""
    with pytest.raises(vqagen.UsageError, match="scenes not found: nowhere"):
        vqagen.generate("nowhere")
    with pytest.raises(vqagen.UsageError, match="templates not found: nowhere"):
        vqagen.generate(scenes, templates="nowhere")
    with pytest.raises(vqagen.UsageError, match="--count must be at least 0, found -1"):
        vqagen.generate(scenes, count=-1)


def test_an_unknown_setting_gives_the_nearest(scenes: Path) -> None:
    with pytest.raises(vqagen.UsageError) as caught:
        vqagen.generate(scenes, sede=3, templates_per_imag=2)

    assert str(caught.value).splitlines() == [
        "unknown setting 'sede'; did you mean 'seed'?",
        "unknown setting 'templates_per_imag'; did you mean 'templates_per_image'?",
    ]


def test_a_faulty_scene_is_raised_when_it_is_reached(tmp_path: Path) -> None:
    """With every problem as a value, for programs that want to show them their own way."""
    path = tmp_path / "scenes.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in (*SMALL_SCENES, {"objects": [{}]})))
    questions = vqagen.generate(path)

    with pytest.raises(vqagen.BadInput) as caught:
        list(questions)
    assert {problem.path for problem in caught.value.problems} == {"scenes[3].objects[0]"}
    assert {problem.source for problem in caught.value.problems} == {f"{path}:4"}
    assert isinstance(caught.value, vqagen.VqagenError)


def test_a_program_runs_on_any_scene_and_from_any_start() -> None:
    """Started from a set of objects, or on a view in which only they exist."""
    materials = vqagen.load_domain_files()
    scene, other, _ = (vqagen.compile_scene(record, materials.domain, i) for i, record in enumerate(SMALL_SCENES))
    nodes = [
        {"type": "scene", "inputs": []},
        {"type": "filter_color", "inputs": [0], "value_inputs": ["red"]},
        {"type": "count", "inputs": [1]},
    ]
    program = vqagen.Program.from_records(nodes, materials.catalogue)

    assert (program.run(scene), program.run(other)) == (2, 0)
    assert program.run(scene, start=0b110) == 1
    assert program.run(scene.started_from(0b110)) == 1
    assert program.run(scene.seen(0b101)) == 1
    assert program.to_records()[1] == nodes[1]


def test_a_view_mirrors_relations_and_hides_objects() -> None:
    """Another viewer's left is this one's right; what is hidden is nobody's neighbour."""
    domain = vqagen.load_domain_files().domain
    scene = vqagen.compile_scene(SMALL_SCENES[0], domain)
    mirrored = scene.seen(related={"left": scene.related["right"], "right": scene.related["left"]})

    assert list(mirrored.related["left"]) == list(scene.related["right"])
    assert list(mirrored.seen(0b011).related["left"]) == [mask & 0b011 for mask in scene.related["right"]]
    assert mirrored.related["front"] == scene.related["front"]


def test_a_program_without_an_answer_says_so() -> None:
    materials = vqagen.load_domain_files()
    nodes = [{"type": "scene"}, {"type": "unique", "inputs": [0]}, {"type": "query_size", "inputs": [1]}]
    program = vqagen.Program.from_records(nodes, materials.catalogue)

    with pytest.raises(vqagen.Undefined, match="exactly one object"):
        program.run(vqagen.compile_scene(SMALL_SCENES[0], materials.domain))


# Scenes that are given ----------------------------------------------------------------------------------


def test_scenes_may_be_records(scenes: Path) -> None:
    """A list, or an endless stream, of which no more than is asked for is taken; from the middle of a window, too."""
    records = json.loads(scenes.read_text())["scenes"]
    settings = {"start_index": 1, "count": 2, "templates_per_image": 3}
    expected = list(vqagen.generate(scenes, **settings))

    assert list(vqagen.generate(records, **settings)) == expected
    assert list(vqagen.generate(cycle(records), **settings)) == expected


@pytest.mark.parametrize("given", [{"scenes": []}, 5, None])
def test_scenes_that_are_no_records_are_refused(given: Any) -> None:
    with pytest.raises(vqagen.UsageError, match="scenes must be a file, a folder or a list of scene records"):
        vqagen.generate(given)


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        (["objects"], "given scenes: scenes[1]: expected a scene object, found a list of 1"),
        ({"objects": object()}, "given scenes: scenes[1]: not a JSON value: Type is not JSON serializable: object"),
        ({"objects": 5}, "given scenes: scenes[1].objects: expected a list, found 5 [scene 1]"),
    ],
)
def test_a_faulty_record_is_located(record: Any, fault: str) -> None:
    with pytest.raises(vqagen.BadInput) as caught:
        list(vqagen.generate([SMALL_SCENES[0], record]))

    assert str(caught.value).splitlines()[0] == fault


# Questions as their records -----------------------------------------------------------------------------------


def test_a_question_is_the_record_that_its_file_has(scenes: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """By its names, with the answers as text; it numbers itself."""
    ran = Commands(capsysbinary).done(f"generate --scenes '{scenes}' --out - --seed 8")
    written = json.loads(ran.out)["questions"]
    made = list(vqagen.generate(scenes, seed=8))

    assert [json.loads(json.dumps(dict(each))) for each in made] == written
    for name in ("question", "answer", "question_index", "question_type", "image_filename"):
        assert (
            [getattr(each, name) for each in made] == [each[name] for each in made] == [each[name] for each in written]
        )
    assert {"yes", "no"} < {each.answer for each in made}
    assert {type(each.value) for each in made} == {bool, int, str}


def test_questions_of_a_run_without_repeated_texts_are_numbered_as_in_its_file(scenes: Path) -> None:
    """Those that are left out leave no gap."""
    made = list(vqagen.generate([*sampled_scenes(6, seed=2)] * 3, only=["zero_hop.json"], dedupe="all"))

    assert [each.question_index for each in made] == [*range(len(made))]


def test_the_old_name_of_a_text_says_the_new_one(scenes: Path) -> None:
    question = next(vqagen.generate(scenes))

    with pytest.raises(AttributeError, match="the text of a question is `question`, as in its record"):
        question.text  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'txt'"):
        question.txt  # type: ignore[attr-defined]  # noqa: B018


def test_questions_in_memory_are_taken_where_files_and_records_are(scenes: Path, tmp_path: Path) -> None:
    """By verify, evaluate, audit and show_file: an iterator, a list, or their records."""
    made = list(vqagen.generate(scenes, seed=8))
    replies = {each.question_index: each.answer for each in made}
    in_memory = json.loads(scenes.read_text())["scenes"]

    assert vqagen.verify(vqagen.generate(scenes, seed=8), scenes).checked == len(made)
    assert vqagen.verify(made, in_memory).mismatches == []
    assert vqagen.evaluate(made, replies).overall().accuracy == 1
    assert vqagen.audit(made).to_record() == vqagen.audit([each.to_record() for each in made]).to_record()
    assert vqagen.show_file(made, tmp_path / "page", scenes=scenes).entries == len(made)


def test_a_spoiled_question_in_memory_fails(scenes: Path) -> None:
    made = list(vqagen.generate(scenes, seed=8))
    spoiled = [replace(made[0], value="nothing"), *made[1:]]

    assert [each.position for each in vqagen.verify(spoiled, scenes).mismatches] == [0]


@pytest.mark.slow
def test_files_are_written_about_scenes_that_are_given_as_records(scenes: Path, tmp_path: Path) -> None:
    """As about a file of them, one a line, by whose content `info` names them: a killed run can be resumed."""
    records = json.loads(scenes.read_text())["scenes"]
    (tmp_path / "scenes.jsonl").write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in records))
    for write in (vqagen.write_questions, vqagen.write_dialogs):
        write(tmp_path / "scenes.jsonl", tmp_path / "file.json", options=vqagen.RunOptions(force=True))
        write(iter(records), tmp_path / "given.json", options=vqagen.RunOptions(force=True))
        assert write(records, tmp_path / "given.json", options=vqagen.RunOptions(resume=True)).was_complete

        assert (tmp_path / "given.json").read_bytes() == (tmp_path / "file.json").read_bytes()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_datasets_are_made_by_generators(scenes: Path, tmp_path: Path) -> None:
    """`datasets` pickles a generator, what it is called with, and what its modules hold."""
    datasets = pytest.importorskip("datasets")
    found, records = vqagen.find_scenes(scenes), json.loads(scenes.read_text())["scenes"]
    made = [each.answer for each in vqagen.generate(scenes, seed=8)]

    def rows(**options: Any) -> Any:
        return datasets.Dataset.from_generator(**options, cache_dir=str(tmp_path / "cache"))

    for given in (str(scenes), found, tuple(records)):  # of a list `datasets` would make a shard of each element
        assert rows(generator=vqagen.generate, gen_kwargs={"scenes": given, "seed": 8})["answer"][:] == made
    assert rows(generator=lambda: (each.record for each in vqagen.generate(found, seed=8)))["answer"][:] == made
    assert rows(generator=vqagen.dialogs, gen_kwargs={"scenes": found, "dialogs_per_image": 1}).num_rows == 4
    assert rows(generator=vqagen.trials, gen_kwargs={"count": 2}).num_rows == 2


# Questions as pickles ---------------------------------------------------------------------------------


PLUGIN = """
from vqagen.plugin import SLOT, constraint

@constraint("NOT_RED", SLOT)
def not_red(colour):
    "The colour is another than red."
    return colour != "red"
"""


def test_a_question_can_be_pickled(scenes: Path, tmp_path: Path) -> None:
    """Also one of a template that needs a plug-in, which cannot be pickled itself."""
    (tmp_path / "not_red.py").write_text(PLUGIN)
    template = {
        "text": ["How many <C> things are there?"],
        "params": [{"type": "Color", "name": "<C>"}],
        "nodes": [{"type": "scene"}, {"type": "filter_count", "inputs": [0], "side_inputs": ["<C>"]}],
        "constraints": [{"type": "NOT_RED", "params": ["<C>"]}],
    }
    (tmp_path / "few.json").write_text(json.dumps([template]))
    questions = list(vqagen.generate(scenes, templates=tmp_path / "few.json", plugins=tmp_path / "not_red.py"))

    assert questions
    again = pickle.loads(pickle.dumps(questions))
    assert [each.to_record(reasoning="text") for each in again] == [
        each.to_record(reasoning="text") for each in questions
    ]
    assert [each.program.run(each.scene) for each in again] == [each.value for each in questions]
    assert again[0].template.constraints[0].holds("red") is False


def test_a_pickle_is_not_read_with_another_plugin_than_it_was_written_with(scenes: Path, tmp_path: Path) -> None:
    path = tmp_path / "not_red.py"
    path.write_text(PLUGIN)
    pickled = pickle.dumps(next(vqagen.generate(scenes, plugins=str(path))))
    path.write_text(PLUGIN.replace("red", "blue"))

    with pytest.raises(vqagen.VqagenError, match="was changed; what was pickled cannot be loaded"):
        pickle.loads(pickled)


# Programs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nodes", "faults"),
    [
        ((), ["nodes: expected a list of program nodes, found a list of 0"]),
        (5, ["nodes: expected a list of program nodes, found 5"]),
        ([()], ["nodes[0]: expected a program node, found []"]),
        ([("scene",), ("unique", 0)], ["nodes[1].inputs: expected a list, found 0"]),
        (
            [("scene",), ("query_color", (0,))],
            ["nodes[1].inputs[0]: query_color takes Object, but node 0 gives ObjectSet"],
        ),
        (
            [("scen",), ("filter_color", (0,), ("rde",)), ("count", (7,))],
            [
                "nodes[0].type: unknown function 'scen'; did you mean 'scene'?",
                "nodes[1].value_inputs[0]: unknown Color 'rde'; did you mean 'red'?",
                "nodes[2].inputs[0]: input 7 is not an earlier node; this is node 2, counted from 0",
            ],
        ),
    ],
)
def test_a_program_made_by_hand_is_checked(nodes: Any, faults: list[str]) -> None:
    """Before it is run, with every fault."""
    with pytest.raises(vqagen.BadInput) as caught:
        vqagen.Program(nodes, vqagen.load_domain_files().catalogue)

    assert str(caught.value).splitlines() == [f"program: {fault}" for fault in faults]
