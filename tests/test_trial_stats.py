"""`vqagen stats` of trials: the design, policies, and what could be guessed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from commands import Commands
from generated_trials import trials
from handmade_trials import Record, trial
from test_director_oracle import NONE_TEST
from test_trial_verification import write_trials

from vqagen.judge.director.chi_square import differ


@pytest.fixture
def vqagen_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Commands(capsysbinary)


@pytest.fixture
def statistics(vqagen_: Commands) -> Record:
    """The statistics of 500 generated trials."""
    write_trials("trials", *trials(500, fill=0.5))
    record: Record = json.loads(vqagen_.done("stats trials --json").out)
    return record


def test_the_design_is_counted(statistics: Record) -> None:
    """Every trial is in one cell."""
    assert statistics["trials"] == 500
    assert sum(cell["trials"] for cell in statistics["cells"]) == 500
    assert len(statistics["cells"]) == 2 * (3 + 2) * 2
    assert statistics["groups"]["control"] == 250
    assert {each["rule"] for each in statistics["rules"]} >= {"none", "smallest", "leftmost"}


def test_policies_are_as_good_as_the_design_promises(statistics: Record) -> None:
    """The egocentric policy is right in control trials and in no test with a rule."""
    accuracy = statistics["accuracy"]

    assert set(accuracy["oracle"].values()) == {1.0}
    assert (accuracy["egocentric"]["control"], accuracy["egocentric"]["rule tests"]) == (1.0, 0.0)
    assert accuracy["no-flip"]["my left/right"] == 0.0
    assert accuracy["no-flip"]["tests without rule"] == 1.0
    assert accuracy["second-best"]["control"] == 0.0
    assert 0.1 < accuracy["random-visible"]["all"] < 0.3


def test_guesses_of_cells_are_tested_on_the_other_half(statistics: Record) -> None:
    """A cell that was right once is not known to be right."""
    for name in ("majority cell", "cell of rule", "cell of words"):
        assert 0.0 < statistics["accuracy"][name]["all"] < 0.2


def test_numbers_that_tell_the_type_are_marked(statistics: Record) -> None:
    """Grids have as many items and blocked cells in test trials as in control trials."""
    features = statistics["features"]

    assert features["items"] == {"control": 8.0, "test": 8.0, "differs": False}
    assert features["blocked cells"] == {"control": 6.0, "test": 6.0, "differs": False}
    assert features["fitting items, blocked"]["differs"]


def test_the_report_shows_policies_and_a_map_of_answers(vqagen_: Commands) -> None:
    """One line each; a map has a line for each row."""
    write_trials("trials", trial(NONE_TEST, "red ball"))

    lines = vqagen_.done("stats trials").out.decode().splitlines()

    assert lines[0] == "1 trial, grids of 3 x 2"
    assert any(line.startswith("  egocentric  ") and " 0.500 " in line for line in lines)
    assert "  1    1.000  0.000  0.000" in lines


def test_what_is_not_for_trials_is_refused(vqagen_: Commands) -> None:
    """Policies learn nothing."""
    write_trials("trials", trial(NONE_TEST, "red ball"))

    assert "leave out against" in vqagen_("stats trials --against trials").err


def test_trials_that_cannot_be_read_are_named(vqagen_: Commands) -> None:
    """All of them in one run."""
    wrong = {**trial(NONE_TEST, "red ball"), "noun": 3, "cells": []}
    write_trials("trials", wrong, wrong)

    ran = vqagen_("stats trials")

    assert ran.code == 3
    assert ran.err.count("expected a noun, found 3") == 2
    assert "trials[1].noun" in ran.err


@pytest.mark.parametrize(
    ("some", "others", "is_different"),
    [
        ({1: 500, 2: 500}, {1: 510, 2: 490}, False),
        ({1: 500, 2: 500}, {1: 600, 2: 400}, True),
        ({1: 500}, {1: 400}, False),
        ({1: 5, 2: 1}, {1: 1, 2: 5}, False),
        ({}, {1: 5}, False),
        (dict.fromkeys(range(500), 1), dict.fromkeys(range(500, 1000), 1), False),
    ],
)
def test_rows_differ_if_chance_does_not_explain_it(
    some: dict[int, int], others: dict[int, int], is_different: bool
) -> None:
    """Rare values share a column, so that a few of them are no proof."""
    assert differ(Counter(some), Counter(others)) is is_different
