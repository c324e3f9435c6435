"""The block on the distribution of answers: does a model give each answer as often as it is right, group by group?

GQA's measure is the chi-square distance of given from right answers in each group, averaged by the size of the groups
and divided by 100. An answer that is right nowhere in its group does not count in it; the Jensen–Shannon distance (base
2, from 0 to 1), which is reported beside it, counts every answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log2, sqrt
from typing import NamedTuple

from vqagen.judge.report.table import COUNT, DECIMAL, SHARE, TEXT, Table, columns
from vqagen.judge.scoring.blocks.answer_counts import AnswerCounts, givens, rights, total

_COLUMNS = columns(group=TEXT, n=COUNT, chi_square=DECIMAL, Jensen_Shannon=SHARE)
OVERALL = "all groups"


class Distance(NamedTuple):
    """The distances between the given and the right answers of some questions."""

    n: int
    chi_square: float
    jensen_shannon: float


def distance(counts: AnswerCounts) -> Distance:
    """Return the distances of one group."""
    right, given = rights(counts), givens(counts)
    chi_square = sum((given[answer] - number) ** 2 / number for answer, number in right.items())
    return Distance(total(counts), chi_square, _jensen_shannon(right, given, total(counts)))


def _jensen_shannon(right: Mapping[str, int], given: Mapping[str, int], n: int) -> float:
    """Return the square root of the Jensen–Shannon divergence in bits, as scipy.spatial.distance.jensenshannon does."""
    divergence = 0.0
    for answer in sorted({*right, *given}):
        p, q = right.get(answer, 0) / n, given.get(answer, 0) / n
        middle = (p + q) / 2
        divergence += sum(x * log2(x / middle) for x in (p, q) if x) / 2
    return sqrt(max(divergence, 0.0))


def overall(groups: Mapping[str, AnswerCounts]) -> Distance:
    """Return the distances of all groups together: means weighted by their sizes; chi-square is divided by 100."""
    each = [distance(counts) for counts in groups.values()]
    n = sum(one.n for one in each)
    chi_square = sum(one.n * one.chi_square for one in each) / n / 100
    return Distance(n, chi_square, sum(one.n * one.jensen_shannon for one in each) / n)


def distribution_table(groups: Mapping[str, AnswerCounts], by: str) -> Table | None:
    """Return the block: all groups together, then each."""
    groups = {name: counts for name, counts in groups.items() if counts}
    if not groups:
        return None
    rows = ((OVERALL, *overall(groups)), *((name, *distance(counts)) for name, counts in groups.items()))
    notes = (
        f"groups: {by}; 0 if each answer is given as often as it is right; lower is better",
        f"chi square of {OVERALL}: mean weighted by size, divided by 100, as GQA's",
    )
    return Table("distribution", "Distribution of answers", _COLUMNS, rows, notes)
