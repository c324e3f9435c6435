"""Policies that answer trials: the right one, each way to miss a view or words, and guesses.

A policy chooses a set of cells, of which it answers one at random; so its expected accuracy in a trial is one over the
number of chosen cells if the right one is among them. Policies see a trial as the two views of its grid.

    views = Views(read_trial(record, catalogue))
    POLICIES["egocentric"].choose(views)                        # a set of cells
    expected_accuracy(POLICIES["egocentric"], views)            # 0.0 in a test trial with a rule

A guess learns from the trials before: it chooses the cells that have what was most often right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vqagen.bits import Objects, indexes, union_of
from vqagen.errors import BadInput, FaultList, Problem, counted
from vqagen.files.records import RecordSource
from vqagen.score.items.reading import trial_reader
from vqagen.score.items.table import Places
from vqagen.score.report.table import COUNT, SHARE, TEXT, Cell, Column, Report, Table
from vqagen.shortcuts.groups import spread_record, spread_text
from vqagen.shortcuts.learners import counted as counted_tokens
from vqagen.shortcuts.options import learned_choice, random_option
from vqagen.shortcuts.predictors import CELLS, Predictor, known
from vqagen.shortcuts.task import Guesses, Task
from vqagen.tasks.director.reading import CONTESTED, WrittenTrial
from vqagen.tasks.director.rules import (
    CLASS_OF,
    CONTROL,
    MIRRORED,
    NONE,
    PARTICIPANT,
    RELATION,
    SIZE,
    STEPS,
    TYPES,
    VERTICAL,
)
from vqagen.tasks.director.views import Views


class Policy(NamedTuple):
    """A way to answer."""

    meaning: str
    choose: Callable[[Views], Objects]


def expected_accuracy(policy: Policy, views: Views) -> float:
    """Return the probability that a policy answers right."""
    chosen = policy.choose(views)
    return (chosen & views.trial.answer).bit_count() / max(chosen.bit_count(), 1)


def _ignore_rule(views: Views) -> Objects:
    if CLASS_OF[views.trial.rule] != RELATION:
        return views.fitting & views.open
    found = 0
    for rule in STEPS:
        found |= views.ahead(views.fitting, views.open, rule)
    return found


def _middle(views: Views) -> Objects:
    """Return the fitting items in the middle of all by the rule; two for an even number, and all without a rule."""
    if CLASS_OF[views.trial.rule] in (NONE, RELATION):
        return views.fitting
    by_rank = sorted(indexes(views.fitting), key=lambda cell: _number_beating(views, cell))
    return union_of(by_rank[(len(by_rank) - 1) // 2 : len(by_rank) // 2 + 1])


def _next_best(passed: int) -> Callable[[Views], Objects]:
    """Return the answers that the participant would give if the own answers, so many times, were not there."""

    def choose(views: Views) -> Objects:
        trial, seen, found = views.trial, views.all, views.own
        for _ in range(passed):
            seen &= ~found
            rest = views.picked(seen, trial.criteria, trial.rule)
            if not rest:
                break
            found = rest
        return found

    return choose


def _not_extreme(views: Views) -> Objects:
    """Return the best of the items that stand at no edge, or are neither of the smallest nor the largest size."""
    trial, rule_class = views.trial, CLASS_OF[views.trial.rule]
    inner = views.all
    for cell in indexes(inner) if rule_class not in (NONE, RELATION) else ():
        if rule_class == SIZE:
            is_extreme = _size(views, cell) in (1, views.largest)
        else:
            is_extreme = _line(views, cell) in (0, (trial.height if rule_class == VERTICAL else trial.width) - 1)
        inner &= ~(is_extreme << cell)
    return views.picked(inner, trial.criteria, trial.rule) or views.own


def _look_alike(views: Views) -> Objects:
    """Return the open items that have the most words in common with all other items, whatever the instruction says."""
    alike = {cell: sum(_shared_words(views, cell).values()) for cell in indexes(views.open)}
    return union_of(cell for cell, number in alike.items() if number == max(alike.values()))


POLICIES: Mapping[str, Policy] = {
    "oracle": Policy("takes the director's view and words", lambda views: views.gold),
    "egocentric": Policy("answers for all items, blocked ones too", lambda views: views.own),
    "no-flip": Policy(
        "takes the director's view, but left and right for the own ones",
        lambda views: views.picked(views.open, views.trial.criteria, views.heard),
    ),
    "self-centered": Policy("does neither", lambda views: views.picked(views.all, views.trial.criteria, views.heard)),
    "visible-only": Policy(
        "egocentric; any open fitting item if that answer is blocked",
        lambda views: views.own & ~views.trial.blocked or _ignore_rule(views),
    ),
    "second-best": Policy("the next best of all items, blocked or not", _next_best(1)),
    "third-best": Policy("the one after that", _next_best(2)),
    "last": Policy("the last of all fitting items by the rule, blocked or not", _next_best(1000)),
    "not-extreme": Policy("the best of all items but those at an edge, or of an extreme size", _not_extreme),
    "random-match": Policy("any fitting item, blocked or not", lambda views: views.fitting),
    "middle": Policy("the middle one of all fitting items, blocked or not", _middle),
    "ignore-rule": Policy("any open item of the description", _ignore_rule),
    "ignore-adjectives": Policy(
        "looks for the noun only",
        lambda views: views.picked(views.open, frozenset({views.trial.noun}), views.trial.rule),
    ),
    "ignore-description": Policy(
        "follows the rule among all open items",
        lambda views: (
            views.open
            if CLASS_OF[views.trial.rule] == RELATION
            else views.picked(views.open, frozenset(), views.trial.rule)
        ),
    ),
    "look-alike": Policy("the open item most like all others, without the instruction", _look_alike),
    "random-visible": Policy("any open item", lambda views: views.open),
}
"""Name -> policy."""
BLIND = ("egocentric", "second-best", "third-best", "last", "not-extreme", "random-match", "middle", "rank", "place")
"""Policies and guesses that read the instruction and ignore what is blocked."""


# Guesses --------------------------------------------------------------------------------------------------------------


class Guess(NamedTuple):
    """A way to guess: what of each cell is compared with the cells that were right before."""

    meaning: str
    look: Callable[[Views], Mapping[int, Hashable]]
    """The cells to choose from, each with what is known of it."""


class Guesser:
    """Guesses the answers of trials, one after the other, and learns each."""

    def __init__(self, guess: Guess) -> None:
        self._look = guess.look
        self._right: Counter[Hashable] = Counter()
        self._seen: Counter[Hashable] = Counter()

    def take(self, views: Views) -> float:
        """Return the probability that the guess is right, and learn the right answer."""
        looks = self._look(views)
        rates = {cell: (self._right[look] + 1) / (self._seen[look] + 8) for cell, look in looks.items()}
        most = max(rates.values(), default=0.0)
        chosen = union_of(cell for cell, rate in rates.items() if rate == most)
        self._seen.update(looks.values())
        self._right.update(look for cell, look in looks.items() if views.trial.answer >> cell & 1)
        return 1 / chosen.bit_count() if chosen & views.trial.answer else 0.0


def _by_cell(cells: Callable[[Views], Objects]) -> Callable[[Views], Mapping[int, Hashable]]:
    return lambda views: {cell: (views.trial.width, views.trial.height, cell) for cell in indexes(cells(views))}


def _by_rank(views: Views) -> Mapping[int, Hashable]:
    rule_class, number = CLASS_OF[views.trial.rule], views.fitting.bit_count()
    return {cell: (rule_class, number, _number_beating(views, cell)) for cell in indexes(views.fitting)}


def _by_place(views: Views) -> Mapping[int, Hashable]:
    place = _size if CLASS_OF[views.trial.rule] == SIZE else _line
    return {cell: (views.trial.rule, rank, place(views, cell)) for cell, rank in _by_rank(views).items()}


def _by_likeness(views: Views) -> Mapping[int, Hashable]:
    found: dict[int, Hashable] = {}
    for cell in indexes(views.open):
        shared = _shared_words(views, cell)
        blocked, seen = (
            [shared[other] for other in shared if views.open >> other & 1 == is_open] for is_open in (0, 1)
        )
        found[cell] = max(blocked, default=0), max(seen, default=0), sum(number > 2 for number in shared.values())
    return found


GUESSES: Mapping[str, Guess] = {
    "rank": Guess("the k-th best of n fitting items, blocked or not, as was most often right", _by_rank),
    "place": Guess("the same by the line or size of the items", _by_place),
    "cell": Guess("the cell that was most often right", _by_cell(lambda views: (1 << len(views.trial.cells)) - 1)),
    "open-cell": Guess("the open item in the cell that was most often right", _by_cell(lambda views: views.open)),
    "likeness": Guess("the open item as like others as those that were right, without the instruction", _by_likeness),
}
"""Name -> guess. They need a file: its trials in their order."""


# Looks of cells -------------------------------------------------------------------------------------------------------


def _number_beating(views: Views, cell: int) -> int:
    """Return how many fitting items the rule puts before the item of a cell; without a rule, all others."""
    if CLASS_OF[views.trial.rule] in (NONE, RELATION):
        return (views.fitting & ~(1 << cell)).bit_count()
    ranks = views.ranks(views.trial.rule)
    return sum(ranks[other] < ranks[cell] for other in indexes(views.fitting))


def _size(views: Views, cell: int) -> int:
    item = views.items[cell]
    return item.size if item else 0


def _line(views: Views, cell: int) -> int:
    """Return the row of a cell for a rule about rows, and else its column."""
    width = views.trial.width
    return cell // width if CLASS_OF[views.trial.rule] == VERTICAL else cell % width


def _shared_words(views: Views, cell: int) -> dict[int, int]:
    """Return for each other item how many words are true of both."""
    true = {each: item.true for each, item in enumerate(views.items) if item}
    return {other: len(true[cell] & words) for other, words in true.items() if other != cell}


# Statistics of trials -------------------------------------------------------------------------------------------------
#
# Statistics of trials: their design, their words, and how well policies and guesses answer them.


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
        "grids": dict(sorted(Counter(f"{each.width}x{each.height}" for each in trials).items())),
        "pairs": len({each.pair for each in trials} - {None}),
        "cells": [dict(zip(_DESIGN, (*cell, count), strict=True)) for cell, count in sorted(cells.items(), key=str)],
        "rules": [{"rule": rule, "trial_type": kind, "trials": count} for (rule, kind), count in sorted(rules.items())],
        "texts": len({each.instruction for each in trials}),
        "phrases": len({(each.noun, *each.adjectives) for each in trials}),
        "words": spread_record(Counter(len(each.instruction.split()) for each in trials)),
        "templates": dict(sorted(Counter(each.template for each in trials).items())),
        "nouns": dict(Counter(each.noun for each in trials).most_common()),
    }


def _accuracies(trials: Sequence[Views]) -> dict[str, Any]:
    """Return how many trials are in each group, and how often each policy and guess is expected to be right there."""
    rights = {name: np.array([expected_accuracy(each, views) for views in trials]) for name, each in POLICIES.items()}
    guessers = {name: Guesser(guess) for name, guess in GUESSES.items()}
    rights |= {name: np.array([each.take(views) for views in trials]) for name, each in guessers.items()}
    groups_of = [set(_groups_of(views.trial)) for views in trials]
    places = {group: np.array([[i for i, own in enumerate(groups_of) if group in own]]) for group in GROUPS}
    pairs = [views.trial.pair for views in trials]
    seconds = np.array([i for i in range(1, len(pairs)) if pairs[i] == pairs[i - 1] is not None])
    places[BOTH] = np.stack([seconds - 1, seconds])  # the trials of a pair follow each other
    known = {group: own for group, own in places.items() if own.size}
    return {
        "groups": {group: own.shape[1] for group, own in known.items()},
        "accuracy": {
            name: {group: round(float(right[own].prod(axis=0).mean()), 6) for group, own in known.items()}
            for name, right in rights.items()
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
    known: Mapping[str, Policy | Guess] = {**POLICIES, **GUESSES}
    rows = tuple((name, *own.values(), known[name].meaning) for name, own in facts["accuracy"].items())
    return Table("expected_accuracy", "Expected accuracy", heads, rows)


def trial_predictors(trials: Sequence[Views]) -> Iterator[Predictor]:
    """Yield predictors of trials, which are the items of the task; the options are the open cells."""
    alike = POLICIES["look-alike"]  # which does not need the instruction
    yield known("look-alike", alike.meaning, np.array([expected_accuracy(alike, views) for views in trials]))

    def grid(task: Task, learn: Places, ask: Places) -> Guesses:
        cells = [(views, cell) for views in trials for cell in indexes(views.open)]
        rows = task.once("grid", lambda: counted_tokens([seen(*each) for each in cells]))
        return learned_choice(task, learn, ask, rows) or random_option(task, learn, ask)

    yield Predictor("grid", "regression over the items of the grid, without the instruction", grid, CELLS, True)


def seen(views: Views, cell: int) -> list[str]:
    """Return what is seen of the item in an open cell: where it is, and what is like it."""
    trial, own = views.trial, views.items[cell]
    assert own is not None
    column, row = cell % trial.width, cell // trial.width
    others = {other: views.items[other] for other in indexes(views.all & ~(1 << cell))}
    blocked = {other: item for other, item in others.items() if trial.blocked >> other & 1}
    near = [each for each in blocked if abs(each % trial.width - column) + abs(each // trial.width - row) == 1]
    found = [
        f"{trial.width}x{trial.height} cell {cell}",
        f"column {column}",
        f"row {row}",
        f"item {own.name}",
        *(f"word {word}" for word in sorted(own.true)),
        f"blocked items beside, {len(near)}",
        f"items, tenth {10 * len(others) // len(trial.cells)}",
    ]
    for name, beside in (("all", others), ("blocked", blocked)):
        items = [item for item in beside.values() if item]
        kin = [item.size for item in items if item.kind == own.kind]
        shared = [len(own.true & item.true) for item in items]
        found += [
            f"shared with {name}, {sum(shared)}",
            f"shared at most with {name}, {max(shared, default=0)}",
            f"kind among {name}, {len(kin)}",
            f"larger of kind among {name}, {sum(size > own.size for size in kin)}",
            f"smaller of kind among {name}, {sum(size < own.size for size in kin)}",
        ]
    return found
