"""Bootstraps of mean scores: whole raters, whole images, or both are drawn with replacement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from vqagen.human.scores.samples import Sample
from vqagen.human.scores.settings import IMAGE, RATER, TWO_WAY
from vqagen.judge.intervals import LEVEL, RESAMPLES, Numbers
from vqagen.rng import stream

MOST_EXHAUSTIVE = 100_000
"""Up to so many equally likely resamples, all of them are taken."""
_CHUNK = 500
"""Resamples that are drawn at once: 500 of 3,000 raters take 12 MB."""


class Bootstrap(NamedTuple):
    """The distribution of a mean over resamples: its mean, its deviation, and the bounds of its middle 95 %."""

    units: int
    resamples: int
    is_exhaustive: bool
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    why: str = ""


def bootstrap(sample: Sample, unit: str = RATER, *, seed: int = 0, resamples: int = RESAMPLES) -> Bootstrap:
    """Return the bootstrap of a sample's mean. All resamples of a few units are taken; of more, some are drawn."""
    totals, sizes = _tables(sample, unit)
    units = min(totals.shape) if unit == TWO_WAY else totals.shape[0]
    if units < 2:
        named = "rater or image" if unit == TWO_WAY else unit
        return Bootstrap(units, 0, False, None, None, None, None, f"one {named} only")
    is_exhaustive = unit != TWO_WAY and units**units <= MOST_EXHAUSTIVE
    if is_exhaustive:
        counts = all_resamples(units)
        means = (counts @ totals[:, 0]) / (counts @ sizes[:, 0])
    else:
        draws = _drawn(totals, sizes, unit == TWO_WAY, generator(seed, "bootstrap"), resamples)
        means = np.concatenate(list(draws))
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Bootstrap(
        units, len(means), is_exhaustive, float(np.mean(means)), float(np.std(means)), float(low), float(high)
    )


def generator(seed: int, label: str) -> np.random.Generator:
    """Return the generator (PCG64) of a labelled stream."""
    return np.random.Generator(np.random.PCG64(stream(seed, f"human/{label}").getrandbits(128)))


def all_resamples(units: int) -> Numbers:
    """Return how often each unit is in each of the equally likely resamples: `found[resample][unit]`."""
    drawn = np.indices((units,) * units).reshape(units, -1).T
    return np.stack([np.sum(drawn == unit, axis=1) for unit in range(units)], axis=1)


def resample_counts(rng: np.random.Generator, units: int, resamples: int) -> Iterator[Numbers]:
    """Yield how often each unit is in each drawn resample, `found[resample][unit]`, in pieces."""
    shares = np.full(units, 1 / units)
    for start in range(0, resamples, _CHUNK):
        yield rng.multinomial(units, shares, size=min(_CHUNK, resamples - start))


def _tables(sample: Sample, unit: str) -> tuple[Numbers, Numbers]:
    """Return the total of scores, and of weights, of each unit: `found[unit][0]`, or `found[rater][image]`."""
    rows = np.unique(sample.images if unit == IMAGE else sample.raters, return_inverse=True)[1]
    columns = np.unique(sample.images, return_inverse=True)[1] if unit == TWO_WAY else np.zeros_like(rows)
    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    totals, sizes = np.zeros(shape), np.zeros(shape)
    np.add.at(totals, (rows, columns), sample.scores * sample.weights)
    np.add.at(sizes, (rows, columns), sample.weights)
    return totals, sizes


def _drawn(
    totals: Numbers, sizes: Numbers, is_two_way: bool, rng: np.random.Generator, resamples: int
) -> Iterator[Numbers]:
    """Yield the means of drawn resamples. Two ways: an answer counts as often as its rater times its image.

    A resample without any answer, which only a sparse table has, is left out.
    """
    for counts in resample_counts(rng, totals.shape[0], resamples):
        sums, weights = counts @ totals, counts @ sizes
        if is_two_way:
            images = next(resample_counts(rng, totals.shape[1], len(counts)))
            sums, weights = (sums * images).sum(axis=1), (weights * images).sum(axis=1)
        else:
            sums, weights = sums[:, 0], weights[:, 0]
        yield sums[weights > 0] / weights[weights > 0]
