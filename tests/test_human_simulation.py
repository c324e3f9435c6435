"""Simulated raters, studies that they answer without a server, and the power that follows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from commands import Commands
from human_stores import claimed, one, submit
from proofs import read_proof
from study_files import picture, write_caption_files
from vqagen.human.store.store import Assignment, Complete, Log

from vqagen import api
from vqagen.calls import human_scoring
from vqagen.calls.human_demo import demonstrate
from vqagen.human.simulation.power import study_power
from vqagen.human.simulation.raters import Raters, RaterSettings, expected_score, opinion_for
from vqagen.human.simulation.through_data import AssignedWork, assigned_work, simulated_rows
from vqagen.human.store.opening import open_store
from vqagen.human.study.item import (
    CHECK,
    COMPARE,
    INSTRUCTED,
    RATE,
    REAL,
    REFERENCE,
    SYSTEM,
    Candidate,
    Gold,
    Item,
    Scale,
)
from vqagen.human.study.settings import PlanSettings
from vqagen.human.study.study import Study
from vqagen.human.study.trial import Trial


def code_of(message: str) -> int:
    """Return the exit code of a message: 3 for a place that is not there, else 2."""
    return 3 if "not found" in message or "does not exist" in message else 2


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study of 40 images, two systems and two human captions; 4 raters for each task each."""
    folder = tmp_path_factory.mktemp("planned")
    files = write_caption_files(folder, images=40, systems=("A", "B"))
    settings = PlanSettings(human_human=True, trials_per_task=12, raters_per_item=4)
    made, _ = api.make_caption_tasks(folder / "study", folder / "human.json", files, folder / "images", settings)
    return made


def item(use: str = REAL, number: int = 0, gold: Gold | None = None) -> Item:
    first, second = Candidate("a", "one", "human", REFERENCE), Candidate("b", "two", "A", SYSTEM)
    return Item(f"i{number}", COMPARE, use, "fit", "?", Scale(), f"im{number % 50}", (first, second), gold)


def trials(count: int, use: str = REAL, gold: Gold | None = None) -> Iterator[Trial]:
    return (Trial(number, item(use, number, gold), number % 2 == 0) for number in range(count))


# Raters -------------------------------------------------------------------------------------------------------------


def test_values_follow_from_seed_and_ids_alone() -> None:
    """Not from what was asked before."""
    asked = list(trials(30))
    forwards, backwards = Raters(RaterSettings(), 1), Raters(RaterSettings(), 1)

    one = [forwards.value("r", trial) for trial in asked]
    other = [backwards.value("r", trial) for trial in reversed(asked)][::-1]
    assert one == other
    assert one != [Raters(RaterSettings(), 2).value("r", trial) for trial in asked]
    assert one != [forwards.value("s", trial) for trial in asked]


def test_expected_scores_are_those_that_were_asked_for() -> None:
    """The scale cuts opinions off: a mean opinion of -0.5 would give a score of -0.44."""
    for score in (-0.9, -0.4, 0.0, 0.5):
        for deviation in (0.0, 0.3, 0.6, 1.2):
            found = expected_score(opinion_for(score, deviation, Scale()), deviation, Scale())
            assert found == pytest.approx(score, abs=1e-6 if deviation else 0.125)
    assert expected_score(-0.5, 0.5937, Scale()) == pytest.approx(-0.436, abs=0.002)


def test_values_are_turned_to_the_side_of_the_second_text() -> None:
    raters = Raters(RaterSettings(), 4)
    for number in range(20):
        left, right = (Trial(1, item(number=number), is_right) for is_right in (False, True))
        assert raters.value("r", left) == 10 - raters.value("r", right)


def test_raters_pass_checks_and_follow_instructions() -> None:
    raters = Raters(RaterSettings(noise=2.0, rater_sd=1.0))
    for is_second in (False, True):
        for trial in trials(100, CHECK, Gold(better="b" if is_second else "a")):
            value = raters.value("r", trial)
            assert (value > 5) == (trial.second_on_right == is_second)
    assert {raters.value("r", trial) for trial in trials(20, INSTRUCTED, Gold(value=7))} == {7}


