"""Statistics of trials: their design, their words, and how well policies and guesses answer them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from vqagen.errors import BadInput, Problem, counted
from vqagen.records.fault_list import FaultList
from vqagen.records.source import RecordSource
from vqagen.score.report.table import COUNT, SHARE, TEXT, Cell, Column, Report, Table
from vqagen.score.trial_reading import trial_reader
from vqagen.shortcuts.distributions import Spread, spread_record
from vqagen.shortcuts.policies import GUESSES, POLICIES, Guesser, expected_accuracy
from vqagen.tasks.director.reading import CONTESTED, WrittenTrial
from vqagen.tasks.director.rules import CONTROL, MIRRORED, NONE, PARTICIPANT, TYPES
from vqagen.tasks.director.views import Views

BOTH, CONTROLS, RULE_TESTS, PLAIN_TESTS, YOUR_VIEW, DIRECTORS_LEFT_RIGHT, ALL = GROUPS = (
    *("both of a pair", "control", "rule tests", "tests without rule", "your-view tests", "my left/right", "all"),
)
"""Groups of trials whose accuracy is shown. Of a pair, both trials must be answered correctly."""
_DESIGN = ("trial_type", "rule_class", "frame", "is_physics", "trials")


def read_views(source: RecordSource, on_read: Callable[[int], None] = lambda _: None) -> tuple[list[Views], list[str]]:
    """Return the trials of a file, and notes on how they are read. BadInput with those that cannot be read."""
    reader, name = trial_reader(source), str(source.path)
    trials, faults = list[Views](), FaultList(name, "trial")
    for position, record in enumerate(source.records()):
        trial = reader.read(record)
        if isinstance(trial, WrittenTrial):
            trials.append(Views(trial, len(reader.catalogue.sizes) if reader.catalogue else 0))
        else:
            faults.add(trial, source.kind.path(position))
        on_read(1)
    faults.finish()
    if not trials:
        raise BadInput([Problem("no trials", name)])
    return trials, [reader.remark] if reader.remark else []


def trial_statistics(source: RecordSource, on_read: Callable[[int], None] = lambda _: None) -> Report:
    """Return the statistics of trials, read once. BadInput with the trials that cannot be read."""
    trials, notes = read_views(source, on_read)
    facts = _facts([views.trial for views in trials]) | _accuracies(trials) | {"notes": notes}
    lines = (*_overview(facts), *(f"note: {note}" for note in notes))
    return Report(f"Statistics of {source.path}", lines, (_design(facts), _policies(facts)), facts)


def _facts(trials: list[WrittenTrial]) -> dict[str, Any]:
    cells = Counter((each.type, each.rule_class, each.frame, each.is_physics) for each in trials)
    rules = Counter((each.rule, each.type) for each in trials)
    return {
        "trials": len(trials),
        "grids": _sorted(Counter(f"{each.width}x{each.height}" for each in trials)),
        "pairs": len({each.pair for each in trials} - {None}),
        "cells": [dict(zip(_DESIGN, (*cell, count), strict=True)) for cell, count in sorted(cells.items(), key=str)],
        "rules": [{"rule": rule, "trial_type": kind, "trials": count} for (rule, kind), count in sorted(rules.items())],
        "texts": len({each.instruction for each in trials}),
        "phrases": len({(each.noun, *each.adjectives) for each in trials}),
        "words": spread_record(Counter(len(each.instruction.split()) for each in trials)),
        "templates": _sorted(Counter(each.template for each in trials)),
        "nouns": dict(Counter(each.noun for each in trials).most_common()),
    }


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _accuracies(trials: Iterable[Views]) -> dict[str, Any]:
    """Return how many trials are in each group, and how often each policy and guess is expected to be right there."""
    guessers = {name: Guesser(guess) for name, guess in GUESSES.items()}
    right = {name: dict.fromkeys(GROUPS, 0.0) for name in (*POLICIES, *GUESSES)}
    numbers: Counter[str] = Counter()
    first: tuple[int | None, dict[str, float]] = (None, {})
    for views in trials:
        chances = {name: expected_accuracy(policy, views) for name, policy in POLICIES.items()}
        chances |= {name: guesser.take(views) for name, guesser in guessers.items()}
        groups, pair = [*_groups_of(views.trial)], views.trial.pair
        numbers.update(groups)
        for name, chance in chances.items():
            for group in groups:
                right[name][group] += chance
        if pair is not None and first[0] == pair:  # the trials of a pair follow each other
            numbers[BOTH] += 1
            for name, chance in chances.items():
                right[name][BOTH] += first[1][name] * chance
        first = pair, chances
    groups = [group for group in GROUPS if numbers[group]]
    return {
        "groups": {group: numbers[group] for group in groups},
        "accuracy": {
            name: {group: round(own[group] / numbers[group], 4) for group in groups} for name, own in right.items()
        },
    }


def _groups_of(trial: WrittenTrial) -> Iterator[str]:
    """Yield the groups that a trial is in."""
    tests = PLAIN_TESTS if trial.rule == NONE else RULE_TESTS
    yield CONTROLS if trial.type == CONTROL else YOUR_VIEW if trial.group == CONTESTED else tests
    if trial.rule in MIRRORED and trial.frame != PARTICIPANT:
        yield DIRECTORS_LEFT_RIGHT
    yield ALL


# Report ---------------------------------------------------------------------------------------------------------------


def _overview(facts: Mapping[str, Any]) -> Iterator[str]:
    grids = ", ".join(grid.replace("x", " x ") for grid in facts["grids"])
    pairs = f" in {counted(facts['pairs'], 'pair')}" if facts["pairs"] else ""
    yield f"{counted(facts['trials'], 'trial')}{pairs}, grids of {grids}"
    share, descriptions = facts["texts"] / facts["trials"], counted(facts["phrases"], "description")
    yield f"  distinct instructions  {facts['texts']:,} ({share:.1%}) of {descriptions}"
    yield f"  words                  {Spread(**facts['words'])}"
    yield f"  nouns                  {len(facts['nouns'])}, templates {len(facts['templates'])}"


def _design(facts: Mapping[str, Any]) -> Table:
    """Return the trials of each class of rules and frame, by type and physics."""
    found = {
        (each["rule_class"], each["frame"] or "", each["trial_type"], each["is_physics"]): each["trials"]
        for each in facts["cells"]
    }
    groups = [(kind, is_physics) for kind in TYPES for is_physics in (False, True)]
    heads = (Column(f"{kind}, {'physics' if is_physics else 'other'}", COUNT) for kind, is_physics in groups)
    rows: list[tuple[Cell, ...]] = []
    for rule_class, frame in sorted({cell[:2] for cell in found}):
        counts = (found.get((rule_class, frame, *group), 0) for group in groups)
        rows.append((f"{rule_class}, {frame}'s words" if frame else rule_class, *counts))
    return Table("trials", "Trials", (Column("rules"), *heads), tuple(rows))


def _policies(facts: Mapping[str, Any]) -> Table:
    heads = (Column("policy"), *(Column(group, SHARE) for group in facts["groups"]), Column("meaning", TEXT))
    meanings = {name: policy.meaning for name, policy in POLICIES.items()}
    meanings |= {name: guess.meaning for name, guess in GUESSES.items()}
    rows: list[tuple[Cell, ...]] = [(name, *own.values(), meanings[name]) for name, own in facts["accuracy"].items()]
    return Table("expected_accuracy", "Expected accuracy", heads, tuple(rows))
