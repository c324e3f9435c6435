"""Policies that answer trials: the right one, and each way to miss a view or words.

A policy chooses a set of cells, of which it answers one at random; so its expected accuracy in a trial is one over the
number of chosen cells if the right one is among them. Policies see a trial as the two views of its grid.

    views = Views(read_trial(record, catalogue))
    meaning, choose = POLICIES["egocentric"]
    choose(views)                        # a set of cells
    expected_accuracy(choose, views)     # 0.0 in a test trial with a rule
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vqagen.bits import Objects, indexes, union_of
from vqagen.tasks.director.rules import (
    CLASS_OF,
    RELATION,
    STEPS,
)
from vqagen.tasks.director.views import Views

Choose = Callable[[Views], Objects]
"""A way to answer: any of these cells."""


def expected_accuracy(choose: Choose, views: Views) -> float:
    """Return the probability that a policy answers right."""
    chosen = choose(views)
    return (chosen & views.trial.answer).bit_count() / max(chosen.bit_count(), 1)


def _ignore_rule(views: Views) -> Objects:
    if CLASS_OF[views.trial.rule] != RELATION:
        return views.fitting & views.open
    cells = 0
    for rule in STEPS:
        cells |= views.ahead(views.fitting, views.open, rule)
    return cells


def _next_best(passed: int) -> Choose:
    """Return the answers that the participant would give if the own answers, so many times, were not there."""

    def choose(views: Views) -> Objects:
        trial, seen, answers = views.trial, views.all, views.own
        for _ in range(passed):
            seen &= ~answers
            rest = views.picked(seen, trial.criteria, trial.rule)
            if not rest:
                break
            answers = rest
        return answers

    return choose


def _look_alike(views: Views) -> Objects:
    """Return the open items that have the most words in common with all other items, whatever the instruction says."""
    alike = {cell: likeness(views, cell) for cell in indexes(views.open)}
    return union_of(cell for cell, number in alike.items() if number == max(alike.values()))


POLICIES: Mapping[str, tuple[str, Choose]] = {
    "oracle": ("takes the director's view and words", lambda views: views.gold),
    "egocentric": ("answers for all items, blocked ones too", lambda views: views.own),
    "no-flip": (
        "takes the director's view, but left and right for the own ones",
        lambda views: views.picked(views.open, views.trial.criteria, views.heard),
    ),
    "self-centered": ("does neither", lambda views: views.picked(views.all, views.trial.criteria, views.heard)),
    "visible-only": (
        "egocentric; any open fitting item if that answer is blocked",
        lambda views: views.own & ~views.trial.blocked or _ignore_rule(views),
    ),
    "second-best": ("the next best of all items, blocked or not", _next_best(1)),
    "last": ("the last of all fitting items by the rule, blocked or not", _next_best(1000)),
    "random-match": ("any fitting item, blocked or not", lambda views: views.fitting),
    "ignore-rule": ("any open item of the description", _ignore_rule),
    "ignore-adjectives": (
        "looks for the noun only",
        lambda views: views.picked(views.open, frozenset({views.trial.noun}), views.trial.rule),
    ),
    "ignore-description": (
        "follows the rule among all open items",
        lambda views: (
            views.open
            if CLASS_OF[views.trial.rule] == RELATION
            else views.picked(views.open, frozenset(), views.trial.rule)
        ),
    ),
    "look-alike": ("the open item most like all others, without the instruction", _look_alike),
    "random-visible": ("any open item", lambda views: views.open),
}
"""Name of a policy -> its meaning, and what it chooses."""
BLIND = ("egocentric", "second-best", "last", "random-match")
"""Policies that read the instruction and ignore what is blocked."""


# Looks of cells -------------------------------------------------------------------------------------------------------


def likeness(views: Views, cell: int) -> int:
    """Return how many words are true of an item and of each other one, summed over these."""
    true = {other: item.true for other, item in enumerate(views.items) if item}
    return sum(len(true[cell] & words) for other, words in true.items() if other != cell)


def seen(views: Views, cell: int) -> list[str]:
    """Return what is seen of the item in an open cell: where it is, and what is like it."""
    trial, chosen = views.trial, views.items[cell]
    assert chosen is not None
    column, row = cell % trial.width, cell // trial.width
    others = {other: views.items[other] for other in indexes(views.all & ~(1 << cell))}
    blocked = {other: item for other, item in others.items() if trial.blocked >> other & 1}
    near = [other for other in blocked if abs(other % trial.width - column) + abs(other // trial.width - row) == 1]
    features = [
        f"{trial.width}x{trial.height} cell {cell}",
        f"column {column}",
        f"row {row}",
        f"item {chosen.name}",
        *(f"word {word}" for word in sorted(chosen.true)),
        f"blocked items beside, {len(near)}",
        f"items, tenth {10 * len(others) // len(trial.cells)}",
    ]
    for name, beside in (("all", others), ("blocked", blocked)):
        items = [item for item in beside.values() if item]
        kin = [item.size for item in items if item.kind == chosen.kind]
        shared = [len(chosen.true & item.true) for item in items]
        features += [
            f"shared with {name}, {sum(shared)}",
            f"shared at most with {name}, {max(shared, default=0)}",
            f"kind among {name}, {len(kin)}",
            f"larger of kind among {name}, {sum(size > chosen.size for size in kin)}",
            f"smaller of kind among {name}, {sum(size < chosen.size for size in kin)}",
        ]
    return features
