"""Rehearsals of studies: simulated raters on a real server, whose store is compared with what it acknowledged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from commands import Commands
from study_files import make_study, write_caption_files

from vqagen import api
from vqagen.errors import VqagenError
from vqagen.human.answers import AnswerRow
from vqagen.human.links.secret import load_secret
from vqagen.human.simulation import served_copy
from vqagen.human.simulation.raters import Raters, RaterSettings
from vqagen.human.simulation.rehearsal import acknowledged_rows, stored_rows, visit_all
from vqagen.human.simulation.served_copy import copy_study, serving
from vqagen.human.simulation.through_browser import browser_problem
from vqagen.human.simulation.through_http import visit_by_http
from vqagen.human.simulation.visit import COMPLETED, LEFT, OUTCOMES, REFUSED, WITHDREW, Guests, RehearsalSettings, Visit
from vqagen.human.study.settings import PlanSettings
from vqagen.human.study.study import Study
from vqagen.judge.report.table import Report

PLANTED = ("A=-0.4", "B=0.3")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study of two systems, whose texts are filled in: 9 tasks of 8 trials, each for 3 raters."""
    folder = tmp_path_factory.mktemp("study")
    return make_study(folder, images=27, systems=("A", "B"), trials_per_task=8, imc_per_task=1)


