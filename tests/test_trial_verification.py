"""`vqagen verify` of trials: files, settings, shares, pairs and pictures, and how the result is shown."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from handmade_trials import Record, catalogue, codes, grammar, trial, verified, vocabulary
from test_director_oracle import LEFTMOST_CONTROL, LEFTMOST_TEST, NONE_TEST, TOPMOST_TEST

from vqagen.files.reading import content_hash
from vqagen.score.director.case import Found, case_of
from vqagen.score.director.design import DesignCheck
from vqagen.score.director.grammar import instruction_files
from vqagen.score.director.reading import native_read
from vqagen.score.director.repetition import TypeDifferences
from vqagen.score.director.trial import Trial, read_trial
from vqagen.score.director.verification import TrialVerification, verify_trials

SETTINGS = {"seed": 3, "width": 3, "height": 2, "fill": 0.7, "blocked": 0.4, "suffix": "directional"}


@pytest.fixture
def vqagen_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Commands(capsysbinary)


def write_trials(folder: str, *records: Record, settings: Record | None = None) -> None:
    """Write records as `vqagen director` does."""
    Path(folder).mkdir(exist_ok=True)
    Path(folder, "trials.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    generator = {"name": "vqagen", "settings": settings or SETTINGS, "arrangement": {"window": 960}}
    info = {"generator": generator, "catalogue": catalogue()}
    Path(folder, "trials.jsonl.info.json").write_text(json.dumps(info))


# The command -----------------------------------------------------------------------------------------------------


def test_progress_is_told_in_batches(vqagen_: Commands) -> None:
    """The rest at the end."""
    write_trials("trials", trial(NONE_TEST, "red ball"))
    told: list[int] = []
    verify_trials(Path("trials"), on_checked=told.append)

    assert told == [1]


def test_faults_are_grouped_by_rule_with_the_first_of_each(vqagen_: Commands) -> None:
    """The exit code is 1; every trial is judged."""
    wrong = {**trial(NONE_TEST, "red ball"), "answer": "C1"}
    write_trials("trials", *({**wrong, "trial_index": i} for i in range(5)))

    ran = vqagen_("verify trials")

    assert ran.code == 1
    assert "\n  trial 0: answer: written as C1, but the director means A1\n" in ran.out.decode()
    assert "  … and 7 more\n" in ran.out.decode()
    assert ran.out.decode().endswith("5 trials checked: 14 faults in 5 trials\n")


def test_what_is_not_suited_to_a_kind_of_file_is_refused(vqagen_: Commands) -> None:
    """Questions and dialogs need scenes, and trials have none."""
    write_trials("trials", trial(NONE_TEST, "red ball"))
    Path("q.json").write_text('{"questions": []}')
    Path("d.json").write_text('{"dialogs": []}')
    Path("empty").mkdir()
    nothing = "no questions, dialogs or trials (*.json, *.json.gz, *.json.zst, trials.jsonl) in"
    for line, message in (
        (
            "trials --scenes trials",
            "trials.jsonl holds trials, which come with their grids and items: leave out scenes",
        ),
        ("trials --metadata x.json", "leave out metadata"),
        ("none", "questions, dialogs or trials not found: none"),
        ("empty --scenes trials", nothing),
        ("q.json", "scenes are missing: q.json holds questions"),
        ("d.json", "scenes are missing: d.json holds dialogs"),
    ):
        ran = vqagen_(f"verify {line}")
        assert ran.code == (3 if line in ("none", "empty --scenes trials") else 2)
        assert message in ran.err


def test_trials_without_info_are_judged_with_the_shipped_catalogue(vqagen_: Commands) -> None:
    """The report says so; shares and numbers are then unknown."""
    write_trials("trials", trial(NONE_TEST, "red ball"))
    Path("trials/trials.jsonl.info.json").unlink()

    lines = vqagen_.done("verify trials").out.decode().splitlines()

    assert lines[0].startswith("no info beside the trials")
    assert lines[1] == "1 trial checked: 0 faults"


def test_trials_are_not_read_by_other_instructions_than_they_were_made_with(vqagen_: Commands) -> None:
    """Texts of one's own are read with --templates; by the shipped ones, each would be a fault."""
    Path("mine.json").write_text('{"templates": [{"name": "fetch", "text": "Fetch the <T> <F>!"}]}')
    right = trial(NONE_TEST, "red ball")
    said = {"instruction": "Fetch the red ball!", "template": "mine.json#fetch"}
    twin = {"no_director": {**right["no_director"], "instruction": "Fetch the red ball!"}}
    write_trials("trials", {**right, **said, **twin})
    beside = Path("trials/trials.jsonl.info.json")
    info = json.loads(beside.read_text())
    info["generator"]["inputs"] = {"templates": content_hash(instruction_files("mine.json"))}
    beside.write_text(json.dumps(info))

    with_them, without = vqagen_.done("verify trials --templates mine.json"), vqagen_("verify trials")

    assert with_them.err == ""
    assert (without.code, without.out) == (3, b"")
    assert "trials.jsonl: worded by other templates than are at hand" in without.err


