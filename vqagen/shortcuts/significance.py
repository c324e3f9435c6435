"""Is a guess better than chance, and how far, if items of one cluster are no independent evidence?

Two-sided: guesses below chance are a sign of folds that betray each other, or of answers that are balanced too well.
"""

from __future__ import annotations

from typing import NamedTuple

from vqagen.score.intervals import clustered_mean, student_test
from vqagen.score.items.table import Codes
from vqagen.shortcuts.task import Floats

WHAT = "vqagen audit"
"""The command, in messages about missing extras."""
FEW_CLUSTERS = 10
"""Clusters below which nothing is concluded."""


class ChanceDifference(NamedTuple):
    """The mean difference of accuracy and chance, with its 95 % interval and the p-value of a two-sided test."""

    mean: float
    low: float
    high: float
    p: float


def difference(scores: Floats, chance: Floats, clusters: Codes) -> ChanceDifference:
    """Test whether `scores` (the probability of a right answer of each item) differ from chance.

    The test is Student's, with the cluster-robust standard error of the mean difference.
    """
    estimate = clustered_mean(scores - chance, clusters)
    mean = estimate.mean
    if estimate.clusters < FEW_CLUSTERS:
        return ChanceDifference(mean, -1.0, 1.0, 1.0)
    if estimate.error < 1e-12:
        return ChanceDifference(mean, mean, mean, 1.0 if abs(mean) < 1e-12 else 0.0)
    (low, high), p = student_test(estimate, WHAT)
    return ChanceDifference(mean, low, high, p)
