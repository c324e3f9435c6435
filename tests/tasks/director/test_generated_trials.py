"""`vqagen verify` finds no fault in generated trials, and every spoiled trial; the oracle agrees with it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from math import sqrt
from typing import Any

import pytest
from depth import fewer, some
from generated_trials import DESIGNS, Record, as_written, random_designs, report_on, trials
from handmade_trials import catalogue, document, verified, views_of
from oracles.director import cell_named, is_right, item_words, label_of, placed, size_of
from readme_blocks import ROOT

import vqagen
from vqagen.bits import indexes, only
from vqagen.tasks.director.policies import BLIND, POLICIES, expected_accuracy
from vqagen.tasks.director.views import Views

INSTRUCTIONS = json.loads((ROOT / "templates" / "director" / "instructions.json").read_text())
ANSWER_CELLS = [f"{column}{row}" for row in range(1, 5) for column in "ABCD"]
COUNT = 2 * fewer(125, least=30)
"""Trials of each design; the slow test has 25,000."""


@pytest.mark.quick(1)
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_neither_verify_nor_the_oracle_finds_a_fault_in_generated_trials(design: Mapping[str, Any]) -> None:
    """2,500 trials of ten designs, and fewer in the quick run. The oracle finds both views by plain loops."""
    report = report_on(trials(COUNT, **design), **design)

    assert report.is_clean, report
    if design.get("compat") != "reference":  # whose trials may break rules
        assert all(is_right(INSTRUCTIONS, catalogue(), record) for record in trials(COUNT, **design))


@pytest.mark.slow
def test_the_judge_finds_no_fault_in_25000_trials_of_random_designs() -> None:
    """Whole windows, so that their shares are compared too."""
    checked = 0
    for design in random_designs(7):
        try:
            records = as_written(vqagen.trials(count=960, **design))
        except vqagen.VqagenError:  # a design that cannot be made
            continue
        report = report_on(records, **design)
        assert report.is_clean, (design, report)
        checked += report.checked
        if checked >= 25_000:
            return


def accuracies(records: Sequence[Record]) -> dict[str, float]:
    """Return how often each policy that ignores what is blocked is expected to be right, and the `best_rank`."""
    views = [views_of(record) for record in records]
    choices = {name: POLICIES[name][1] for name in BLIND}
    shares = {name: sum(expected_accuracy(choose, one) for one in views) for name, choose in choices.items()}
    return {name: share / len(records) for name, share in (shares | {"best rank": best_rank(views)}).items()}


def best_rank(views: Sequence[Views]) -> float:
    """Return how many trials the k-th best of n fitting items answers, with the best k for each n."""
    right: dict[tuple[str, int], Counter[int]] = {}
    for one in views:
        trial, fitting = one.trial, indexes(one.fitting)
        if trial.rule_class in ("none", "relation"):
            right.setdefault((trial.rule_class, trial.index), Counter())[0] += expected_accuracy(lambda v: v.own, one)
            continue
        rank = one.ranks(trial.rule)
        place = sum(rank[cell] < rank[only(trial.answer)] for cell in fitting)
        right.setdefault((trial.rule_class, len(fitting)), Counter())[place] += 1
    return sum(max(counts.values()) for counts in right.values())


def test_no_policy_that_ignores_what_is_blocked_is_right_in_more_than_55_percent() -> None:
    """On control and test trials together, also not the best rank for each number of items."""
    count = fewer(960)
    found = accuracies(trials(count, seed=4))

    assert max(found.values()) < 0.55 + 2 * sqrt(0.55 * 0.45 / count), found
    assert found["egocentric"] < 0.56


@pytest.mark.slow
def test_no_policy_that_ignores_what_is_blocked_reaches_55_percent_of_10000_trials() -> None:
    """There is little noise here."""
    assert max(accuracies(trials(9600, seed=5)).values()) < 0.555


@pytest.mark.slow
def test_answers_stand_in_all_cells_and_are_of_all_sizes() -> None:
    """A quarter each in corners and in the middle, also of tests without a rule; each size level in controls."""
    records = trials(960, seed=4)
    column, row = [{label: cell_named(label)[axis] for label in ANSWER_CELLS} for axis in (0, 1)]
    corners = {label for label in ANSWER_CELLS if {column[label], row[label]} <= {0, 3}}
    middle = {label for label in ANSWER_CELLS if {column[label], row[label]} <= {1, 2}}
    tests = [record["answer"] for record in records if record["trial_type"] == "test"]
    sizes = [record for record in records if record["rule_class"] == "size"]

    assert set(tests) == set(ANSWER_CELLS)
    for cells in (corners, middle):
        assert 0.2 < sum(record["answer"] in cells for record in records) / 960 < 0.3
    levels = Counter(size_of(placed(record)[cell_named(record["answer"])]) for record in sizes)
    assert all(45 < levels[level] < 75 for level in range(1, 5)), levels
    assert max(Counter(record["answer"] for record in records).values()) < 90


@pytest.mark.slow
def test_a_control_trial_has_blocked_items_that_fit() -> None:
    """One to three under a rule, as tests have: nobody may take the number of blocked items for the type."""
    numbers = {
        type_: Counter(
            (record["counts"]["related_visible"], record["counts"]["related_blocked"])
            for record in trials(960, seed=4)
            if record["trial_type"] == type_ and record["rule"] != "none"
        )
        for type_ in ("control", "test")
    }

    assert {blocked for _, blocked in numbers["control"]} == {1, 2, 3}
    assert {seen for seen, _ in numbers["test"]} == {2, 3, 4}


# Mutations -------------------------------------------------------------------------------------------------------


def _block_the_target(record: Record) -> bool:
    _set_blocked(record, {*record["blocked"], record["answer"]})
    return True


def _set_blocked(record: Record, labels: set[str]) -> None:
    record["blocked"] = sorted(labels, key=lambda each: (cell_named(each)[1], cell_named(each)[0]))


def _swap_target_and_foil(record: Record) -> bool:
    if record["rule_class"] == "relation":
        return False
    foils = [
        label_of(cell)
        for cell, name in placed(record).items()
        if record["noun"] in item_words(catalogue(), name)
        and not set(record["adjectives"]) <= item_words(catalogue(), name)
    ]
    return bool(foils) and _swap(record, record["answer"], foils[0])


def _swap(record: Record, first: str, second: str) -> bool:
    one, other = (cell_named(each)[1] * record["width"] + cell_named(each)[0] for each in (first, second))
    cells = record["cells"]
    cells[one], cells[other] = cells[other], cells[one]
    return cells[one] != cells[other]


def _text(old: str, new: str) -> Callable[[Record], bool]:
    def spoil(record: Record) -> bool:
        before = record["instruction"]
        record["instruction"] = before.replace(old, new)
        return bool(record["instruction"] != before)

    return spoil


def _drop_an_adjective_from_the_fields(record: Record) -> bool:
    return bool(record["adjectives"]) and bool(record["adjectives"].pop())


def _change_the_answer(record: Record) -> bool:
    others = [label_of(cell) for cell in placed(record) if label_of(cell) != record["answer"]]
    record["answer"] = others[0]
    return True


def _mirror_the_rule(record: Record) -> bool:
    mirror = {"leftmost": "rightmost", "rightmost": "leftmost", "topmost": "bottommost", "bottommost": "topmost"}
    mirror |= {"largest": "smallest", "smallest": "largest"}
    before = record["rule"]
    record["rule"] = mirror.get(before, before)
    return before in mirror


def _swap_a_fitting_item(record: Record) -> bool:
    """Exchange the answer's item with the first item that does not fit."""
    wanted = {record["noun"], *record["adjectives"]}
    others = [cell for cell, name in placed(record).items() if not wanted <= item_words(catalogue(), name)]
    is_of_rule = record["rule_class"] != "relation"
    return is_of_rule and bool(others) and _swap(record, record["answer"], label_of(others[0]))


