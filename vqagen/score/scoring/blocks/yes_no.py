"""The block on yes/no questions. "yes" is the positive answer, as in POPE.

A question without an answer, or with another answer than yes and no, counts as wrong, and as no "yes".
"""

from __future__ import annotations

from typing import NamedTuple

from vqagen.score.report.table import COUNT, SHARE, Table, columns
from vqagen.score.scoring.blocks.answer_counts import AnswerCounts, share, total

YES, NO = "yes", "no"
_COLUMNS = columns(
    n=COUNT, accuracy=SHARE, precision=SHARE, recall=SHARE, F1=SHARE, yes_ratio=SHARE, right_ratio=SHARE, neither=COUNT
)


class YesNo(NamedTuple):
    """The figures of the yes/no questions; None where there is nothing to divide by."""

    n: int
    accuracy: float | None
    precision: float | None
    """Share of right ones among the answers "yes"."""
    recall: float | None
    """Share of the questions with the right answer "yes" that were answered "yes"."""
    f1: float | None
    yes_ratio: float | None
    """Share of the questions that were answered "yes"."""
    right_ratio: float | None
    """Share of the questions whose right answer is "yes"."""
    neither: int
    """Questions with neither answer."""


def yes_no(counts: AnswerCounts) -> YesNo:
    """Return the figures of yes/no questions."""
    n, hits, misses = total(counts), counts.get((YES, YES), 0), counts.get((NO, NO), 0)
    said_yes = total(counts, lambda _, given: given == YES)
    are_yes = total(counts, lambda right, _: right == YES)
    return YesNo(
        n,
        share(hits + misses, n),
        share(hits, said_yes),
        share(hits, are_yes),
        share(2 * hits, said_yes + are_yes),
        share(said_yes, n),
        share(are_yes, n),
        total(counts, lambda _, given: given not in (YES, NO)),
    )


def yes_no_table(counts: AnswerCounts) -> Table | None:
    """Return the block; None if there are no yes/no questions."""
    if not counts:
        return None
    note = 'yes ratio: share of answers "yes"; right ratio: share of questions whose right answer is "yes"'
    return Table("yes_no", "Yes/no questions", _COLUMNS, (tuple(yes_no(counts)),), (note,))