def test_a_broken_info_is_one_message_or_none(vqagen_: Commands) -> None:
    """No traceback, and no fault for each item of each trial. What it does not say is unknown."""
    write_trials("trials", trial(NONE_TEST, "red ball"))
    beside = Path("trials/trials.jsonl.info.json")
    for broken in (3, {}, {"kinds": {}}, {"adjectives": 1, "kinds": {}, "sizes": []}):
        beside.write_text(json.dumps({"catalogue": broken}))
        ran = vqagen_("verify trials")
        assert (ran.code, ran.err.count("\n")) == (3, 1)
        assert "info.catalogue: the catalogue of items cannot be read" in ran.err
    for info in ([], 3, {"generator": 1}, {"generator": {"settings": []}}, {"generator": {"arrangement": 1}}):
        beside.write_text(json.dumps(info))
        assert vqagen_("verify trials").out.decode().endswith("1 trial checked: 0 faults\n")


def test_broken_settings_are_named_at_once(vqagen_: Commands) -> None:
    """No traceback, whoever edited the info."""
    write_trials("trials", trial(NONE_TEST, "red ball"), settings={"fill": "much", "count": True, "render": "png"})

    ran = vqagen_("verify trials")

    assert ran.code == 3
    assert "info.generator.settings.fill: expected a number, found 'much'" in ran.err
    assert ran.err.count("\n") == 3


def test_no_value_of_a_field_is_a_traceback() -> None:
    """Each field of a right trial is replaced by something else."""
    right = trial(LEFTMOST_TEST, "red ball", "leftmost")
    for key, value in product(right, (None, [], {}, 0, -1, 1.5, "x", [[]], {"a": 1}, True)):
        verified({**right, key: value}, {**right, key: value})


# Settings --------------------------------------------------------------------------------------------------------


def test_numbers_that_are_not_those_of_the_settings_are_found() -> None:
    """The trial has 4 items and 2 blocked cells in 6."""
    right = trial(NONE_TEST, "red ball")
    assert verified(right, **SETTINGS).is_clean
    for name, value, place in (
        ("width", 4, "width"),
        ("fill", 0.9, "cells"),
        ("blocked", 0.1, "blocked"),
        ("suffix", "always", "frame"),
    ):
        assert [finding.place for finding in verified(right, **{**SETTINGS, name: value}).findings] == [place]


def test_other_numbers_of_fitting_items_than_the_settings_allow_are_found() -> None:
    """One to three more are seen and as many blocked, for the settings' least number is one of each."""
    settings = {"width": 4, "height": 2, "fill": 0.5, "related": 0.3, "related_blocked": 0.5}
    right = trial(LEFTMOST_TEST, "red ball", "leftmost")
    control = trial(LEFTMOST_CONTROL, "red ball", "leftmost", "control")

    assert verified(right, **settings).is_clean
    found = [finding.message for finding in verified(control, **settings).findings]
    assert found == ["1 more fitting items seen and 0 blocked, not 1 to 3 more seen and 1 to 3 blocked"]


def test_control_and_test_trials_with_other_numbers_of_fitting_items_are_noted() -> None:
    """Who counts them would know the type of a trial without a look at what is blocked."""
    differences = TypeDifferences()
    for drawn, type_ in ((LEFTMOST_TEST, "test"), (LEFTMOST_CONTROL, "control")):
        written = read_trial(trial(drawn, "red ball", "leftmost", type_))
        assert isinstance(written, Trial)
        for _ in range(50):
            differences.take(case_of(Found(written, vocabulary(), vocabulary().items)))

    wanted = "test trials have other numbers of fitting items: 2 in 100.0% of control trials and 0.0% of test trials"
    assert list(differences.sentences()) == [wanted]


def test_repeated_questions_are_faults_within_a_window_and_notes_across_windows() -> None:
    """The generator keeps questions apart within a window only."""
    first, second, in_next_window = (trial(NONE_TEST, "red ball", number=number) for number in (958, 959, 960))

    assert codes(first, second) == {"O15"}
    assert verified(second, in_next_window).note_counts == {"O15": 1}


# Shares ----------------------------------------------------------------------------------------------------------

DESIGN = {
    "suffix": "directional",
    "questions": "superlative",
    "test_share": 0.5,
    "size_share": 0.0,
    "vertical_share": 0.0,
    "horizontal_share": 1.0,
    "physics_share": 0.0,
}


def designed(types: str, frames: str, rules: str) -> set[str]:
    """Return the messages about the shares in a window of trials with the given first letters."""
    right = read_trial(trial(LEFTMOST_TEST, "red ball", "leftmost"))
    assert isinstance(right, Trial)
    names = {"t": "test", "c": "control", "d": "director", "p": "participant", "l": "leftmost", "r": "rightmost"}
    check = DesignCheck(DESIGN, window=len(types))
    for number, letters in enumerate(zip(types, frames, rules, strict=True)):
        type_, frame, rule = (names[letter] for letter in letters)
        each = replace(right, index=number, type=type_, frame=frame, rule=rule)
        check.take(each)
    return {fault.partition(": ")[2] for fault in check.faults}