# Studies ------------------------------------------------------------------------------------------------------------


def test_raters_take_each_slot_once_and_no_task_twice(study: Study) -> None:
    work = assigned_work(study, 10)

    slots = [(each.assignment.task, each.assignment.slot) for each in work]
    assert sorted(slots) == sorted((task, slot) for task in study.tasks for slot in range(4))
    done = [(each.assignment.rater, each.assignment.task) for each in work]
    assert len(done) == len(set(done))


def test_power_grows_with_the_effect(study: Study) -> None:
    """The scores are on average those that were planned."""
    found = study_power(study, 24, RaterSettings(("A=-0.4",)), replications=20)

    power = {each.name: each for each in found.systems}
    assert (power["A"].true, power["B"].true, found.slots, found.taken) == (-0.4, 0.0, 44, 44)
    assert (power["A"].mean, power["B"].mean) == pytest.approx((-0.4, 0.0), abs=0.05)
    assert power["A"].found > 0.9
    assert power["B"].found < 0.3
    (pair,) = found.differences
    assert (pair.name, pair.true) == ("A - B", -0.4)


# The command --------------------------------------------------------------------------------------------------------


@pytest.fixture
def vqagen_(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Commands:
    """Runs commands in a folder with a study."""
    monkeypatch.chdir(tmp_path)
    Path("study").symlink_to(study.folder)
    return Commands(capsysbinary)


def test_power_is_printed_the_same_each_time(vqagen_: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(human_scoring, "study_power", partial(study_power, replications=3))
    line = "human simulate study --raters 8 --effect A=-0.5"
    first, second = vqagen_.done(f"{line} --json"), vqagen_.done(f"{line} -o power.json")

    assert first.out == Path("power.json").read_bytes() and second.out == b""
    assert [row["comparison"] for row in json.loads(first.out)["tables"]["systems"]["rows"]] == ["A", "B", "human"]


REFUSED = [
    ("study --raters 3 --effect C=0.1", "--effect: unknown system 'C'; known: A, B"),
    ("study --raters 3 --effect A", "--effect 'A' is not of the form NAME=SCORE"),
    ("study --raters 3 --effect A=2", "--effect A=2: a score lies between -1 and 1"),
    ("study --raters 0", "must be at least 1"),
    ("nowhere --raters 1", "nowhere does not exist"),
]


def test_simulations_that_cannot_be_made_say_why(vqagen_: Commands) -> None:
    ran = {message: vqagen_(f"human simulate {line}") for line, message in REFUSED}

    assert [
        (message, each) for message, each in ran.items() if each.code != code_of(message) or message not in each.err
    ] == []


# Studies with a store -----------------------------------------------------------------------------------------------


def fill_store(study: Study, raters: Raters, place: Path) -> list[Assignment]:
    """Let two raters do the first task through a store; the second browser is driven by a program."""
    store, found = open_store(place, study.id, create=True), []
    task = next(iter(study.tasks))
    for name in ("r1", "r2"):
        assignment = claimed(store, name, task, slots=study.slots)
        for trial in study.trials(task, assignment.slot):
            one(store, submit(assignment.id, trial.number, raters.value(name, trial)))
        found.append(assignment)
    one(store, Complete(found[0].id, len(study.tasks[task].trials), 9))
    one(store, Log(found[1].id, "webdriver", "", 9))
    store.close()
    return found


def test_a_study_is_scored_from_its_store(vqagen_: Commands, study: Study) -> None:
    """Without an export, also while it is served; events say whose browser is driven by a program."""
    first, second = fill_store(study, Raters(RaterSettings(), 3), Path("elsewhere.sqlite"))

    found = json.loads(vqagen_.done("human score study --store elsewhere.sqlite --json").out)
    assert found["answers"] == 2 * len(next(iter(study.tasks.values())).trials)
    flagged = [(row["flag"], row["rater"], row["assignment"]) for row in found["tables"]["flagged"]["rows"]]
    assert ("partial", "r2", second.id) in flagged
    assert ("webdriver", "r2", "all") in flagged
    assert ("partial", "r1", first.id) not in flagged


UNREADABLE = [
    ("score study --store nowhere.sqlite", 3, "no answers at nowhere.sqlite"),
    ("status study --store nowhere.sqlite", 3, "no answers at nowhere.sqlite"),
    ("score answers --store redis://me:secret@host/0", 2, "answers is no study, whose answers could be in a store"),
]


def test_stores_that_cannot_be_read_are_named(vqagen_: Commands) -> None:
    """Every command says the same of a store that does not exist."""
    for line, code, message in UNREADABLE:
        ran = vqagen_(f"human {line}")
        assert (ran.code, message in ran.err, "secret" in ran.err) == (code, True, False)


def test_a_rated_text_has_no_side(study: Study) -> None:
    """Its value is not turned, in whichever slot it is."""
    rated = replace(item(), kind=RATE, candidates=item().candidates[1:])
    raters = Raters(RaterSettings(("A=0.9",), noise=0.1, rater_sd=0, image_sd=0))
    work = [AssignedWork(Assignment("a", "t", 1, "r", "complete", "", 0, 0, 0), (Trial(1, rated, False),))]

    (row,) = simulated_rows(work, raters)
    assert row.value == row.toward_second >= 7


def test_a_study_and_its_export_have_the_same_scores(vqagen_: Commands, study: Study) -> None:
    """With its events, an export has all that scoring needs."""
    fill_store(study, Raters(RaterSettings(), 5), Path("elsewhere.sqlite"))
    vqagen_.done("human export study --store elsewhere.sqlite --events --out exported")

    line = "--method humanr,cluster,bootstrap,bt --exclude checks,webdriver --by task --json"
    whole, exported = (
        json.loads(vqagen_.done(f"human score {source} {line}").out)
        for source in ("study --store elsewhere.sqlite", "exported")
    )
    assert whole["info"].pop("study") != exported["info"].pop("study")
    assert whole == exported


# The demonstration ---------------------------------------------------------------------------------------------------


def draw_plainly(scenes: Path, out: Path, files: object) -> None:
    """Draw each scene in one color, which takes no time."""
    out.mkdir()
    for number, record in enumerate(json.loads(scenes.read_text())["scenes"]):
        (out / record["image_filename"]).write_bytes(picture(number))


@pytest.mark.slow
def test_a_small_demonstration_scores_what_was_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its mistakes are proven, its answers are exported, and a place is left for the reader."""
    monkeypatch.setattr("vqagen.calls.human_demo.draw_scenes", draw_plainly)
    said: list[str] = []
    report = demonstrate(tmp_path / "demo", scenes=4, say=said.append)

    study = api.load_study(tmp_path / "demo" / "study")
    assert study.slots == 4
    assert {row["comparison"] for row in report.to_record()["tables"]["scores"]["rows"]} == {"careful", "careless"}
    lines = (tmp_path / "demo" / "export" / "answers.jsonl").read_text().splitlines()
    assert len(lines) == 3 * sum(len(task.trials) for task in study.tasks.values())
    assert "<svg" in (tmp_path / "demo" / "scores.html").read_text()
    assert said[-1] == f"{len(lines)} answers, all of them stored"

    domain = api.load_domain_files()
    scenes = {scene.image: scene for scene in api.load_scenes(tmp_path / "demo" / "scenes.json", domain.domain)}
    mistakes = json.loads((tmp_path / "demo" / "mistakes.json").read_text())
    assert len(mistakes) == 2
    shown = {(item.image, each.text) for item in study.items.values() for each in item.candidates}
    for image, mistake in mistakes.items():
        proof = read_proof(mistake["proof"])
        assert proof is not None and proof.holds(scenes[image], domain.catalogue)
        assert (image, mistake["caption"]) in shown


def test_a_folder_with_files_is_left_alone(vqagen_: Commands) -> None:
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine")
    ran = vqagen_("human demo --out mine")

    assert (ran.code, ran.out) == (2, b"")
    assert "output folder mine holds files already; name a new folder with --out" in ran.err