@pytest.fixture
def vqagen_(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Commands:
    """Runs commands in a folder with a study."""
    monkeypatch.chdir(tmp_path)
    Path("study").symlink_to(study.folder)
    return Commands(capsysbinary)


def guests_of(study: Study, url: str, drop_out: float = 0.0) -> Guests:
    raters = Raters(RaterSettings())
    return Guests(study, load_secret(study.folder), url, raters, RehearsalSettings(drop_out, at_once=8), seed=0)


def test_a_rehearsal_finds_the_planted_scores(vqagen_: Commands, study: Study) -> None:
    """Its copy of the study has all answers; the study itself gets none."""
    line = f"human simulate study --raters 9 --via http --effect {PLANTED[0]} --effect {PLANTED[1]} --out kept --json"
    found = json.loads(vqagen_.done(line).out)

    slots = 3 * len(study.tasks)
    trials = 3 * sum(len(task.trials) for task in study.tasks.values())
    assert (found["visits"], found["faults"]) == ({"complete": slots}, [])
    assert (found["acknowledged"], found["stored"]) == (trials, trials)
    systems = {row["comparison"]: row for row in found["tables"]["systems"]["rows"]}
    assert {name: row["true"] for name, row in systems.items()} == {"A": -0.4, "B": 0.3}
    assert all(abs(row["errors"]) < 2 for row in systems.values())
    assert not list(study.folder.glob("answers*"))
    scored = json.loads(vqagen_.done("human score kept --json").out)
    assert scored["answers"] == trials


@pytest.mark.slow
def test_a_hundred_raters_find_the_planted_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Spec 6.1.18: within two standard errors."""
    make_study(tmp_path, images=100, systems=("A", "B"), trials_per_task=10, raters_per_item=5)
    monkeypatch.chdir(tmp_path)
    line = f"human simulate study --raters 100 --via http --effect {PLANTED[0]} --effect {PLANTED[1]} --json"
    found = json.loads(Commands(capsysbinary).done(line).out)

    rows = found["tables"]["systems"]["rows"]
    assert len(rows) == 2
    assert all(abs(row["errors"]) < 2 for row in rows)


class Visited(NamedTuple):
    """What happened at one server that ran all the time."""

    served: Study
    early: tuple[Visit, ...]
    """Visits of raters half of whom leave."""
    early_rows: tuple[AnswerRow, ...]
    early_faults: tuple[str, ...]
    again: tuple[Visit, ...]
    """Second visits of the same raters, none of whom leaves."""
    third: Report
    """Visits by its address."""
    refused: str
    """What is said where the study is another one."""


@pytest.fixture(scope="module")
def visited(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Visited:
    """A server that raters visit three times, and once with the links of another study."""
    served = copy_study(study, tmp_path_factory.mktemp("copy"))
    with serving(served.folder) as url:
        early, _ = visit_all(guests_of(served, url, drop_out=0.5), 9, visit_by_http)
        rows, faults = stored_rows(served, early)
        again, _ = visit_all(guests_of(served, url), 9, visit_by_http)
        third = api.rehearse_study(served.folder, 9, url=url)
        with pytest.raises(VqagenError) as refused:
            api.rehearse_study(study.folder, 1, url=url)
    return Visited(served, early, rows, faults, again, third, str(refused.value))


def test_raters_who_leave_or_withdraw_are_rehearsed_too(visited: Visited) -> None:
    """Answers of those who leave stay; answers of those who withdraw are deleted; nothing else differs."""
    assert {visit.outcome for visit in visited.early} == {COMPLETED, LEFT, WITHDREW}
    assert visited.early_faults == ()
    assert all(visit.faults == () for visit in visited.early)
    of_outcome = {each: {visit.assignment for visit in visited.early if visit.outcome == each} for each in OUTCOMES}
    assert {row.assignment for row in visited.early_rows if row.state == "claimed"} <= of_outcome[LEFT]
    assert not of_outcome[WITHDREW] & {row.assignment for row in visited.early_rows}


def test_raters_who_left_resume_at_their_next_trial(visited: Visited) -> None:
    """All others get no place, those who withdrew included."""
    before = {(visit.rater, visit.task): visit for visit in visited.early}
    for visit in visited.again:
        first = before[visit.rater, visit.task]
        if first.outcome == LEFT:
            numbers = [answer.trial for answer in (*first.answers, *visit.answers)]
            assert (visit.outcome, visit.assignment) == (COMPLETED, first.assignment)
            assert numbers == list(range(1, len(visited.served.tasks[visit.task].trials) + 1))
        else:
            assert visit.outcome == REFUSED


def test_visits_to_a_server_that_runs_count_its_refusals(visited: Visited) -> None:
    assert visited.third.facts["visits"] == {REFUSED: len(visited.early)}
    assert visited.third.facts["stored"] == 0
    assert visited.third.failures == []


def test_a_server_of_another_study_is_named(visited: Visited) -> None:
    """Its secret is another one, so it refuses the links."""
    assert "does it serve this study, with the same secret?" in visited.refused


def test_acknowledged_answers_make_the_rows_of_the_store(visited: Visited) -> None:
    """Apart from names of raters, states, and times."""
    found = acknowledged_rows(visited.served, visited.early)
    assert [compared(row) for row in sorted(found, key=lambda row: (row.assignment, row.trial))] == [
        compared(row) for row in visited.early_rows
    ]


def compared(row: AnswerRow) -> AnswerRow:
    return replace(row, rater="", stored=0)


def test_a_store_that_loses_or_changes_an_answer_is_noticed(visited: Visited) -> None:
    chosen = next(visit for visit in visited.early if visit.outcome == COMPLETED)
    others = [visit for visit in (*visited.early, *visited.again) if visit is not chosen]
    given, gone, *more = chosen.answers
    changed, lost = replace(given, value=given.value % 9 + 1), replace(gone, trial=99)

    _, faults = stored_rows(visited.served, [replace(chosen, answers=(changed, lost, *more)), *others])
    assert set(faults) == {
        f"the answer to trial {given.trial} of {chosen.assignment} is stored as {given.value}, not {changed.value}",
        f"the answer to trial {gone.trial} of {chosen.assignment} is stored, though nobody gave it or its rater has"
        " withdrawn",
        f"the answer to trial 99 of {chosen.assignment} was acknowledged and is lost",
    }


def test_a_server_may_warn_before_it_is_ready() -> None:
    """As of a network file system; the rehearsal waited for the end of a server that had begun to serve."""
    lines = [
        b"vqagen: warning: study lies on a network file system\n",
        b"vqagen: serving study at http://[::1]:80; x\n",
    ]

    assert served_copy._address(lines) == "http://[::1]:80"
    with pytest.raises(VqagenError, match="did not start: vqagen: warning"):
        served_copy._address(lines[:1])


def test_texts_that_are_not_filled_in_yet_can_be_rehearsed(tmp_path: Path) -> None:
    """The copy has the names of placeholders in their place; the study stays as it is."""
    files = write_caption_files(tmp_path, images=8)
    settings = PlanSettings(trials_per_task=5)
    made, _ = api.make_caption_tasks(tmp_path / "study", tmp_path / "human.json", files, tmp_path / "images", settings)
    copied = copy_study(made, tmp_path / "copy")

    assert made.texts.placeholders()
    assert not copied.texts.placeholders()
    assert copied.id == made.id


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--drop-out 0.5", "--drop-out has no effect with --via data; leave it out"),
        ("--url http://localhost", "--url has no effect with --via data"),
        ("--via http --replications 3", "--replications has no effect with --via http"),
        ("--via http --drop-out 2", "--drop-out must lie between 0 and 1, found 2.0"),
        ("--via http --url localhost:8087", "--url must be an address such as http://127.0.0.1:8087"),
        ("--via http --out study", "output folder study holds files already; name a new folder"),
        ("--via http --out nowhere/out", "does not exist; create it first"),
        ("--via http --effect C=0.1", "--effect: unknown system 'C'; known: A, B"),
    ],
)
def test_rehearsals_that_cannot_be_made_say_why(vqagen_: Commands, line: str, message: str) -> None:
    ran = vqagen_(f"human simulate study --raters 3 {line}")

    assert (ran.code, ran.out) == (2, b"")
    assert message in ran.err


@pytest.mark.slow
def test_raters_in_a_browser_leave_and_complete(tmp_path: Path) -> None:
    """All that the page was told to be stored is stored."""
    if browser_problem():
        pytest.skip(browser_problem())
    study = make_study(tmp_path / "small", images=12, trials_per_task=5, raters_per_item=2, imc_per_task=1)
    report = api.rehearse_study(study.folder, 2, None, RehearsalSettings(drop_out=0.3), via="browser")

    assert report.failures == []
    assert report.facts["visits"].keys() >= {COMPLETED}
    assert sum(report.facts["visits"].values()) == 2 * len(study.tasks)
