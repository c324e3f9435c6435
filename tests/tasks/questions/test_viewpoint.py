"""Questions from a point of view are right by coordinates alone, and asked only where nothing is close to call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import ROOT, Commands
from depth import fewer
from oracles.naive_viewpoint import STEPS
from oracles.oracle import check_answer

from vqagen.files.locations import shipped
from vqagen.language.domain_files import find_domain

METADATA = json.loads((ROOT / "metadata/clevr.json").read_text("utf-8"))
SCENES = fewer(600, least=60)
MADE = (
    f"scenes sample --count {SCENES} --seed 11 -o scenes.json",
    "generate --scenes scenes.json --templates clevr-viewpoint --seed 4 -o questions.json",
)


def questions_of(path: str) -> list[dict[str, Any]]:
    return list(json.loads(Path(path).read_text("utf-8"))["questions"])


def scenes_of(path: str) -> list[dict[str, Any]]:
    return list(json.loads(Path(path).read_text("utf-8"))["scenes"])


def found(questions: list[dict[str, Any]], scenes: list[dict[str, Any]], metadata: dict[str, Any]) -> list[str]:
    return [
        fault for question in questions for fault in check_answer(question, scenes[question["scene_index"]], metadata)
    ]


def test_no_answer_is_wrong_or_close_to_call(vqagen_: Commands) -> None:
    """All functions are asked for; texts say what programs ask."""
    vqagen_.given(*MADE)
    questions = questions_of("questions.json")

    assert found(questions, scenes_of("scenes.json"), METADATA) == []
    assert {step["type"] for each in questions for step in each["program"]} >= STEPS.keys()
    assert len({(each["template_filename"], each["question_family_index"]) for each in questions}) == 37
    vqagen_.done("verify questions.json --scenes scenes.json --templates clevr-viewpoint")


def test_the_oracle_finds_planted_faults(vqagen_: Commands) -> None:
    """An answer of somebody else, a side mistaken, an object seen from itself, an object moved."""
    vqagen_.given(*MADE)
    scenes, asked = scenes_of("scenes.json"), dict[str, dict[str, Any]]()
    for each in questions_of("questions.json"):
        asked.setdefault(each["program"][-1]["type"], each)
    scene_of = {name: scenes[each["scene_index"]] for name, each in asked.items()}

    def told(name: str, scene: dict[str, Any] | None = None, **planted: Any) -> str:
        (fault,) = check_answer({**asked[name], **planted}, scene or scene_of[name], METADATA)
        return fault

    for name in ("is_related_facing", "is_related_across", "equal_object"):
        right = asked[name]["answer"]
        wrong = {"yes": "no", "no": "yes"}[right]
        assert told(name, answer=wrong) == f"answer is {wrong!r}, should be {right!r}"
    *steps, last = asked["is_related_facing"]["program"]
    mirrored = {"left": "right", "right": "left", "front": "behind", "behind": "front"}[last["value_inputs"][0]]
    assert "should be" in told("is_related_facing", program=[*steps, {**last, "value_inputs": [mirrored]}])
    origin, _, thing = last["inputs"]
    itself = [*steps, {**last, "inputs": [origin, origin, thing]}]
    assert told("is_related_facing", program=itself) == "the program has no answer: the same object twice"
    heap = [{**each, "3d_coords": [0.1 * i, 0.0, 0.0]} for i, each in enumerate(scene_of["equal_object"]["objects"])]
    near = told("equal_object", {**scene_of["equal_object"], "objects": heap})
    assert near == "the program has no answer: two distances within the margin"


def test_margins_are_those_of_the_metadata(vqagen_: Commands) -> None:
    """Wide ones are kept to; without any, questions are asked that are close to call."""
    vqagen_.given(MADE[0])
    scenes = scenes_of("scenes.json")
    wide, none = {"angle": 30, "distance": 1, "ratio": 0.02}, {"angle": 0, "distance": 0, "ratio": 0.49}
    for name, margins in (("wide", wide), ("none", none)):
        Path(f"{name}.json").write_text(json.dumps({**METADATA, "viewpoint": margins}))
        options = f"--metadata {name}.json --templates clevr-viewpoint --count 60 -o {name}-q.json"
        vqagen_.done(f"generate --scenes scenes.json {options}")

    asked = questions_of("wide-q.json")
    assert len(asked) > 300
    assert found(asked, scenes, {**METADATA, "viewpoint": wide}) == []
    assert len(found(questions_of("none-q.json"), scenes, METADATA)) > 50


@pytest.mark.parametrize("workers", [1, 2])
def test_a_scene_without_coordinates_is_told_of_once(vqagen_: Commands, workers: int) -> None:
    """Other templates do without them."""
    vqagen_.given(MADE[0])
    scenes = scenes_of("scenes.json")[:3]
    for scene in scenes:
        for thing in scene["objects"]:
            del thing["3d_coords"]
    Path("bare.json").write_text(json.dumps({"scenes": scenes}))

    ran = vqagen_(f"generate --scenes bare.json --templates clevr-viewpoint --workers {workers} -o none.json")

    assert ran.code == 3
    assert "3d_coords: expected three numbers, from which points of view and distances are computed" in ran.err
    assert ran.err.count("3d_coords") == 1
    assert not Path("none.json").exists()
    vqagen_.done("generate --scenes bare.json -o others.json")


def test_a_viewpoint_at_its_own_target_is_told_of(vqagen_: Commands) -> None:
    """In a program, by `verify`; in a template, by `check`."""
    vqagen_.given(*MADE)
    why = "an object is seen from itself, or compared with itself: the objects of this step must differ"
    question = next(q for q in questions_of("questions.json") if q["program"][-1]["type"] == "is_related_facing")
    question["program"][-1]["inputs"][1] = question["program"][-1]["inputs"][0]
    Path("own.json").write_text(json.dumps({"questions": [question]}))
    templates = json.loads((ROOT / "templates/clevr-viewpoint/facing.json").read_text("utf-8"))
    templates["templates"][0]["nodes"][-1]["inputs"] = [1, 1, 3]
    Path("own-templates.json").write_text(json.dumps(templates))

    ran = vqagen_("verify own.json --scenes scenes.json --templates clevr-viewpoint")
    checked = vqagen_("check own-templates.json --samples 5")

    assert (ran.code, why in ran.out.decode()) == (1, True)
    assert why in checked.out.decode()


def test_the_default_asks_for_no_point_of_view() -> None:
    """The folder is beside that of the default, not in it."""
    texts = [path.read_text("utf-8") for path in (ROOT / "templates/clevr").rglob("*.json")]

    assert find_domain().templates == shipped("templates/clevr")
    assert len(texts) == 9
    assert [name for name in STEPS for text in texts if f'"{name}"' in text] == []
