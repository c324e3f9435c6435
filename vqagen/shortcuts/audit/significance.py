"""Tests of an audit: is a guess better than chance, and how far, if items of one cluster are not independent?

Two-sided: guesses below chance are a sign of folds that betray each other, or of answers that are balanced too well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vqagen.extras import needed
from vqagen.score.intervals import LEVEL, clustered_mean, student_test
from vqagen.shortcuts.audit.folds import WHAT

Floats = NDArray[np.float64]
FEW_CLUSTERS = 10
"""Clusters below which nothing is concluded."""


class ChanceDifference(NamedTuple):
    """The mean difference of accuracy and chance, with its 95 % interval and the p-value of a two-sided test."""

    mean: float
    low: float
    high: float
    p: float


def difference(scores: Floats, chance: Floats, clusters: NDArray[np.int64]) -> ChanceDifference:
    """Test whether `scores` (the probability of a right answer of each item) differ from chance.

    Independent items with one chance and right or wrong answers are tested by the exact binomial test, others by the
    cluster-robust standard error of the mean difference and Student's t.
    """
    number = len(np.unique(clusters))
    if number < FEW_CLUSTERS:
        return ChanceDifference(float(np.mean(scores - chance)), -1.0, 1.0, 1.0)
    if number == len(scores) and np.ptp(chance) == 0 and 0 < chance[0] < 1 and set(np.unique(scores)) <= {0.0, 1.0}:
        return _binomial(int(scores.sum()), len(scores), float(chance[0]))
    estimate = clustered_mean(scores - chance, clusters)
    mean = estimate.mean
    if estimate.error < 1e-12:
        return ChanceDifference(mean, mean, mean, 1.0 if abs(mean) < 1e-12 else 0.0)
    (low, high), p = student_test(estimate, WHAT)
    return ChanceDifference(mean, low, high, p)


def _binomial(right: int, n: int, chance: float) -> ChanceDifference:
    test: Any = needed("scipy.stats", "stats", WHAT).binomtest(right, n, chance)
    low, high = test.proportion_ci(LEVEL, "wilson")
    return ChanceDifference(right / n - chance, float(low) - chance, float(high) - chance, float(test.pvalue))


def uniform_p(counts: Sequence[int]) -> float:
    """Return the p-value of Pearson's test that counts are equally likely."""
    return float(needed("scipy.stats", "stats", WHAT).chisquare(counts).pvalue)