WINDOWS: list[tuple[str, str, str, set[str]]] = [
    ("ttttcccc", "ddppddpp", "lrlrlrlr", set()),
    (
        "tttttccc",
        "ddppdddp",
        "lrlrlrlr",
        {"trial type test in all: 5 of 8, not 4", "trial type control in all: 3 of 8, not 4"},
    ),
    (
        "ttttcccc",
        "dddpddpp",
        "lrlrlrlr",
        {"frame director in test, horizontal: 3 of 4, not 2", "frame participant in test, horizontal: 1 of 4, not 2"},
    ),
    (
        "ttttcccc",
        "ddppddpp",
        "llllrrrr",
        {"rules of test, horizontal: 2 leftmost", "rules of control, horizontal: 2 rightmost"},
    ),
]


def test_shares_are_exact_in_each_window() -> None:
    """At each level of the design: types, classes, frames, physics, and rules."""
    for types, frames, rules, found in WINDOWS:
        messages = designed(types, frames, rules)
        assert {each for each in messages if "control, horizontal: 1" not in each} >= found
        assert bool(messages) == bool(found)


# Pairs -----------------------------------------------------------------------------------------------------------


def pair(**changes: Any) -> list[Record]:
    """Return a right pair, of which fields of the second trial are changed."""
    test = {**trial(TOPMOST_TEST, "red ball", "topmost"), "pair": 0}
    opened = TOPMOST_TEST.replace("#red_ball_1", "red_ball_1").replace("green_book_1", "#green_book_1")
    control = {**trial(opened, "red ball", "topmost", "control", number=1), "pair": 0}
    return [test, {**control, **changes}]


WRONG_SECONDS: list[Record] = [
    {"pair": 1},
    {"answer": "A2"},
    {"blocked": ["A1"]},
    {"blocked": []},
    {"instruction": "Pick the topmost red ball, please."},
    {"trial_type": "test"},
    {"rule": "bottommost"},
    {"cells": ["red_ball_1", None, "blue_ball_2", "red_ball_2", None, None, None, "green_book_2", "red_ball_4"]},
]


def test_a_wrong_pair_is_found() -> None:
    """One field of the second trial is changed; a right pair has no fault."""
    assert not codes(*pair(), paired=True)
    assert [changes for changes in WRONG_SECONDS if "pair" not in codes(*pair(**changes), paired=True)] == []


def test_a_pair_without_a_rule_moves_the_block_between_its_answers() -> None:
    """Both trials are tests."""
    drawn = ["red_ball_2 blue_ball_2 #red_ball_3\n. #. .", "#red_ball_2 blue_ball_2 red_ball_3\n. #. ."]
    right = [{**trial(each, "red ball", number=i), "pair": 0} for i, each in enumerate(drawn)]
    wrong = deepcopy(right)
    wrong[1]["blocked"] = ["A1"]

    assert not codes(*right, paired=True)
    assert "pair" in codes(*wrong, paired=True)


# Pictures --------------------------------------------------------------------------------------------------------


FILES = [
    ("0.png", b"PNG", ""),
    ("1.png", None, "not there"),
    ("0.md", b"", "empty"),
    ("../0.png", None, "outside of the folder"),
]
"""The picture of a trial, its content, and what is wrong with it."""
WANTED = [
    ({"render": ["png"]}, []),
    ({"render": ["png", "md"]}, ["0.md"]),
    ({"render": ["png"], "view": "both"}, ["0-director.png"]),
    ({"render": ["png"], "view": "director"}, []),
    ({"render": [], "view": "both"}, ["0-director.png"]),
]
"""Settings, and the files that they ask for besides 0.png."""


def test_every_file_that_the_settings_ask_for_is_looked_at(tmp_path: Path) -> None:
    """A missing or empty picture is a fault of its trial. A trial names one file; the others have its stem."""

    def found(name: str | None, settings: Record) -> list[str]:
        verification = TrialVerification(native_read(vocabulary()), grammar(), settings, folder=tmp_path)
        verification.take({**trial(NONE_TEST, "red ball"), **({"image": name} if name else {})})
        return [finding.message for finding in verification.finish().findings]

    for name, content, message in FILES:
        if content is not None:
            (tmp_path / name).write_bytes(content)
        faults = found(name, {})
        assert len(faults) == bool(message)
        assert all(message in each for each in faults)
    (tmp_path / "0.md").unlink()
    for settings, missing in WANTED:
        assert found("0.png", settings) == [f"{name}: not there" for name in missing]
    for render, is_missing in (([], True), (["svg"], True), (["none"], False)):
        assert bool(found(None, {"render": render})) == is_missing
