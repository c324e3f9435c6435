"""Agreement of raters: Krippendorff's alpha (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability).

1 is perfect agreement, 0 what chance gives, below 0 is systematic disagreement. Items with one value say nothing. The
interval is the middle 95 % of resamples of items. Raters are not drawn: one who is drawn twice agrees with himself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from vqagen.human.scores.settings import INTERVAL, NOMINAL, ORDINAL
from vqagen.rng import stream
from vqagen.score.intervals import LEVEL, Numbers

Alpha = tuple[str, int, int, float | None, float | None, float | None, str]
"""Metric, items with two values or more and the values of these, alpha, low, high, and why there is none of them."""


def alpha(items: Iterable[Sequence[float] | Sequence[str]], metric: str = INTERVAL, resamples: int = 2000) -> Alpha:
    """Return alpha of one metric, by the values of each item."""
    paired = [values for values in items if len(values) > 1]
    numbers = len(paired), sum(map(len, paired))
    levels = np.unique([value for values in paired for value in values])
    if len(levels) < 2:
        return metric, *numbers, None, None, None, "all answers are equal" if paired else "no item has two answers"
    counts = np.array([np.bincount(np.searchsorted(levels, each), minlength=len(levels)) for each in paired])
    found = _alpha(counts, levels, metric)
    if len(paired) == 1:
        return metric, *numbers, found, None, None, "one item only"
    rng = np.random.default_rng(stream(0, "human/agreement").getrandbits(128))
    drawn = [_alpha(counts[rng.integers(len(counts), size=len(counts))], levels, metric) for _ in range(resamples)]
    low, high = np.nanquantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return metric, *numbers, found, float(low), float(high), ""


def _alpha(counts: Numbers, levels: Numbers, metric: str) -> float:
    """Return alpha by how often each item has each level, `counts[item][level]`; NaN where all values are equal."""
    totals = counts.sum(axis=0)
    apart = METRICS[metric](levels, totals)
    observed = float((((counts @ apart) * counts).sum(axis=1) / (counts.sum(axis=1) - 1)).sum())
    expected = float(totals @ apart @ totals)
    return 1 - (int(totals.sum()) - 1) * observed / expected if expected else np.nan


def _squared(places: Numbers) -> Numbers:
    return np.subtract.outer(places, places) ** 2


METRICS: Mapping[str, Callable[[Numbers, Numbers], Numbers]] = {
    INTERVAL: lambda levels, totals: _squared(levels),
    ORDINAL: lambda levels, totals: _squared(np.cumsum(totals) - totals / 2),  # mean ranks
    NOMINAL: lambda levels, totals: 1.0 - np.eye(len(levels)),
}
"""Name -> squared differences of levels, by the levels and the number of values of each."""
