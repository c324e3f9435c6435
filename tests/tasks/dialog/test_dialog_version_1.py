"""Dialogs that version 1.0 made are still proved, counted, audited and merged; `made_by_1_0` holds some."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from dialog_domains import compiled, dialog_domain

from vqagen.tasks.dialog.verification import DialogVerification

FOLDER = Path(__file__).parents[2] / "data" / "made_by_1_0"
READ = ("dialogs", "legacy", "clevr_dialog")
"""Files that can be read: with the usual settings, with `--semantics legacy`, and in CLEVR-Dialog's format."""


@pytest.mark.parametrize("name", READ)
def test_a_file_of_version_1_is_verified(vqagen_: Commands, name: str) -> None:
    """Some of its dialogs list facts that only follow, and some of its captions are true of several pairs."""
    ran = vqagen_(f"verify {FOLDER / name}.json --scenes {FOLDER / 'scenes.json'} --json")
    report = json.loads(ran.out)

    assert (ran.code, report["by_problem"]) == (0, {}), ran.err
    assert "semantics" not in ran.err


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("command", ["stats", "audit"])
def test_a_file_of_version_1_is_measured(vqagen_: Commands, command: str, name: str) -> None:
    assert vqagen_(f"{command} {FOLDER / name}.json --json").code in (0, 1)


@pytest.mark.parametrize("name", [*READ, "visdial"])
def test_a_file_of_version_1_is_merged_as_it_is(vqagen_: Commands, name: str) -> None:
    """As a shard of its own."""
    vqagen_.done(f"merge {FOLDER / name}.json --out merged.json")

    assert Path("merged.json").read_bytes() == (FOLDER / f"{name}.json").read_bytes()


# What is no dialog of version 1 ---------------------------------------------------------------------------------------


def document(name: str) -> dict[str, Any]:
    """A file of version 1."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_bytes())
    return found


def faults(name: str, dialog: dict[str, Any]) -> dict[str, int]:
    """What is wrong with a dialog, by the settings of a file."""
    (scene,) = json.loads((FOLDER / "scenes.json").read_bytes())["scenes"]
    verification = DialogVerification(dialog_domain(), document(name)["info"]["generator"]["settings"])
    verification.take(dialog, 0, compiled(scene))
    return dict(verification.report.by_problem)


def test_a_fact_of_version_1_that_is_false_or_missing_is_found() -> None:
    """Those that follow from what was told are true of the scene."""
    dialog = document("dialogs")["dialogs"][0]
    more, fewer, shapeless = deepcopy(dialog), deepcopy(dialog), deepcopy(dialog)
    more["rounds"][2]["knowledge_delta"].append({"fact": "scene-count", "count": 99})
    told = [at for at, each in enumerate(dialog["rounds"]) if each["knowledge_delta"]]
    fewer["rounds"][told[-1]]["knowledge_delta"] = []
    shapeless["rounds"][2]["knowledge_delta"] = None

    assert faults("dialogs", dialog) == {}
    assert [faults("dialogs", each) for each in (more, fewer, shapeless)] == [{"annotation": 1}] * 3


MALFORMED = (None, 7, [], {}, {"focus": 99}, {"focus": [1], "group": 3}, {"focus": 1.0, "descriptor": {"color": []}})


def spoilt(dialog: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A dialog whose programs are no programs."""
    for args in MALFORMED:
        found = deepcopy(dialog)
        for each in (found["caption"], *found["rounds"]):
            each["program"]["args"] = args
        yield found
    found = deepcopy(dialog)
    for each in (found["caption"], *found["rounds"]):
        each["program"] = "no program"
    yield found


@pytest.mark.slow
def test_programs_of_looser_rules_that_name_nothing_are_no_proof() -> None:
    """References are then read by the strict rules, or not at all; nothing breaks."""
    for dialog in document("legacy")["dialogs"]:
        assert all(set(faults("legacy", each)) <= {"wrong"} for each in spoilt(dialog))


@pytest.mark.slow
def test_a_wrong_answer_of_looser_rules_is_found() -> None:
    """What is asked is taken from the program; the answer is the scene's."""
    for dialog in document("legacy")["dialogs"]:
        for each in dialog["rounds"]:
            spoilt_one = deepcopy(dialog)
            asked = spoilt_one["rounds"][dialog["rounds"].index(each)]
            asked["answer"] = {"yes": "no", "no": "yes"}.get(asked["answer"], "77")
            assert faults("legacy", spoilt_one).get("wrong"), each["question"]
