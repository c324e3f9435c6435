"""Intervals of mean scores whose answers share raters and images.

The variance is that of two-way clusters (Cameron, Gelbach and Miller 2011): V = V(rater) + V(image) - V(rater and
image), each with G / (G - 1), and never less than V(rater) or V(image). The interval is Student's, with the smaller
number of clusters less one for degrees of freedom.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from vqagen.extras import needed
from vqagen.human.scores.samples import Sample
from vqagen.score.intervals import LEVEL, Numbers, clustered_mean

_WHAT = "vqagen human score"
_ROUNDING = 1e-24
"""Variances of equal answers are not larger."""


class Estimate(NamedTuple):
    """A mean score, or a difference of two, with its interval."""

    n: int
    raters: int
    images: int
    mean: float
    error: float | None
    """The standard error."""
    df: int | None
    low: float | None
    high: float | None
    p: float | None
    """The probability of a mean as far from 0 where the true one is 0."""
    why: str = ""
    """Why there is no interval."""


class Variances(NamedTuple):
    """The parts of the variance of a mean."""

    rater: float
    image: float
    cell: float

    @property
    def two_way(self) -> float:
        """The variance of two-way clusters, which can be too small, even negative."""
        return self.rater + self.image - self.cell

    @property
    def used(self) -> float:
        """The variance that the interval is made of."""
        return max(self.two_way, self.rater, self.image)


def variances(influence: Numbers, raters: Numbers, images: Numbers) -> Variances:
    """Return the variances of a mean by the influence of each score on it; NaN for a single cluster."""
    cells = np.unique(np.stack([raters, images]), axis=1, return_inverse=True)[1].reshape(-1)
    return Variances(*(_variance(influence, clusters) for clusters in (raters, images, cells)))


def _variance(influence: Numbers, clusters: Numbers) -> float:
    """Return G / (G - 1) times the sum of squares of the influence of clusters."""
    return (clustered_mean(influence, clusters).error * len(influence)) ** 2


def two_way_interval(sample: Sample) -> Estimate:
    """Return the mean of a sample with the interval of two-way clusters."""
    return _two_way(sample.mean, sample.influence(), sample.raters, sample.images)


def difference(first: Sample, second: Sample) -> Estimate:
    """Return the mean of a first sample minus that of a second one, which shares raters and images with it."""
    influence = np.concatenate([first.influence(), -second.influence()])
    raters = np.concatenate([first.raters, second.raters])
    return _two_way(first.mean - second.mean, influence, raters, np.concatenate([first.images, second.images]))


def _two_way(mean: float, influence: Numbers, raters: Numbers, images: Numbers) -> Estimate:
    """Return a mean with Student's interval, or why there is none."""
    counts = len(np.unique(raters)), len(np.unique(images))
    few = [f"one {name}" for name, count in zip(("rater", "image"), counts, strict=True) if count < 2]
    if few:
        return Estimate(len(influence), *counts, mean, None, None, None, None, None, f"{' and '.join(few)} only")
    variance, df = variances(influence, raters, images).used, min(counts) - 1
    error = math.sqrt(variance) if variance > _ROUNDING else 0.0
    half = t_quantile(df) * error
    p = 2 * float(_special().stdtr(df, -abs(mean) / error)) if error > 0 else None
    why = "" if error > 0 else "all answers are equal"
    return Estimate(len(influence), *counts, mean, error, df, mean - half, mean + half, p, why)


def t_quantile(df: int) -> float:
    """Return the number of standard errors on each side of a mean in Student's two-sided interval."""
    return float(_special().stdtrit(df, (1 + LEVEL) / 2))


def _special() -> Any:
    return needed("scipy.special", "human", _WHAT)
