"""Samples, which are the scores of one comparison with their raters and images, and intervals of figures of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np

from vqagen.extras import needed
from vqagen.human.answers import AnswerRow
from vqagen.human.study.item import RATE, REFERENCE, SYSTEM
from vqagen.human.study.pairs import HUMAN, HUMANS
from vqagen.score.intervals import LEVEL, Numbers, clustered_mean

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")


class Pairing(NamedTuple):
    """The sources that are compared, in one dimension. The second is "" where one text is rated."""

    dimension: str
    kind: str
    first: str
    first_role: str
    second: str
    second_role: str

    @property
    def is_against_reference(self) -> bool:
        """True where a system is compared with a reference."""
        return (self.first_role, self.second_role) == (REFERENCE, SYSTEM)

    @property
    def is_baseline(self) -> bool:
        """True where two references are compared: the score shows noise alone."""
        return self.first_role == self.second_role == REFERENCE

    @property
    def short_name(self) -> str:
        """A name that may be that of another pairing, too."""
        if self.kind == RATE:
            return self.first
        if self.is_baseline:
            return HUMAN if (self.first, self.second) == HUMANS else self.long_name  # as HUMANr calls it
        return self.second if self.is_against_reference else self.long_name

    @property
    def long_name(self) -> str:
        """The name with both sources. The score is positive where the one that is named first is better."""
        return f"{self.second} over {self.first}" if self.second else f"{self.first} rated"


def pairing_of(row: AnswerRow) -> Pairing:
    """Return the pairing that an answer is about."""
    return Pairing(row.dimension, row.kind, row.first_source, row.first_role, row.second_source, row.second_role)


def pairing_names(pairings: Iterable[Pairing]) -> dict[Pairing, str]:
    """Return names by pairing, different ones within a dimension: systems first, then the baseline, then the others."""
    ordered = sorted(
        set(pairings),
        key=lambda pairing: (
            *(pairing.dimension, pairing.kind == RATE, not pairing.is_against_reference, not pairing.is_baseline),
            pairing,
        ),
    )
    taken = Counter((pairing.dimension, pairing.short_name) for pairing in ordered)
    return {
        pairing: pairing.short_name if taken[pairing.dimension, pairing.short_name] == 1 else pairing.long_name
        for pairing in ordered
    }


def rivals(pairings: Iterable[Pairing]) -> list[tuple[Pairing, Pairing]]:
    """Return each two systems of a dimension that stand against the same reference."""
    against = [pairing for pairing in pairings if pairing.is_against_reference]
    return [pair for pair in combinations(against, 2) if pair[0][:4] == pair[1][:4]]


@dataclass(frozen=True, slots=True)
class ScoreSample:
    """Scores from -1 to 1: 1 where the second text is clearly better, or a rated text is at the top of its scale."""

    scores: Numbers
    weights: Numbers
    raters: Numbers
    images: Numbers
    """Names, or numbers, of the rater and of the image of each score."""

    @property
    def mean(self) -> float:
        """The weighted mean."""
        return float(np.average(self.scores, weights=self.weights))

    def influence(self) -> Numbers:
        """Return how far each score moves the mean from where it is; the sum is 0."""
        return np.asarray(self.weights * (self.scores - self.mean) / self.weights.sum())


def score_of(row: AnswerRow) -> float:
    """Return an answer as a score from -1 to 1 toward the second text.

    HUMANr's (score - 5) / 4 on a scale from 1 to 9.
    """
    return on_scale(row, row.toward_second)


def lean_of(row: AnswerRow) -> float:
    """Return an answer as a number from -1 for the left end of the scale to 1 for the right end."""
    return on_scale(row, row.value)


def on_scale(row: AnswerRow, value: int | str | None) -> float:
    """Return where a value lies on the scale of an answer, from -1 to 1."""
    assert isinstance(value, int) and row.least is not None and row.largest is not None, "questions have no scale"
    return (2 * value - row.least - row.largest) / (row.largest - row.least)


def sample_of(rows: Iterable[AnswerRow], score: Callable[[AnswerRow], float] = score_of) -> ScoreSample:
    """Return the sample of answers. The image of an item that has none is the item itself."""
    columns = zip(*((score(row), row.weight, row.rater, row.image or row.item) for row in rows), strict=True)
    return ScoreSample(*map(np.array, columns))


def by_item(rows: Iterable[AnswerRow], value: Callable[[AnswerRow], Thing]) -> list[list[Thing]]:
    """Return what was answered, item by item."""
    return [list(map(value, of_item)) for of_item in grouped(rows, lambda row: row.item).values()]


def said(answer: object) -> str:
    """Return an answer to a question as it is compared: case and outer space do not count."""
    return str(answer).strip().casefold()


def is_right(row: AnswerRow) -> bool:
    """True if an answer to a question is the right one."""
    return said(row.value) == said(row.gold)


def grouped(things: Iterable[Thing], key: Callable[[Thing], Key]) -> dict[Key, list[Thing]]:
    """Return things by a key, both in the order in which they come."""
    groups: dict[Key, list[Thing]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return groups


# Intervals -----------------------------------------------------------------------------------------------------------
#
# Figures are means, differences and strengths, whose answers share raters and images. What counts is the influence of
# each answer on a figure. The variance is that of two-way clusters (Cameron, Gelbach and Miller 2011):
# V = V(rater) + V(image) - V(rater and image), each with G / (G - 1), and never less than V(rater) or V(image). The
# interval is Student's.

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
    rater, image = (np.unique(names, return_inverse=True)[1] for names in (raters, images))
    of_rater, of_image, of_both = (
        (clustered_mean(influence, clusters).error * len(influence)) ** 2
        for clusters in (rater, image, rater * len(images) + image)
    )
    return of_rater, of_image, of_both


def two_way_interval(sample: ScoreSample) -> Estimate:
    """Return the mean of a sample with its interval. Its degrees of freedom are the fewer clusters less one."""
    return two_way(sample.mean, sample.influence(), sample.raters, sample.images, by_fewest=True)


def difference(first: ScoreSample, second: ScoreSample) -> Estimate:
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
