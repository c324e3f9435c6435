"""Items for raters from questions and dialogs, and the proofs that wrong texts of checks are wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from depth import fewer
from proofs import read_proof
from study_files import picture

from vqagen import api
from vqagen.calls.human_items import make_items
from vqagen.human.items.settings import FAMILIES, ItemSettings
from vqagen.human.items.slots import words_of
from vqagen.human.study.item import CHECK, REAL, REFERENCE, SYSTEM, Item

SCENES = 20
ZERO_HOP = Path(__file__).parents[1] / "templates" / "clevr" / "zero_hop.json"
EVERY = {"per_image": 5}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 20 scenes, questions about them, and dialogs of two systems."""
    folder = tmp_path_factory.mktemp("made")
    scenes = folder / "scenes.json"
    api.write_scenes(scenes, api.SamplingSettings(count=SCENES, seed=3))
    api.write_questions(scenes, folder / "questions.json")
    for seed, name in enumerate(("people", "ours", "theirs")):
        settings = api.DialogSettings(seed=seed, rounds=1)
        api.write_dialogs(scenes, folder / f"{name}.json", settings=settings)
    return folder


@pytest.fixture(scope="module")
def records(made: Path) -> dict[str, list[dict[str, Any]]]:
    """The objects of each scene by the name of its picture."""
    scenes = json.loads((made / "scenes.json").read_text())["scenes"]
    return {scene["image_filename"]: scene["objects"] for scene in scenes}


def of_questions(made: Path, **settings: Any) -> list[Item]:
    return make_items(made / "scenes.json", made / "questions.json", settings=ItemSettings(**EVERY | settings))


def of_captions(made: Path, **settings: Any) -> list[Item]:
    systems = {"ours": made / "ours.json", "theirs": made / "theirs.json"}
    return make_items(made / "scenes.json", made / "people.json", systems, ItemSettings(**EVERY | settings))


# Checks -------------------------------------------------------------------------------------------------------------


def counted(steps: Sequence[Sequence[str]], objects: Sequence[Mapping[str, Any]], scene: Mapping[str, Any]) -> int:
    """Count the objects that steps leave, by plain loops over the scene's record; relations are its own lists."""
    left = list(range(len(objects)))
    for name, *values in steps[1:-1]:
        if name.startswith("filter_"):
            left = [number for number in left if objects[number][name.removeprefix("filter_")] == values[0]]
        elif name == "unique":
            assert len(left) == 1
        elif name == "relate":
            left = scene["relationships"][values[0]][left[0]]
        else:
            attribute = name.removeprefix("same_")
            (only,) = left
            left = [n for n, each in enumerate(objects) if n != only and each[attribute] == objects[only][attribute]]
    assert (steps[0], steps[-1]) == (["scene"], ["count"])
    return len(left)


def test_wrong_texts_of_checks_are_untrue_of_their_scenes(made: Path, records: Any) -> None:
    """Plain loops run the proof again: no object is left of what the text takes for granted."""
    scenes = {each["image_filename"]: each for each in json.loads((made / "scenes.json").read_text())["scenes"]}
    checked = 0
    for seed in range(fewer(4, 2)):
        for items in (of_questions, of_captions):
            for item in items(made, seed=seed, per_image=0):
                assert item.use == CHECK and item.gold is not None
                found = re.fullmatch(r"program (\[.*\]) gives 0", item.gold.reason)
                assert found, item.gold.reason
                assert counted(json.loads(found[1]), records[item.image], scenes[item.image]) == 0
                checked += 1
    assert checked > 2 * SCENES


def test_a_changed_proof_does_not_hold(made: Path) -> None:
    domain = api.load_domain_files()
    scenes = {scene.image: scene for scene in api.load_scenes(str(made / "scenes.json"), domain.domain)}
    for item in of_captions(made, per_image=0):
        assert item.gold is not None
        proof = read_proof(item.gold.reason)
        assert proof is not None
        assert proof.holds(scenes[item.image], domain.catalogue)
        assert not proof._replace(result=1).holds(scenes[item.image], domain.catalogue)
        assert not proof._replace(steps=proof.steps[:1] + proof.steps[-1:]).holds(scenes[item.image], domain.catalogue)


