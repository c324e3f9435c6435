"""Intervals of means, such as accuracies: Wilson's and cluster-robust; and Holm's correction.

Scores are numbers from 0 to 1, one for each question. Questions about one image are no independent evidence, so
`clusters` gives the number of the image of each question. The standard library and numpy are enough for all of it but
Student's t: the tests compare each function with scipy or statsmodels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vqagen.extras import needed

LEVEL = 0.95
"""Share of samples whose intervals hold the true mean."""
RESAMPLES = 9999
"""Samples that a bootstrap draws."""
Numbers = npt.NDArray[Any]
_NORMAL = NormalDist()


class Interval(NamedTuple):
    """The bounds within which the true mean lies in 95 % of samples."""

    low: float
    high: float


class ClusteredMean(NamedTuple):
    """A mean with its cluster-robust standard error."""

    mean: float
    error: float
    """NaN if there is only one cluster."""
    clusters: int

    def interval(self, least: float = 0.0, most: float = 1.0, level: float = LEVEL) -> Interval:
        """Return the normal interval, cut at the least and the most that a score can be; all of it for one cluster."""
        if math.isnan(self.error):
            return Interval(least, most)
        half = quantile(level) * self.error
        return Interval(max(least, self.mean - half), min(most, self.mean + half))


class StudentTest(NamedTuple):
    """Student's t-test that a mean is 0."""

    interval: Interval
    p: float
    """Two-sided."""


def student_test(estimate: ClusteredMean, what: str) -> StudentTest:
    """Test a mean whose standard error is above 0, with one degree of freedom less than clusters.

    Of few clusters, the normal distribution would find differences that are none: of six, in 11 % of samples in place
    of 5 %. `what` names the task in the message about the missing extra.
    """
    student = needed("scipy.stats", "stats", what).t(estimate.clusters - 1)
    half = float(student.ppf((1 + LEVEL) / 2)) * estimate.error
    p = float(2 * student.sf(abs(estimate.mean) / estimate.error))
    return StudentTest(Interval(estimate.mean - half, estimate.mean + half), p)


def quantile(level: float = LEVEL) -> float:
    """Return the number of standard errors on each side of a mean in a two-sided interval: 1.96 at 95 %."""
    return _NORMAL.inv_cdf((1 + level) / 2)


def wilson(correct: float, n: int, level: float = LEVEL) -> Interval:
    """Return Wilson's interval of `correct` of `n`; 0 to 1 for n = 0. Sums of soft scores are taken as counts.

    >>> [round(bound, 4) for bound in wilson(10383, 28020)]
    [0.3649, 0.3762]
    """
    if n == 0:
        return Interval(0.0, 1.0)
    z, share = quantile(level), correct / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(max(share * (1 - share), 0.0) / n + z * z / (4 * n * n))
    low = 0.0 if correct <= 0 else max(0.0, middle - half)
    return Interval(low, 1.0 if correct >= n else min(1.0, middle + half))


def clustered_mean(scores: Numbers, clusters: Numbers) -> ClusteredMean:
    """Return the mean with the standard error that statsmodels' OLS on a constant gives with `cov_type="cluster"`."""
    if len(scores) == 0:
        return ClusteredMean(math.nan, math.nan, 0)
    mean = float(np.mean(scores))
    totals, sizes = _totals(scores, clusters)
    count = len(sizes)
    if count < 2:
        return ClusteredMean(mean, math.nan, count)
    squares = float(np.sum((totals - mean * sizes) ** 2))
    return ClusteredMean(mean, math.sqrt(count / (count - 1) * squares) / len(scores), count)


def cluster_interval(scores: Numbers, clusters: Numbers) -> Interval:
    """Return the cluster-robust interval of a mean of scores from 0 to 1.

    If all clusters have the same mean, as when all answers are right, the standard error would be 0: the interval is
    then Wilson's with the number of clusters for n.
    """
    estimate = clustered_mean(scores, clusters)
    if estimate.clusters == 0:
        return Interval(0.0, 1.0)
    if not estimate.error > 1e-12:
        return wilson(estimate.mean * estimate.clusters, estimate.clusters)
    return estimate.interval()


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm's method, in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, highest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda place: p_values[place])):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = highest
    return corrected


def _totals(scores: Numbers, clusters: Numbers) -> tuple[Numbers, Numbers]:
    """Return the sum of scores, and the number of questions, of each cluster that has any."""
    sizes = np.bincount(clusters)
    totals = np.bincount(clusters, weights=scores)
    return totals[sizes > 0], sizes[sizes > 0].astype(np.float64)
