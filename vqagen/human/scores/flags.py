"""Flags of raters and assignments: reasons to doubt their answers. A flag deletes nothing; scoring can leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import comb
from statistics import median
from typing import NamedTuple

from vqagen.human.answers import AnswerRow
from vqagen.human.scores.methods import fails_check
from vqagen.human.scores.samples import grouped, lean_of, said
from vqagen.human.settings import (
    CHECKS,
    FAST,
    INSTRUCTED,
    PARTIAL,
    SIDE,
    STRAIGHT,
    WEBDRIVER,
)
from vqagen.human.store.study_state import COMPLETE
from vqagen.human.study.item import ANSWER, CHECK, COMPARE, REAL

FAST_MS = 1500
"""Median milliseconds of an answer below which a rater is flagged as fast."""
FEWEST = 8
"""Answers of a rater below which equal values or sides are no sign of anything."""
STRAIGHT_SHARE = 0.9
SIDE_P = 0.01
"""Probability below which as many answers on one side are no chance, if sides are as likely."""


class Flag(NamedTuple):
    """A reason to doubt answers."""

    kind: str
    rater: str
    assignment: str
    """"" for all answers of the rater."""
    detail: str


def find_flags(rows: Sequence[AnswerRow], automated: Iterable[str] = ()) -> tuple[Flag, ...]:
    """Return all flags, sorted. `automated` are assignments whose browser said that a program drives it."""
    by_assignment = grouped(rows, lambda row: row.assignment)
    flags = [flag for answers in by_assignment.values() for flag in _of_assignment(answers)]
    flags += [flag for answers in grouped(rows, lambda row: row.rater).values() for flag in _of_rater(answers)]
    flags += [
        Flag(WEBDRIVER, by_assignment[name][0].rater, "", f"in assignment {name}")
        for name in sorted(set(automated) & by_assignment.keys())
    ]
    return tuple(sorted(flags))


def excluded_rows(rows: Sequence[AnswerRow], flags: Sequence[Flag], kinds: Iterable[str]) -> list[AnswerRow]:
    """Return the answers that no flag of these kinds concerns."""
    chosen = [flag for flag in flags if flag.kind in set(kinds)]
    assignments = {flag.assignment for flag in chosen if flag.assignment}
    raters = {flag.rater for flag in chosen if not flag.assignment}
    return [row for row in rows if row.assignment not in assignments and row.rater not in raters]


def concerned(rows: Sequence[AnswerRow], flags: Sequence[Flag], kind: str) -> tuple[int, int, int]:
    """Return how many raters, assignments, and answers to real trials one kind of flag concerns."""
    kept = set(map(id, excluded_rows(rows, flags, (kind,))))
    left_out = [row for row in rows if id(row) not in kept]
    raters, assignments = {row.rater for row in left_out}, {row.assignment for row in left_out}
    return len(raters), len(assignments), sum(row.use == REAL for row in left_out)


def _of_assignment(rows: Sequence[AnswerRow]) -> Iterator[Flag]:
    first = rows[0]
    for kind, use, is_wrong in ((CHECKS, CHECK, fails_check), (INSTRUCTED, INSTRUCTED, _is_disobeyed)):
        asked = [row for row in rows if row.use == use]
        if failed := sum(map(is_wrong, asked)):
            yield Flag(kind, first.rater, first.assignment, f"{failed} of {len(asked)} failed")
    if first.state != COMPLETE:
        yield Flag(PARTIAL, first.rater, first.assignment, f"{first.state}, {len(rows)} answers")


def _is_disobeyed(row: AnswerRow) -> bool:
    return said(row.value) != said(row.gold if row.kind == ANSWER else row.gold_value)


def _of_rater(rows: Iterable[AnswerRow]) -> Iterator[Flag]:
    """Yield the flags of a rater by all answers to real trials: by their times, and by values on scales."""
    real = [row for row in rows if row.use == REAL]
    times = [
        min(known) for row in real if (known := [duration for duration in (row.rt_ms, row.server_ms) if duration > 0])
    ]
    if times and median(times) < FAST_MS:
        yield Flag(FAST, real[0].rater, "", f"median {median(times):.0f} ms")
    scaled = [row for row in real if row.kind != ANSWER]
    if len(scaled) < FEWEST:
        return
    value, count = Counter(row.value for row in scaled).most_common(1)[0]
    if count >= STRAIGHT_SHARE * len(scaled):
        yield Flag(STRAIGHT, scaled[0].rater, "", f"{value} in {count} of {len(scaled)}")
    leans = [lean_of(row) for row in scaled if row.kind == COMPARE]
    left, right = sum(lean < 0 for lean in leans), sum(lean > 0 for lean in leans)
    if left + right >= FEWEST and sign_test(left, right) < SIDE_P:
        yield Flag(SIDE, scaled[0].rater, "", f"left in {left}, right in {right}")


def sign_test(left: int, right: int) -> float:
    """Return the probability of sides as unequal as these, or more, where both are as likely.

    >>> sign_test(8, 0)
    0.0078125
    """
    n, few = left + right, min(left, right)
    return min(1.0, 2 * sum(comb(n, k) for k in range(few + 1)) / 2.0**n)
