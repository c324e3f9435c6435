"""Intervals of means, such as accuracies, and Holm's correction.

Scores are numbers from 0 to 1, one for each question. Questions about one image are no independent evidence: Wilson's
interval of 1,000 questions about 100 images, of which the images explain a fifth of the variance, holds the true
accuracy in 76 % of samples in place of 95 % (2,000 simulated samples). `clusters` are therefore the numbers of the
images. numpy and the standard library are enough for all but the p of Student's t: the tests compare each function with
scipy or statsmodels.
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
Numbers = npt.NDArray[Any]
_ROUNDING = 1e-12


Interval = tuple[float, float]
"""The bounds, low and high, within which the true mean lies in 95 % of samples."""


class ClusteredMean(NamedTuple):
    """A mean with its cluster-robust standard error."""

    mean: float
    error: float
    """NaN if there is only one cluster."""
    clusters: int

    def interval(self, least: float = 0.0, most: float = 1.0) -> Interval:
        """Return Student's interval, cut at the least and the most that a mean can be; all of it for one cluster."""
        if math.isnan(self.error):
            return least, most
        half = float(student_quantiles(np.array([self.clusters - 1]))[0]) * self.error
        return max(least, self.mean - half), min(most, self.mean + half)


def student_test(estimate: ClusteredMean, what: str) -> tuple[Interval, float]:
    """Return the interval, and the two-sided p, of Student's t-test that a mean is 0; its error must be above 0.

    Of few clusters, the normal distribution would find differences that are none: of six, in 11 % of samples in place
    of 5 %. `what` names the task in the message about the missing extra.
    """
    t = abs(estimate.mean) / estimate.error
    p = 2 * needed("scipy.special", "stats", what).stdtr(estimate.clusters - 1, -t)
    return estimate.interval(-math.inf, math.inf), float(p)


def quantile(level: float = LEVEL) -> float:
    """Return the number of standard errors on each side of a mean in a two-sided interval: 1.96 at 95 %."""
    return NormalDist().inv_cdf((1 + level) / 2)


def student_quantiles(df: Numbers) -> Numbers:
    """Return the number of standard errors on each side of a mean in Student's two-sided interval of 95 %.

    1 and 2 degrees of freedom have a closed form; others Fisher's expansion (Abramowitz and Stegun 26.7.5), which lies
    0.12 % below the true one at 3 degrees and less at more.

    >>> student_quantiles(np.array([1, 2, 9, 1000])).round(2).tolist()
    [12.71, 4.3, 2.26, 1.96]
    """
    z, n = quantile(), np.maximum(df, 1).astype(float)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    series = z + sum(term / n**power for power, term in enumerate(terms, 1))
    one, two = math.tan(math.pi * LEVEL / 2), LEVEL * math.sqrt(2 / (1 - LEVEL**2))
    return np.where(df <= 1, one, np.where(df == 2, two, series))


def wilson(correct: float, n: int, level: float = LEVEL) -> Interval:
    """Return Wilson's interval of `correct` of `n`; 0 to 1 for n = 0. Sums of soft scores are taken as counts.

    >>> [round(bound, 4) for bound in wilson(10383, 28020)]
    [0.3649, 0.3762]
    """
    if n == 0:
        return 0.0, 1.0
    low, high = _wilson(np.array([correct / n]), np.array([n]), np.array([quantile(level)]))
    return float(low[0]), float(high[0])


def _wilson(shares: Numbers, n: Numbers, z: Numbers) -> tuple[Numbers, Numbers]:
    """Return the lower and upper bounds of shares of n each, z standard errors apart."""
    middle = shares + z * z / (2 * n)
    half = z * np.sqrt(np.maximum(shares * (1 - shares), 0) / n + z * z / (4 * n * n))
    whole = 1 + z * z / n
    low = np.where(shares <= 0, 0, np.maximum((middle - half) / whole, 0))
    return low, np.where(shares >= 1, 1, np.minimum((middle + half) / whole, 1))


def clustered_mean(scores: Numbers, clusters: Numbers) -> ClusteredMean:
    """Return the mean with the standard error that statsmodels' OLS on a constant gives with `cov_type="cluster"`."""
    means, errors, counts, _ = _clustered_means(scores, clusters, np.zeros(len(scores), np.int64), 1)
    return ClusteredMean(float(means[0]), float(errors[0]), int(counts[0]))


def cluster_interval(scores: Numbers, clusters: Numbers) -> Interval:
    """Return the interval of the mean of scores from 0 to 1; see `cluster_intervals`."""
    low, high = cluster_intervals(scores, clusters, np.zeros(len(scores), np.int64), 1)
    return float(low[0]), float(high[0])


def cluster_intervals(scores: Numbers, clusters: Numbers, groups: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """Return the lower and upper bounds of the mean scores of groups 0 to `count` - 1.

    `groups` has the group of each score; scores of negative groups are left out. An interval is Wilson's for as many
    questions as would be equally certain if they were independent (the variance of one over the square of the
    cluster-robust standard error), with Student's t for the number of clusters. If each cluster has one question, it is
    plainly Wilson's. If all clusters have the same mean, as when all answers are right, it is that of the clusters.
    """
    means, errors, clustered, sizes = _clustered_means(scores, clusters, groups, count)
    is_even = ~(errors > _ROUNDING)  # NaN, too
    effective = means * (1 - means) / np.where(is_even, 1, errors) ** 2
    n = np.where(clustered == sizes, sizes, np.where(is_even, clustered, effective))
    z = np.where((clustered == sizes) | (clustered < 2), quantile(), student_quantiles(clustered - 1))
    low, high = _wilson(means, np.maximum(n, _ROUNDING), z)
    return np.where(sizes > 0, low, 0.0), np.where(sizes > 0, high, 1.0)


def _clustered_means(
    scores: Numbers, clusters: Numbers, groups: Numbers, count: int
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return the mean of each group, its cluster-robust standard error, its clusters and its scores, in numbers."""
    kept = groups >= 0
    scores, clusters, groups = scores[kept], clusters[kept].astype(np.int64), groups[kept].astype(np.int64)
    width = int(clusters.max(initial=0)) + 1
    cells, places = np.unique(groups * width + clusters, return_inverse=True)
    owners, totals, numbers = cells // width, np.bincount(places, scores), np.bincount(places)
    sizes, clustered = np.bincount(groups, minlength=count), np.bincount(owners, minlength=count)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.bincount(groups, scores, count) / sizes
        squares = np.bincount(owners, (totals - means[owners] * numbers) ** 2, count)
        errors = np.where(clustered < 2, np.nan, np.sqrt(clustered / (clustered - 1) * squares) / sizes)
    return means, errors, clustered, sizes


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
