"""Flags of raters and assignments: reasons to doubt their answers. A flag deletes nothing; scoring can leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import comb
from statistics import median
from typing import NamedTuple

from vqagen.errors import UsageError
from vqagen.human.answers import AnswerRow
from vqagen.human.scores.humanr import is_check_failed, toward_wrong
from vqagen.human.scores.settings import (
    CHECKS,
    FAST,
    HUMANR,
    INSTRUCTED,
    PARTIAL,
    SIDE,
    STRAIGHT,
    STRICT,
    WEBDRIVER,
    ScoreSettings,
)
from vqagen.human.store.roster import COMPLETE
from vqagen.human.study.item import CHECK, COMPARE, REAL
from vqagen.human.study.item import INSTRUCTED as INSTRUCTED_USE

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


class Exclusion(NamedTuple):
    """How much one kind of flag concerns, and whether it is left out."""

    kind: str
    raters: int
    assignments: int
    answers: int
    """Answers to real trials."""
    is_excluded: bool


def find_flags(rows: Sequence[AnswerRow], settings: ScoreSettings, automated: Iterable[str] = ()) -> tuple[Flag, ...]:
    """Return all flags, sorted. `automated` are assignments whose browser said that a program drives it."""
    fails = check_rule(settings.check_rule, rows)
    by_assignment, by_rater = _grouped(rows, lambda row: row.assignment), _grouped(rows, lambda row: row.rater)
    found = [
        *_failed_checks(by_assignment, fails),
        *(_missing_checks(by_assignment) if settings.check_rule == STRICT else ()),
        *_failed_instructions(by_assignment),
        *(
            Flag(PARTIAL, of[0].rater, name, f"{of[0].state}, {len(of)} answers")
            for name, of in by_assignment.items()
            if of[0].state != COMPLETE
        ),
        *_habits(by_rater),
        *(
            Flag(WEBDRIVER, by_assignment[name][0].rater, "", f"in assignment {name}")
            for name in sorted(set(automated) & set(by_assignment))
        ),
    ]
    return tuple(sorted(found))


def check_rule(rule: str, rows: Iterable[AnswerRow]) -> Callable[[AnswerRow], bool]:
    """Return the test that an attention check fails, by a rule of `--check-rule`. UsageError for an impossible one."""
    if rule == HUMANR:
        return is_check_failed
    if rule == STRICT:
        return lambda row: toward_wrong(row) > row.least + (row.largest - row.least) / 4
    limit = int(rule)
    for row in rows:
        if row.use == CHECK and not row.least < limit <= row.largest:
            raise UsageError(f"--check-rule {rule} does not lie on the scale: give {row.least + 1} to {row.largest}")
    return lambda row: toward_wrong(row) >= limit


def excluded_rows(rows: Sequence[AnswerRow], flags: Sequence[Flag], kinds: Iterable[str]) -> list[AnswerRow]:
    """Return the answers that no flag of these kinds concerns."""
    chosen = [flag for flag in flags if flag.kind in set(kinds)]
    assignments = {flag.assignment for flag in chosen if flag.assignment}
    raters = {flag.rater for flag in chosen if not flag.assignment}
    return [row for row in rows if row.assignment not in assignments and row.rater not in raters]


def exclusions(
    rows: Sequence[AnswerRow], flags: Sequence[Flag], kinds: Iterable[str], excluded: Iterable[str]
) -> list[Exclusion]:
    """Return how much each kind of flag concerns."""
    left_out = set(excluded)
    found = []
    for kind in kinds:
        kept = {id(row) for row in excluded_rows(rows, flags, (kind,))}
        concerned = [row for row in rows if id(row) not in kept]
        real = sum(row.use == REAL for row in concerned)
        raters, assignments = {row.rater for row in concerned}, {row.assignment for row in concerned}
        found.append(Exclusion(kind, len(raters), len(assignments), real, kind in left_out))
    return found


def _failed_checks(
    by_assignment: Mapping[str, Sequence[AnswerRow]], fails: Callable[[AnswerRow], bool]
) -> Iterator[Flag]:
    for name, rows in by_assignment.items():
        checks = [row for row in rows if row.use == CHECK]
        failed = sum(map(fails, checks))
        if failed:
            yield Flag(CHECKS, rows[0].rater, name, f"{failed} of {len(checks)} failed")


def _missing_checks(by_assignment: Mapping[str, Sequence[AnswerRow]]) -> Iterator[Flag]:
    """Yield a flag for each assignment with fewer checks than another assignment of the same task."""
    most: Counter[str] = Counter()
    found = {name: sum(row.use == CHECK for row in rows) for name, rows in by_assignment.items()}
    for name, rows in by_assignment.items():
        most[rows[0].task] = max(most[rows[0].task], found[name])
    for name, rows in by_assignment.items():
        missing = most[rows[0].task] - found[name]
        if missing:
            yield Flag(CHECKS, rows[0].rater, name, f"{missing} of {most[rows[0].task]} missing")


def _failed_instructions(by_assignment: Mapping[str, Sequence[AnswerRow]]) -> Iterator[Flag]:
    for name, rows in by_assignment.items():
        instructed = [row for row in rows if row.use == INSTRUCTED_USE]
        failed = sum(row.value != row.gold_value for row in instructed)
        if failed:
            yield Flag(INSTRUCTED, rows[0].rater, name, f"{failed} of {len(instructed)} failed")


def _habits(by_rater: Mapping[str, Sequence[AnswerRow]]) -> Iterator[Flag]:
    """Yield the flags of raters by all their answers to real trials."""
    for rater, rows in by_rater.items():
        real = [row for row in rows if row.use == REAL]
        times = [row.rt_ms for row in real if row.rt_ms]
        if times and median(times) < FAST_MS:
            yield Flag(FAST, rater, "", f"median {median(times):.0f} ms")
        if len(real) < FEWEST:
            continue
        value, count = Counter(row.value for row in real).most_common(1)[0]
        if count >= STRAIGHT_SHARE * len(real):
            yield Flag(STRAIGHT, rater, "", f"{value} in {count} of {len(real)}")
        sided = [row.value - (row.least + row.largest) / 2 for row in real if row.kind == COMPARE]
        left, right = sum(value < 0 for value in sided), sum(value > 0 for value in sided)
        if left + right >= FEWEST and sign_test(left, right) < SIDE_P:
            yield Flag(SIDE, rater, "", f"left in {left}, right in {right}")


def sign_test(left: int, right: int) -> float:
    """Return the probability of sides as unequal as these, or more, where both are as likely.

    >>> sign_test(8, 0)
    0.0078125
    """
    n, few = left + right, min(left, right)
    return min(1.0, 2 * sum(comb(n, k) for k in range(few + 1)) / 2.0**n)


def _grouped(rows: Sequence[AnswerRow], key: Callable[[AnswerRow], str]) -> dict[str, list[AnswerRow]]:
    found: dict[str, list[AnswerRow]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found
