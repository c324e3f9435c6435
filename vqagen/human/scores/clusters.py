"""Intervals of figures whose answers share raters and images: means, differences, strengths.

What counts is the influence of each answer on a figure. The variance is that of two-way clusters (Cameron, Gelbach and
Miller 2011): V = V(rater) + V(image) - V(rater and image), each with G / (G - 1), and never less than V(rater) or
V(image). The interval is Student's.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from vqagen.extras import needed
from vqagen.human.scores.samples import Sample
from vqagen.score.intervals import LEVEL, Numbers, clustered_mean

_SPECIAL = "scipy.special", "human", "vqagen human score"
_ROUNDING = 1e-24
"""Variances of equal answers are not larger."""


class Estimate(NamedTuple):
    """A mean score, a difference of two, or another figure, with its interval."""

    n: int
    raters: int
    images: int
    mean: float
    error: float | None = None
    """The standard error."""
    df: int | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    """The probability of a figure as far from 0 where the true one is 0."""
    why: str = ""
    """Why there is no interval."""


def variances(influence: Numbers, raters: Numbers, images: Numbers) -> tuple[float, float, float]:
    """Return the variance of a figure by raters, images and both, by the influence of each answer on it."""
    rater, image = (np.unique(each, return_inverse=True)[1] for each in (raters, images))
    of_rater, of_image, of_both = (
        (clustered_mean(influence, each).error * len(influence)) ** 2
        for each in (rater, image, rater * len(images) + image)
    )
    return of_rater, of_image, of_both


def two_way_interval(sample: Sample) -> Estimate:
    """Return the mean of a sample with its interval. Its degrees of freedom are the fewer clusters less one."""
    return two_way(sample.mean, sample.influence(), sample.raters, sample.images, by_fewest=True)


def difference(first: Sample, second: Sample) -> Estimate:
    """Return the mean of a first sample minus that of a second one, which shares raters and images with it."""
    influence = np.concatenate([first.influence(), -second.influence()])
    raters = np.concatenate([first.raters, second.raters])
    return two_way(first.mean - second.mean, influence, raters, np.concatenate([first.images, second.images]))


def two_way(value: float, influence: Numbers, raters: Numbers, images: Numbers, *, by_fewest: bool = False) -> Estimate:
    """Return a figure with Student's interval, or why there is none.

    Degrees of freedom are those of the clusters with the larger variance; `by_fewest`, those of the fewer clusters.
    What a rater thinks of all systems has no part in a difference of them: to count its few raters where images decide
    would make intervals that hold the truth in 99 % of studies of 6 raters (`scripts/bench human coverage`).
    """
    counts = len(np.unique(raters)), len(np.unique(images))
    few = [f"one {name}" for name, count in zip(("rater", "image"), counts, strict=True) if count < 2]
    if few:
        return Estimate(len(influence), *counts, value, why=f"{' and '.join(few)} only")
    of_rater, of_image, of_both = variances(influence, raters, images)
    variance = max(of_rater + of_image - of_both, of_rater, of_image)
    df = (min(counts) if by_fewest else counts[of_image > of_rater]) - 1
    error = math.sqrt(variance) if variance > _ROUNDING else 0.0
    p = 2 * float(needed(*_SPECIAL).stdtr(df, -abs(value) / error)) if error > 0 else None
    low, high = (value + sign * t_quantile(df) * error for sign in (-1, 1))
    return Estimate(
        len(influence), *counts, value, error, df, low, high, p, "" if error > 0 else "all answers are equal"
    )


def t_quantile(df: int) -> float:
    """Return the number of standard errors on each side of a mean in Student's two-sided interval."""
    return float(needed(*_SPECIAL).stdtrit(df, (1 + LEVEL) / 2))
