"""Tests of models that answered the same questions.

`only_first` and `only_second` are the questions that only one of two models got right: all others say nothing about
which of them is better.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from vqagen.extras import needed
from vqagen.score.intervals import ClusteredMean, Interval, Numbers, clustered_mean, quantile, student_test, wilson

FEW_DISCORDANT = 10
"""Questions that only one model got right, below which a normal approximation is not used."""
POWER = 0.8
"""Probability of finding a difference as large as the detectable one."""
_NORMAL = NormalDist()
_WHAT = "vqagen compare"


class ModelDifference(NamedTuple):
    """The accuracy of a second model minus that of a first one."""

    mean: float
    interval: Interval
    """Robust to clusters of questions about one image."""
    p: float
    """The probability of such a difference between equal models: by the cluster-robust error and Student's t, or
    McNemar's exact test if few questions are discordant."""
    mcnemar: float | None
    """The p of McNemar's exact test; None for soft scores, which are neither right nor wrong."""
    only_first: int
    only_second: int
    detectable: float
    """The least difference that as many questions find with a probability of 80 %; NaN without any discordant one."""


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the p of McNemar's exact test of two models; 1 if no question tells them apart."""
    discordant = only_first + only_second
    if discordant == 0:
        return 1.0
    return float(needed("scipy.stats", "stats", _WHAT).binomtest(min(only_first, only_second), discordant).pvalue)


def paired_difference(first: Numbers, second: Numbers, clusters: Numbers) -> ModelDifference:
    """Compare the scores of two models on the same questions, about the images `clusters`."""
    apart = second - first
    estimate = clustered_mean(apart, clusters)
    only_first, only_second = int(np.sum(apart < 0)), int(np.sum(apart > 0))
    is_binary = bool(np.all((first == 0) | (first == 1)) and np.all((second == 0) | (second == 1)))
    test = mcnemar(only_first, only_second) if is_binary else None
    has_error = estimate.error > 1e-12  # false for NaN too
    interval, p, detectable = _bounds_without_error(estimate), 1.0, math.nan
    if has_error:
        (low, high), p = student_test(estimate, _WHAT)
        interval = Interval(max(-1.0, low), min(1.0, high))
        detectable = _detectable(apart, estimate.error)
    if test is not None and (not has_error or only_first + only_second < FEW_DISCORDANT):
        p = test
    return ModelDifference(estimate.mean, interval, p, test, only_first, only_second, detectable)


def _bounds_without_error(estimate: ClusteredMean) -> Interval:
    """Return the interval of a difference that is the same for all images: a standard error of 0 would claim certainty.

    As many images may hide a share of others that Wilson's interval allows.
    """
    hidden = wilson(0, estimate.clusters).high
    return Interval(max(-1.0, estimate.mean - hidden), min(1.0, estimate.mean + hidden))


def _detectable(apart: Numbers, error: float) -> float:
    """Return the least difference that would be found: by the standard error that equal models would have.

    This error follows from the rate of discordant questions, and is enlarged as clusters enlarge that of the models.
    """
    single = float(np.std(apart, ddof=1)) / math.sqrt(len(apart))
    equal = math.sqrt(float(np.sum(apart**2))) / len(apart)
    return (quantile() + _NORMAL.inv_cdf(POWER)) * equal * (error / single if single > 0 else 1.0)
