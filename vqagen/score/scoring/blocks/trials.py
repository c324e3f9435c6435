"""The blocks on trials: the gap between control and test trials, and the kinds of wrong answers.

Control and test trials differ in whether the director's view matters. A model that overlooks the view is right in
control trials alone, so the gap is the cost of taking a perspective.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple

from vqagen.score.intervals import Interval, wilson
from vqagen.score.report.table import COUNT, SHARE, TEXT, Cell, Table, columns

CONTROL, TEST = "control", "test"
NO_ANSWER_KIND = "no answer"
_GAP_COLUMNS = columns(trials=TEXT, n=COUNT, accuracy=SHARE, low=SHARE, high=SHARE)


class Answered(NamedTuple):
    """Right answers among all."""

    correct: int
    n: int


def gap(control: Answered, test: Answered) -> tuple[float, Interval]:
    """Return the accuracy in control trials minus that in test trials, with Newcombe's hybrid score interval.

    Newcombe (1998), Interval estimation for the difference between independent proportions, method 10.
    """
    first, second = control.correct / control.n, test.correct / test.n
    low, high = wilson(*control), wilson(*test)
    difference = first - second
    below = sqrt((first - low.low) ** 2 + (high.high - second) ** 2)
    above = sqrt((low.high - first) ** 2 + (second - high.low) ** 2)
    return difference, Interval(difference - below, difference + above)


def gap_table(types: Mapping[str, Answered]) -> Table | None:
    """Return the accuracies of control and test trials and their gap; None without trials of both types.

    Tests from "your point of view" are a type of their own, which is shown and does not count for the gap.
    """
    if not (types.get(CONTROL) and types.get(TEST)):
        return None
    difference, interval = gap(types[CONTROL], types[TEST])
    rows = tuple((name, each.n, each.correct / each.n, *wilson(*each)) for name, each in types.items())
    both = types[CONTROL].n + types[TEST].n
    note = "gap: control minus test; above 0 if the director's view is overlooked"
    return Table("gap", "Perspective-taking gap", _GAP_COLUMNS, (*rows, ("gap", both, difference, *interval)), (note,))


def mistakes_table(counts: Mapping[tuple[str, str], int], order: tuple[str, ...]) -> Table | None:
    """Return the kinds of answers by type of trial, by (type, kind) -> trials; kinds stand in an order."""
    if not counts:
        return None
    types = sorted({type for type, _ in counts})
    totals = {type: sum(number for (each, _), number in counts.items() if each == type) for type in types}
    forms = {**{f"{type}_n": COUNT for type in types}, **{f"{type}_share": SHARE for type in types}}
    rows: list[tuple[Cell, ...]] = []
    for kind in (*order, NO_ANSWER_KIND):
        numbers = [counts.get((type, kind), 0) for type in types]
        if any(numbers):
            shares = [number / totals[type] for number, type in zip(numbers, types, strict=True)]
            rows.append((kind, *numbers, *shares))
    note = "egocentric: right for someone who overlooks what the director cannot see; foil: lacks one adjective"
    return Table("mistakes", "Kinds of answers", columns(answer=TEXT, **forms), tuple(rows), (note,))
