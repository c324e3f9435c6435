"""The block on counting questions: exact answers, how far the others are off, and in which direction."""

from __future__ import annotations

from typing import NamedTuple

from vqagen.score.report.table import COUNT, DECIMAL, SHARE, Table, columns
from vqagen.score.scoring.blocks.answer_counts import AnswerCounts, share, total

_COLUMNS = columns(
    n=COUNT, exact=SHARE, within_one=SHARE, off_by_one=SHARE, mean_error=DECIMAL, bias=DECIMAL, no_number=COUNT
)


class Counting(NamedTuple):
    """The figures of the counting questions; None where there is nothing to divide by."""

    n: int
    exact: float | None
    within_one: float | None
    off_by_one: float | None
    mean_error: float | None
    """Mean absolute error of the numbers that were given."""
    bias: float | None
    """Mean of given minus right number; above 0 for a model that counts too many."""
    no_number: int
    """Questions without a number as answer; they are wrong, and in no mean."""


def counting(counts: AnswerCounts) -> Counting:
    """Return the figures of counting questions."""
    n = total(counts)
    errors = {
        pair: int(pair[1]) - int(pair[0]) for pair in counts if is_whole_number(pair[0]) and is_whole_number(pair[1])
    }
    numbers = sum(counts[pair] for pair in errors)
    exact = sum(counts[pair] for pair, error in errors.items() if error == 0)
    near = sum(counts[pair] for pair, error in errors.items() if abs(error) == 1)
    return Counting(
        n,
        share(exact, n),
        share(exact + near, n),
        share(near, n),
        share(sum(counts[pair] * abs(error) for pair, error in errors.items()), numbers),
        share(sum(counts[pair] * error for pair, error in errors.items()), numbers),
        n - numbers,
    )


def counting_table(counts: AnswerCounts) -> Table | None:
    """Return the block; None if there are no counting questions."""
    if not counts:
        return None
    note = "mean error: mean distance of the numbers given; bias: above 0 if too many are counted"
    return Table("counting", "Counting questions", _COLUMNS, (tuple(counting(counts)),), (note,))


def is_whole_number(text: str) -> bool:
    """Return True for digits, perhaps after a minus sign.

    >>> is_whole_number("10"), is_whole_number("-1"), is_whole_number("two")
    (True, True, False)
    """
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and len(digits) < 19
