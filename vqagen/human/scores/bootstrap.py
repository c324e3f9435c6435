"""Bootstraps of mean scores: whole raters are drawn with replacement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from vqagen.human.scores.samples import Sample
from vqagen.rng import stream
from vqagen.score.intervals import LEVEL, Numbers

RESAMPLES = 9999
MOST_EXHAUSTIVE = 100_000
"""Up to so many equally likely resamples, all of them are taken."""
_CHUNK = 500
"""Resamples that are drawn at once: 500 of 3,000 raters take 12 MB."""


class Bootstrap(NamedTuple):
    """The distribution of a mean over resamples: its mean, its deviation, and the bounds of its middle 95 %."""

    raters: int
    resamples: int
    is_exhaustive: bool
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    why: str = ""


def bootstrap(sample: Sample, resamples: int = RESAMPLES) -> Bootstrap:
    """Return the bootstrap of a sample's mean. All resamples of a few raters are taken; of more, some are drawn."""
    raters = np.unique(sample.raters, return_inverse=True)[1]
    count = int(raters.max()) + 1
    if count < 2:
        return Bootstrap(count, 0, False, None, None, None, None, "one rater only")
    is_exhaustive = count**count <= MOST_EXHAUSTIVE
    drawn = [all_resamples(count)] if is_exhaustive else resample_counts(generator("bootstrap"), count, resamples)
    totals = np.bincount(raters, sample.scores * sample.weights)
    sizes = np.bincount(raters, sample.weights)
    means = np.concatenate([(counts @ totals) / (counts @ sizes) for counts in drawn])
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Bootstrap(
        count, len(means), is_exhaustive, float(np.mean(means)), float(np.std(means)), float(low), float(high)
    )


def generator(label: str) -> np.random.Generator:
    """Return the generator (PCG64) of a labelled stream."""
    return np.random.Generator(np.random.PCG64(stream(0, f"human/{label}").getrandbits(128)))


def all_resamples(units: int) -> Numbers:
    """Return how often each unit is in each of the equally likely resamples: `found[resample][unit]`."""
    drawn = np.indices((units,) * units).reshape(units, -1).T
    return np.stack([np.sum(drawn == unit, axis=1) for unit in range(units)], axis=1)


def resample_counts(rng: np.random.Generator, units: int, resamples: int) -> Iterator[Numbers]:
    """Yield how often each unit is in each drawn resample, `found[resample][unit]`, in pieces."""
    for start in range(0, resamples, _CHUNK):
        size = min(_CHUNK, resamples - start)
        drawn = rng.integers(units, size=(size, units)) + units * np.arange(size)[:, None]
        yield np.bincount(drawn.reshape(-1), minlength=size * units).reshape(size, units)
