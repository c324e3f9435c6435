"""Simulated raters, and studies that they answer without a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from human_stores import open_desk
from study_files import write_caption_files

import vqagen
from vqagen.human.raters import Raters, simulated_facts
from vqagen.human.settings import PlanSettings
from vqagen.human.store.facts import Claimed, Noted, Submitted
from vqagen.human.store.study_state import StudyState
from vqagen.human.study.item import (
    ANSWER,
    CHECK,
    INSTRUCTED,
    RATE,
    Candidate,
    CellForm,
    ChoiceForm,
    GoldValue,
    NumberForm,
    Scale,
    StudyItem,
    TextForm,
    answer_fault,
)
from vqagen.human.study.study import ShownTrial, Study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study of 40 images, two systems and two human captions; 4 raters for each task each."""
    folder = tmp_path_factory.mktemp("planned")
    files = write_caption_files(folder, images=40, systems=("A", "B"))
    settings = PlanSettings(human_human=True, trials_per_task=12, raters_per_item=4)
    made, _ = vqagen.make_caption_tasks(folder / "study", folder / "human.json", files, folder / "images", settings)
    return made


def item(number: int = 0, **given: Any) -> StudyItem:
    texts = (
        Candidate(id="a", text="one", source="human", role="reference"),
        Candidate(id="b", text="two", source="A", role="system"),
    )
    return StudyItem(
        **{"id": f"i{number}", "image": f"im{number % 50}", "candidates": texts, "scale": Scale(), **given}
    )


def trials(count: int, **given: Any) -> Iterator[ShownTrial]:
    return (ShownTrial(number, item(number, **given), number % 2 == 0) for number in range(count))


# Raters -------------------------------------------------------------------------------------------------------------


def test_values_follow_from_seed_and_ids_alone() -> None:
    """Not from what was asked before."""
    asked, raters = list(trials(30)), Raters(1)

    forwards = [raters.answer("r", trial) for trial in asked]
    assert forwards == [Raters(1).answer("r", trial) for trial in reversed(asked)][::-1]
    assert forwards != [Raters(2).answer("r", trial) for trial in asked]
    assert forwards != [raters.answer("s", trial) for trial in asked]


def test_values_are_turned_to_the_side_of_the_second_text() -> None:
    """One text alone has no side."""
    raters = Raters(4, {"A": 3.0})
    for number in range(20):
        left, right = (int(raters.answer("r", ShownTrial(1, item(number), is_right))) for is_right in (False, True))
        assert left == 10 - right
        rated = item(number, kind=RATE, candidates=item().candidates[1:])
        assert int(raters.answer("r", ShownTrial(1, rated, False))) >= 6


def test_raters_pass_checks_and_follow_instructions() -> None:
    raters = Raters(opinions={"A": -3.0})
    for is_second in (False, True):
        for trial in trials(100, use=CHECK, gold=GoldValue(better="b" if is_second else "a")):
            assert (int(raters.answer("r", trial)) > 5) == (trial.second_on_right == is_second)
    assert {raters.answer("r", trial) for trial in trials(20, use=INSTRUCTED, gold=GoldValue(value=7))} == {7}


@pytest.mark.parametrize(
    ("form", "right"),
    [
        (ChoiceForm(options=("yes", "no")), "yes"),
        (NumberForm(least=0, largest=3), 3),
        (TextForm(), "a cube"),
        (CellForm(rows=1, columns=3, area=(0, 0, 1, 1), cells=("a", "", "b")), "b"),
    ],
)
def test_nine_of_ten_answers_to_questions_are_right(form: Any, right: int | str) -> None:
    """The others are allowed ones, as are all where the right one is not known."""
    asked = {"kind": ANSWER, "candidates": (), "scale": None, "form": form}
    raters = Raters()

    said = [raters.answer("r", trial) for trial in trials(300, gold=GoldValue(answer=str(right)), **asked)]
    assert 0.85 < said.count(right) / 300 < 0.95
    said += [raters.answer("r", trial) for trial in trials(20, **asked)]
    assert {answer_fault(item(**asked), each) for each in said} == {""}


# Studies ------------------------------------------------------------------------------------------------------------


def test_raters_take_each_slot_once_and_no_task_twice(study: Study) -> None:
    facts = list(simulated_facts(study, Raters(), 10))

    given = StudyState(enumerate(facts)).assignments.values()
    assert sorted((each.task, each.slot) for each in given) == sorted(
        (task, n) for task in study.tasks for n in range(4)
    )
    assert len({(each.rater, each.task) for each in given}) == len(given)
    assert {each.state for each in given} == {"complete"}


@pytest.fixture
def vqagen_(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Commands:
    """Runs commands in a folder with a study."""
    monkeypatch.chdir(tmp_path)
    Path("study").symlink_to(study.folder)
    return Commands(capsysbinary)


def test_a_study_and_its_export_have_the_same_scores(vqagen_: Commands, study: Study) -> None:
    """With its events, an export has all that scoring needs, such as whose browser is driven by a program."""
    facts = list(simulated_facts(study, Raters(5), 2))
    last = next(fact for fact in facts[::-1] if isinstance(fact, Claimed))
    desk = open_desk("elsewhere.sqlite", study.id)
    desk.commit(*facts[:-1], Noted(9, last.assignment, "webdriver"))
    desk.log.close()
    vqagen_.done("human export study --store elsewhere.sqlite --events --out exported")

    line = "--method humanr,cluster,bt --exclude checks,webdriver --by task --json"
    whole, exported = (
        json.loads(vqagen_.done(f"human score {source} {line}").out)
        for source in ("study --store elsewhere.sqlite", "exported")
    )
    assert whole["info"].pop("study") != exported["info"].pop("study")
    assert whole == exported
    assert whole["answers"] == sum(isinstance(fact, Submitted) for fact in facts) - 1
    flagged = {(row["flag"], row["rater"], row["assignment"]) for row in whole["tables"]["flagged"]["rows"]}
    assert flagged >= {("partial", last.rater, last.assignment), ("webdriver", last.rater, "all")}
