"""Pearson's chi-square test of two rows of counts: do both have the same distribution?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import sqrt
from typing import Any

LEAST = 5.0
"""Least expected count of a column; rarer values are counted together."""
NORMAL_QUANTILE = 3.72
"""The normal quantile of 1 - 0.0001: one comparison in ten thousand differs by chance."""


def differ(some: Mapping[Any, int], others: Mapping[Any, int]) -> bool:
    """Return whether two rows of counts differ more than chance explains."""
    columns = _columns(Counter(some), Counter(others))
    totals = [sum(row) for row in zip(*columns, strict=True)]
    if len(columns) < 2 or not all(totals):
        return False
    statistic = 0.0
    for column in columns:
        for count, total in zip(column, totals, strict=True):
            expected = sum(column) * total / sum(totals)
            statistic += (count - expected) ** 2 / expected
    return statistic > _critical(len(columns) - 1)


def _columns(some: Counter[Any], others: Counter[Any]) -> list[tuple[int, int]]:
    """Return the counts of each value in both rows; values that are too rare share a column."""
    total = some.total() + others.total()
    least = LEAST * total / max(1, min(some.total(), others.total()))
    columns, rare = [], (0, 0)
    for value in {**some, **others}:
        column = (some[value], others[value])
        if sum(column) >= least:
            columns.append(column)
        else:
            rare = (rare[0] + column[0], rare[1] + column[1])
    return [*columns, rare] if sum(rare) else columns


def _critical(freedom: int) -> float:
    """Return the value that the statistic seldom exceeds (Wilson and Hilferty, 1931)."""
    step = 2 / (9 * freedom)
    return freedom * (1 - step + NORMAL_QUANTILE * sqrt(step)) ** 3
