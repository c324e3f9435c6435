"""Bootstraps of mean scores: whole raters, whole images, or both are drawn with replacement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
_LARGEST = 10_000_000
"""Answers of all resamples that are weighted at once: 80 MB."""


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
    given = {RATER: [sample.raters], IMAGE: [sample.images], TWO_WAY: [sample.raters, sample.images]}[unit]
    ways = [np.unique(each, return_inverse=True)[1] for each in given]
    units = min(int(way.max()) + 1 for way in ways)
    if units < 2:
        named = "rater or image" if unit == TWO_WAY else unit
        return Bootstrap(units, 0, False, None, None, None, None, f"one {named} only")
    is_exhaustive = unit != TWO_WAY and units**units <= MOST_EXHAUSTIVE
    rng = generator(seed, "bootstrap")
    if unit == TWO_WAY:
        means = np.concatenate(list(_two_way_means(sample, ways, rng, resamples)))
    else:
        drawn = [all_resamples(units)] if is_exhaustive else resample_counts(rng, units, resamples)
        means = np.concatenate(list(_one_way_means(sample, ways[0], drawn)))
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
    for start in range(0, resamples, _CHUNK):
        size = min(_CHUNK, resamples - start)
        drawn = rng.integers(units, size=(size, units)) + units * np.arange(size)[:, None]
        yield np.bincount(drawn.reshape(-1), minlength=size * units).reshape(size, units)


def _one_way_means(sample: Sample, units: Numbers, drawn: Iterable[Numbers]) -> Iterator[Numbers]:
    """Yield the means of resamples, by the total of scores and of weights of each unit."""
    totals = np.bincount(units, sample.scores * sample.weights)
    sizes = np.bincount(units, sample.weights)
    for counts in drawn:
        yield (counts @ totals) / (counts @ sizes)


def _two_way_means(
    sample: Sample, ways: Sequence[Numbers], rng: np.random.Generator, resamples: int
) -> Iterator[Numbers]:
    """Yield the means of drawn resamples: an answer counts as often as its rater times its image.

    A resample without any answer, which only a sparse table has, is left out.
    """
    raters, images = ways
    chunk = max(1, min(_CHUNK, _LARGEST // len(sample)))
    for start in range(0, resamples, chunk):
        size = min(chunk, resamples - start)
        (of_raters,) = resample_counts(rng, int(raters.max()) + 1, size)
        (of_images,) = resample_counts(rng, int(images.max()) + 1, size)
        weights = of_raters[:, raters] * of_images[:, images] * sample.weights
        sums, sizes = weights @ sample.scores, weights.sum(axis=1)
        yield sums[sizes > 0] / sizes[sizes > 0]