# Comparisons --------------------------------------------------------------------------------------------------------


def test_wordings_are_two_texts_of_one_program(made: Path) -> None:
    """Both candidates have the same program and template, and different texts; sources name template and text."""
    items = [item for item in of_questions(made) if item.use == REAL]

    assert len(items) > 3 * SCENES
    for item in items:
        first, second = item.candidates
        assert first.meta == second.meta
        assert first.text != second.text
        assert {first.role, second.role} == {SYSTEM}
        assert first.source.split(" text ")[0] == second.source.split(" text ")[0] == item.strata["template"]


def test_words_of_slots_are_read_back_from_programs() -> None:
    """Of every question of every family, as the search filled it."""
    domain = api.load_domain_files()
    scenes = list(api.sample_scenes(count=8, seed=5))
    families = set()
    for question in api.generate(scenes):
        assert words_of(question.template, question.program) == dict(question.words), question.template.id
        families.add(question.template.id)
    assert len(families) > len(domain.templates) / 2


def test_families_have_one_type_of_answer(made: Path) -> None:
    domain = api.load_domain_files()
    templates = {each.id: each for each in domain.templates}
    items = [item for item in of_questions(made, compare=FAMILIES) if item.use == REAL]

    assert len(items) > SCENES
    for item in items:
        first, second = (templates[each.source] for each in item.candidates)
        assert first.id < second.id
        assert first.answer_type == second.answer_type


def test_captions_of_systems_are_compared_with_a_reference(made: Path) -> None:
    items = [item for item in of_captions(made, per_image=1) if item.use == REAL]

    assert len(items) == 2 * SCENES
    assert {tuple((each.source, each.role) for each in item.candidates) for item in items} == {
        (("reference", REFERENCE), ("ours", SYSTEM)),
        (("reference", REFERENCE), ("theirs", SYSTEM)),
    }
    assert all(item.candidates[0].text != item.candidates[1].text for item in items)


# The command --------------------------------------------------------------------------------------------------------


@pytest.fixture
def vqagen_(made: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in the folder with questions and dialogs."""
    monkeypatch.chdir(made)
    return Commands(capsysbinary)


def test_items_are_planned_with_their_proven_checks(vqagen_: Commands, tmp_path: Path, records: Any) -> None:
    """The same seed gives the same bytes; no check is made by make-tasks itself."""
    line = "human items people.json --system ours=ours.json --scenes scenes.json"
    for name in ("one.jsonl", "two.jsonl"):
        vqagen_.done(f"{line} --out {tmp_path / name}")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()

    images = tmp_path / "images"
    images.mkdir()
    for number, name in enumerate(records):
        (images / name).write_bytes(picture(number))
    study = tmp_path / "study"
    vqagen_.done(
        f"human make-tasks --items {tmp_path / 'one.jsonl'} --images {images} --out {study} --trials-per-task 4"
    )
    planned = api.load_study(study)
    checks = [item for item in planned.items.values() if item.use == CHECK]
    assert checks
    assert all(item.gold is not None and read_proof(item.gold.reason) for item in checks)


REFUSED = [
    ("", 2, "nothing to compare: name a file of questions or dialogs, or two systems with dialogs"),
    ("people.json", 2, "nothing to compare with people.json: name a system with dialogs"),
    ("questions.json --system a=ours.json", 2, "systems are files of dialogs, and so is the file beside them"),
    ("people.json --system reference=ours.json", 2, "a system cannot be called 'reference'"),
    ("nowhere.json", 3, "nowhere.json"),
    (f"questions.json --templates {ZERO_HOP}", 3, "in one_hop.json; name the templates that it was made with"),
    ("questions.json --per-image -1", 2, "--per-image"),
    ("people.json --system ours", 2, "--system 'ours' is not of the form NAME=FILE"),
]


def test_items_that_cannot_be_made_say_why(vqagen_: Commands, tmp_path: Path) -> None:
    wrong = []
    for line, code, message in REFUSED:
        ran = vqagen_(f"human items {line} --scenes scenes.json --out {tmp_path / 'items.jsonl'}")
        if ran.code != code or message not in ran.err:
            wrong.append((line, ran))

    assert wrong == []
    assert not (tmp_path / "items.jsonl").exists()
