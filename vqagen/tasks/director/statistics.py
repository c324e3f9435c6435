"""Statistics of trials: their design, their words, how well policies answer them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from vqagen.bits import indexes
from vqagen.errors import BadInput, FaultList, Problem, counted
from vqagen.files.records import RecordSource
from vqagen.items.groups import spread_record, spread_text
from vqagen.report.table import COUNT, SHARE, TEXT, Cell, Column, Report, Table
from vqagen.tasks.contract import OptionClues
from vqagen.tasks.director.catalogue import ItemCatalogue
from vqagen.tasks.director.items import trial_reader
from vqagen.tasks.director.layout import EMPTY, describe_items, layout_maker
from vqagen.tasks.director.policies import POLICIES, Choose, expected_accuracy, likeness, seen
from vqagen.tasks.director.questions import Asker, Layout
from vqagen.tasks.director.reading import CONTESTED, WrittenTrial
from vqagen.tasks.director.rules import (
    CLASS_OF,
    CONTROL,
    MIRRORED,
    NONE,
    PARTICIPANT,
    TYPES,
)
from vqagen.tasks.director.views import Views

BOTH, CONTROLS, RULE_TESTS, PLAIN_TESTS, YOUR_VIEW, DIRECTORS_LEFT_RIGHT, ALL = GROUPS = (
    *("both of a pair", "control", "rule tests", "tests without rule", "your-view tests", "my left/right", "all"),
)
"""Groups of trials whose accuracy is shown. Of a pair, both trials must be answered correctly."""
ASKED_AT_ONCE = 64
"""Grids that are asked about together."""
_DESIGN = ("trial_type", "rule_class", "frame", "is_physics", "trials")


def read_views(source: RecordSource, on_read: Callable[[int], None] = lambda _: None) -> tuple[list[Views], list[str]]:
    """Return the trials of a file, and notes on how they are read. BadInput with those that cannot be read."""
    (read, _, remark), name = trial_reader(source), str(source.path)
    trials, faults = list[Views](), FaultList(name, "trial")
    for position, record in enumerate(source.records()):
        trial = read(record)
        if isinstance(trial, WrittenTrial):
            trials.append(Views(trial))
        else:
            faults.add(trial, source.kind.path(position))
        on_read(1)
    faults.finish()
    if not trials:
        raise BadInput([Problem("no trials", name)])
    return trials, [remark] if remark else []


def option_clues(source: RecordSource) -> tuple[list[OptionClues], list[str]]:
    """Return what the open items of each trial tell, and notes on how trials are read; faults as of `read_views`."""
    trials, notes = read_views(source)
    clues = list[OptionClues]()
    for views, asked in zip(trials, _times_asked(trials, trial_reader(source)[1]), strict=True):
        cells = indexes(views.open)
        likest = _ranks([likeness(views, cell) for cell in cells])
        most_asked = _ranks([asked[1 << cell] for cell in cells])
        ranks = [(f"likest, {one}", f"most asked, {other}") for one, other in zip(likest, most_asked, strict=True)]
        clues.append([(*own, *seen(views, cell)) for own, cell in zip(ranks, cells, strict=True)])
    return clues, notes


def _ranks(numbers: Sequence[int]) -> list[int]:
    """Return how many numbers are greater than each."""
    return [sum(other > number for other in numbers) for number in numbers]


def _times_asked(trials: Sequence[Views], catalogue: ItemCatalogue | None) -> list[Counter[int]]:
    """Return for each trial: answer -> the strict questions, by rules of the classes that the file has, that have it.

    Nothing is known without a catalogue.
    """
    found = [Counter[int]() for _ in trials]
    if catalogue is None:
        return found
    places, maker = {item.name: place for place, item in enumerate(catalogue.items)}, layout_maker(catalogue)
    layouts: dict[tuple[int, int], list[tuple[int, Layout]]] = {}
    for number, views in enumerate(trials):
        grid = [places[item.name] if item else EMPTY for item in views.items]
        if described := list(describe_items(maker, grid)):
            layouts.setdefault((views.trial.width, views.trial.height), []).append((number, (grid, described)))
    classes = {CLASS_OF[views.trial.rule]: 0 for views in trials}
    rules = [rule for rule, rule_class in CLASS_OF.items() if rule_class in classes]
    for size, of_size in layouts.items():
        asker = Asker(catalogue, *size, rules, is_strict=True)
        for first in range(0, len(of_size), ASKED_AT_ONCE):
            some = of_size[first : first + ASKED_AT_ONCE]
            blocked = np.array([[trials[number].all & trials[number].trial.blocked for number, _ in some]], np.uint64)
            questions = asker.ask([layout for _, layout in some], blocked)
            asked = [found[number] for number, (_, described) in some for _ in described]
            for place, answer in zip(questions.descriptions.tolist(), questions.answers.tolist(), strict=True):
                asked[place][answer] += 1
    return found


def trial_statistics(source: RecordSource, on_read: Callable[[int], None] = lambda _: None) -> Report:
    """Return the statistics of trials, read once. BadInput with the trials that cannot be read."""
    trials, notes = read_views(source, on_read)
    facts = _facts([views.trial for views in trials]) | _accuracies(trials) | {"notes": notes}
    lines = (*_overview(facts), *(f"note: {note}" for note in notes))
    return Report(f"Statistics of {source.path}", lines, (_design(facts), _policies(facts)), facts)


def _facts(trials: list[WrittenTrial]) -> dict[str, Any]:
    cells = Counter((trial.type, trial.rule_class, trial.frame, trial.is_physics) for trial in trials)
    rules = Counter((trial.rule, trial.type) for trial in trials)
    return {
        "trials": len(trials),
        "grids": dict(sorted(Counter(f"{trial.width}x{trial.height}" for trial in trials).items())),
        "pairs": len({trial.pair for trial in trials} - {None}),
        "cells": [dict(zip(_DESIGN, (*cell, count), strict=True)) for cell, count in sorted(cells.items(), key=str)],
        "rules": [{"rule": rule, "trial_type": kind, "trials": count} for (rule, kind), count in sorted(rules.items())],
        "texts": len({trial.instruction for trial in trials}),
        "phrases": len({(trial.noun, *trial.adjectives) for trial in trials}),
        "words": spread_record(Counter(len(trial.instruction.split()) for trial in trials)),
        "templates": dict(sorted(Counter(trial.template for trial in trials).items())),
        "nouns": dict(Counter(trial.noun for trial in trials).most_common()),
    }


def _accuracies(trials: Sequence[Views]) -> dict[str, Any]:
    """Return how many trials are in each group, and how often each policy is expected to be right there."""
    rights = {name: _rights(choose, trials) for name, (_, choose) in POLICIES.items()}
    groups_of = [set(_groups_of(views.trial)) for views in trials]
    places = {group: np.array([[i for i, members in enumerate(groups_of) if group in members]]) for group in GROUPS}
    pairs = [views.trial.pair for views in trials]
    seconds = np.array([i for i in range(1, len(pairs)) if pairs[i] == pairs[i - 1] is not None])
    places[BOTH] = np.stack([seconds - 1, seconds])  # the trials of a pair follow each other
    known = {group: members for group, members in places.items() if members.size}
    return {
        "groups": {group: members.shape[1] for group, members in known.items()},
        "accuracy": {
            name: {group: round(float(right[members].prod(axis=0).mean()), 6) for group, members in known.items()}
            for name, right in rights.items()
        },
    }


def _rights(choose: Choose, trials: Sequence[Views]) -> npt.NDArray[np.float64]:
    """Return the probability that a policy answers each trial right."""
    return np.array([expected_accuracy(choose, views) for views in trials])


def _groups_of(trial: WrittenTrial) -> Iterator[str]:
    """Yield the groups that a trial is in."""
    tests = PLAIN_TESTS if trial.rule == NONE else RULE_TESTS
    yield CONTROLS if trial.type == CONTROL else YOUR_VIEW if trial.group == CONTESTED else tests
    if trial.rule in MIRRORED and trial.frame != PARTICIPANT:
        yield DIRECTORS_LEFT_RIGHT
    yield ALL


# Report ---------------------------------------------------------------------------------------------------------------


def _overview(facts: Mapping[str, Any]) -> list[str]:
    grids = ", ".join(grid.replace("x", " x ") for grid in facts["grids"])
    pairs = f" in {counted(facts['pairs'], 'pair')}" if facts["pairs"] else ""
    share, descriptions = facts["texts"] / facts["trials"], counted(facts["phrases"], "description")
    return [
        f"{counted(facts['trials'], 'trial')}{pairs}, grids of {grids}",
        f"  distinct instructions  {facts['texts']:,} ({share:.1%}) of {descriptions}",
        f"  words                  {spread_text(facts['words'])}",
        f"  nouns                  {len(facts['nouns'])}, templates {len(facts['templates'])}",
    ]


def _design(facts: Mapping[str, Any]) -> Table:
    """Return the trials of each class of rules and frame, by type and physics."""
    trials_of = {
        (row["rule_class"], row["frame"] or "", row["trial_type"], row["is_physics"]): row["trials"]
        for row in facts["cells"]
    }
    groups = [(kind, is_physics) for kind in TYPES for is_physics in (False, True)]
    heads = (Column(f"{kind}, {'physics' if is_physics else 'other'}", COUNT) for kind, is_physics in groups)
    rows: list[tuple[Cell, ...]] = []
    for rule_class, frame in sorted({cell[:2] for cell in trials_of}):
        counts = (trials_of.get((rule_class, frame, *group), 0) for group in groups)
        rows.append((f"{rule_class}, {frame}'s words" if frame else rule_class, *counts))
    return Table("trials", "Trials", (Column("rules"), *heads), tuple(rows))


def _policies(facts: Mapping[str, Any]) -> Table:
    heads = (Column("policy"), *(Column(group, SHARE) for group in facts["groups"]), Column("meaning", TEXT))
    rows = tuple((name, *accuracy.values(), POLICIES[name][0]) for name, accuracy in facts["accuracy"].items())
    return Table("expected_accuracy", "Expected accuracy", heads, rows)
