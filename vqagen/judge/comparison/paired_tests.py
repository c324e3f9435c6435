"""Tests of models that answered the same questions.

`only_first` and `only_second` are the questions that only one of two models got right: all others say nothing about
which of them is better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from vqagen.extras import needed
from vqagen.judge.intervals import ClusteredMean, Interval, Numbers, clustered_mean, quantile, student_test, wilson

FEW_DISCORDANT = 10
"""Questions that only one model got right, below which a normal approximation is not used."""
POWER = 0.8
"""Probability of finding a difference as large as the detectable one."""
_NORMAL = NormalDist()
_WHAT = "vqagen compare"


class McNemar(NamedTuple):
    """McNemar's test in its three forms."""

    exact_p: float
    corrected: float
    """Chi-squared with Edwards' correction."""
    corrected_p: float
    plain: float
    """Chi-squared without correction."""
    plain_p: float


class ModelDifference(NamedTuple):
    """The accuracy of a second model minus that of a first one."""

    mean: float
    interval: Interval
    """Robust to clusters of questions about one image."""
    p: float
    """The probability of such a difference between equal models: by the cluster-robust error and Student's t, or
    McNemar's exact test if few questions are discordant."""
    mcnemar: McNemar | None
    """None for soft scores, which are neither right nor wrong."""
    only_first: int
    only_second: int
    detectable: float
    """The least difference that as many questions find with a probability of 80 %; NaN without any discordant one."""


class Stratified(NamedTuple):
    """Mantel and Haenszel's test that two models are equally good once the group is held fixed."""

    odds_ratio: float
    """The odds of the second model over those of the first one, within groups."""
    interval: Interval
    p: float


class CochranQ(NamedTuple):
    """Cochran's test that all of several models are equally good."""

    statistic: float
    p: float


def mcnemar(only_first: int, only_second: int) -> McNemar:
    """Return McNemar's test of two models; all p are 1 if no question tells them apart."""
    discordant, apart = only_first + only_second, abs(only_first - only_second)
    if discordant == 0:
        return McNemar(1.0, 0.0, 1.0, 0.0, 1.0)
    exact = needed("scipy.stats", "stats", _WHAT).binomtest(min(only_first, only_second), discordant)
    corrected, plain = max(apart - 1, 0) ** 2 / discordant, apart**2 / discordant
    return McNemar(float(exact.pvalue), corrected, _chi_squared_p(corrected), plain, _chi_squared_p(plain))


def _chi_squared_p(statistic: float) -> float:
    """Return the upper tail of chi-squared with one degree of freedom, however small."""
    return math.erfc(math.sqrt(max(statistic, 0.0) / 2))


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
        p = test.exact_p
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


def cochran_q(scores: Numbers) -> CochranQ:
    """Compare several models at once; a row of `scores` is a question, a column a model."""
    if np.all(scores == scores[:, :1]):
        return CochranQ(0.0, 1.0)
    tables = needed("statsmodels.stats.contingency_tables", "stats", _WHAT)
    found = tables.cochrans_q(scores.astype(int))
    return CochranQ(float(found.statistic), float(found.pvalue))


def mantel_haenszel(first: Numbers, second: Numbers, groups: Numbers) -> Stratified | None:
    """Compare two models within groups of questions; None if no group has both right and wrong answers.

    The test takes the two models' answers as independent samples, so that it is careful: McNemar's test finds more.
    """
    tables = [_table(first[groups == group], second[groups == group]) for group in np.unique(groups).tolist()]
    mixed = [table for table in tables if min(table[0][0] + table[1][0], table[0][1] + table[1][1]) > 0]
    if not mixed:
        return None
    stratified = needed("statsmodels.stats.contingency_tables", "stats", _WHAT).StratifiedTable(
        [np.array(table, dtype=float) for table in mixed]
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio, bounds = float(stratified.oddsratio_pooled), stratified.oddsratio_pooled_confint()
        p = _chi_squared_p(float(stratified.test_null_odds().statistic))
    return Stratified(ratio, Interval(*map(float, bounds)), p)


def _table(first: Numbers, second: Numbers) -> Sequence[Sequence[float]]:
    """Return right and wrong answers of the second model, then of the first one."""
    return [[float(each.sum()), float(len(each) - each.sum())] for each in (second, first)]
