"""`vqagen stats` of trials: the design and policies."""

from __future__ import annotations

import json
from itertools import product

import pytest
from commands import Commands
from generated_trials import trials
from handmade_trials import Record, trial
from test_director_oracle import NONE_TEST
from test_trial_verification import write_trials


def test_the_design_is_counted_and_policies_are_as_good_as_it_promises(vqagen_: Commands) -> None:
    """The egocentric policy is right in control trials and in no test with a rule."""
    records = trials(240)
    write_trials("trials", *records)
    statistics: Record = json.loads(vqagen_.done("stats trials --json").out)
    accuracy = statistics["accuracy"]

    assert statistics["trials"] == sum(cell["trials"] for cell in statistics["cells"]) == 240
    assert {(cell["trial_type"], cell["rule_class"]) for cell in statistics["cells"]} == set(
        product(("control", "test"), ("none", "size", "vertical", "horizontal"))
    )
    assert statistics["groups"]["control"] == sum(record["trial_type"] == "control" for record in records)
    assert {each["rule"] for each in statistics["rules"]} >= {"none", "smallest", "leftmost"}
    assert set(accuracy["oracle"].values()) == {1.0}
    assert (accuracy["egocentric"]["control"], accuracy["egocentric"]["rule tests"]) == (1.0, 0.0)
    assert accuracy["no-flip"]["my left/right"] == 0.0
    assert accuracy["no-flip"]["tests without rule"] == 1.0
    assert accuracy["second-best"]["control"] < 0.25, "right where only one item fits"
    assert 0.1 < accuracy["random-visible"]["all"] < 0.3


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


@pytest.mark.slow
def test_of_pairs_the_report_says_first_how_often_both_are_right(vqagen_: Commands) -> None:
    """Whoever ignores what is blocked answers both alike, and so is right in one of them at most."""
    write_trials("trials", *trials(240, paired=True))
    statistics: Record = json.loads(vqagen_.done("stats trials --json").out)
    accuracy = statistics["accuracy"]

    assert next(iter(statistics["groups"].items())) == ("both of a pair", 120)
    assert accuracy["oracle"]["both of a pair"] == 1.0
    blind = {name: accuracy[name]["both of a pair"] for name in ("egocentric", "second-best", "last")}
    assert max(blind.values()) < 0.08, blind


@pytest.mark.slow
def test_tests_from_your_view_stand_apart(vqagen_: Commands) -> None:
    """Half of those about left and right; control trials in the same words are like the others."""
    records = trials(240)
    write_trials("trials", *records)
    groups = json.loads(vqagen_.done("stats trials --json").out)["groups"]

    contested = [record for record in records if record["is_contested"]]
    assert {(record["trial_type"], record["frame"]) for record in contested} == {("test", "participant")}
    assert groups["your-view tests"] == len(contested) > 5
    assert groups["rule tests"] + groups["tests without rule"] + len(contested) + groups["control"] == 240