MUTATIONS: dict[str, Callable[[Record], bool]] = {
    "block the target": _block_the_target,
    "swap target and foil": _swap_target_and_foil,
    "swap the target and an item that does not fit": _swap_a_fitting_item,
    "my for your": _text(" my ", " your "),
    "your for my": _text(" your ", " my "),
    "left for right": _text("left", "right"),
    "a word of praise": _text("the ", "the nice "),
    "drop an adjective from the fields": _drop_an_adjective_from_the_fields,
    "change the answer": _change_the_answer,
    "mirror the rule": _mirror_the_rule,
}
"""Mutation -> (spoils a trial; False if the trial has nothing to spoil so, least share that is found)."""


def test_a_mutated_trial_is_found() -> None:
    """Each mutation breaks a rule of every trial, and the oracle finds it too."""
    records = (*trials(COUNT)[: fewer(100)], *trials(COUNT, **DESIGNS[2])[: fewer(30)])
    missed = []
    for name, mutate in MUTATIONS.items():
        made = [spoiled for spoiled in map(deepcopy, records) if mutate(spoiled)]
        report = verified(*made)
        right = sum(is_right(INSTRUCTIONS, catalogue(), each) for each in made)
        if not made or report.mismatched < len(made) or right:
            missed.append((name, report.mismatched, right, len(made)))

    assert missed == []


def _without_adjective(document: Record) -> None:
    for entry in document["kinds"].values():
        entry["properties"] = [each for each in entry.get("properties", ()) if each != "sharp"]


def _other_words(document: Record) -> None:
    document["nouns"]["tool"] = {"singular": "implement"}


def _other_physics(document: Record) -> None:
    for each in document["adjectives"]:
        each["values"].get("sweet", {})["is_physics"] = True


CATALOGUE_MUTATIONS: dict[str, tuple[Callable[[Record], None], str]] = {
    "an adjective is true of nothing": (_without_adjective, "O4"),
    "a noun is spoken otherwise": (_other_words, "O2"),
    "another adjective is of physics": (_other_physics, "O3"),
}


def test_another_catalogue_than_the_trials_were_made_with_is_found() -> None:
    """The copy of the catalogue in a file's info is what the trials are judged by."""
    missed = []
    for name, (mutate, code) in some([*CATALOGUE_MUTATIONS.items()], least=2):
        changed = deepcopy(catalogue())
        mutate(changed)
        if not vqagen.verify(document(*trials(COUNT), catalogue_=changed)).by_problem[code]:
            missed.append(name)

    assert missed == []
