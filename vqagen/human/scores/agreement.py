"""Agreement of raters: Krippendorff's alpha (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability).

1 is perfect agreement, 0 what chance gives, below 0 is systematic disagreement. Items with one value say nothing. The
interval is the middle 95 % of resamples of items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from vqagen.human.scores.bootstrap import generator, resample_counts
from vqagen.human.scores.settings import INTERVAL, NOMINAL, ORDINAL
from vqagen.score.intervals import LEVEL, Numbers

RESAMPLES = 2000
"""Resamples of items; an alpha of each takes longer than a mean."""


class Alpha(NamedTuple):
    """Krippendorff's alpha of one metric."""

    metric: str
    items: int
    """Items with two values or more."""
    values: int
    """Values of these items."""
    alpha: float | None
    low: float | None
    high: float | None
    why: str = ""
    """Why there is no alpha, or no interval."""


def alpha(items: Iterable[Sequence[float]], metric: str = INTERVAL, resamples: int = RESAMPLES) -> Alpha:
    """Return alpha of one metric, by the values of each item."""
    paired = [values for values in items if len(values) > 1]
    count, number = len(paired), sum(map(len, paired))
    if not paired:
        return Alpha(metric, 0, 0, None, None, None, "no item has two answers")
    levels = np.unique(np.concatenate([np.asarray(values, float) for values in paired]))
    if len(levels) == 1:
        return Alpha(metric, count, number, None, None, None, "all answers are equal")
    tables = np.array([_coincidences(values, levels) for values in paired])
    found = float(_alphas(tables.sum(axis=0)[None], levels, metric)[0])
    if count == 1:
        return Alpha(metric, count, number, found, None, None, "one item only")
    drawn = _alphas(_resampled(tables, resamples), levels, metric)
    low, high = np.quantile(drawn[~np.isnan(drawn)], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Alpha(metric, count, number, found, float(low), float(high))


def _resampled(tables: Numbers, resamples: int) -> Numbers:
    """Return the table of pairs of each resample of items."""
    flat, rng = tables.reshape(len(tables), -1), generator("agreement")
    sums = [counts @ flat for counts in resample_counts(rng, len(tables), resamples)]
    return np.concatenate(sums).reshape(-1, *tables.shape[1:])


def _coincidences(values: Sequence[float], levels: Numbers) -> Numbers:
    """Return the pairs of values of one item, `found[level][level]`; each value has a weight of 1 in all."""
    counts = np.bincount(np.searchsorted(levels, values), minlength=len(levels)).astype(float)
    pairs: Numbers = (np.outer(counts, counts) - np.diag(counts)) / (len(values) - 1)
    return pairs


def _alphas(coincidences: Numbers, levels: Numbers, metric: str) -> Numbers:
    """Return alpha of each of a stack of tables of pairs; NaN where all values are equal."""
    totals = coincidences.sum(axis=2)
    n = totals.sum(axis=1)
    apart = METRICS[metric](levels, totals)
    observed = (coincidences * apart).sum(axis=(1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * apart).sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Numbers = np.where(expected > 0, 1 - (n - 1) * observed / expected, np.nan)
    return found


def _interval(levels: Numbers, totals: Numbers) -> Numbers:
    apart: Numbers = (levels[:, None] - levels[None, :])[None] ** 2
    return apart


def _ordinal(levels: Numbers, totals: Numbers) -> Numbers:
    """Return squared differences of mean ranks."""
    ranks = np.cumsum(totals, axis=1) - totals / 2
    apart: Numbers = (ranks[:, :, None] - ranks[:, None, :]) ** 2
    return apart


def _nominal(levels: Numbers, totals: Numbers) -> Numbers:
    return 1.0 - np.eye(len(levels))[None]


METRICS: Mapping[str, Callable[[Numbers, Numbers], Numbers]] = {
    INTERVAL: _interval,
    ORDINAL: _ordinal,
    NOMINAL: _nominal,
}
"""Name -> squared differences of levels, by the levels and the totals of each table."""
