"""Samples: the scores of one comparison with their raters and images, as arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vqagen.human.answers import AnswerRow
from vqagen.human.study.item import RATE, REFERENCE, SYSTEM
from vqagen.human.study.pairs import HUMAN, HUMANS
from vqagen.score.intervals import Numbers

BASELINE = HUMAN
"""Name of the comparison of two human texts, as HUMANr has it."""


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
            return BASELINE if (self.first, self.second) == HUMANS else self.long_name
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
    ordered = sorted(set(pairings), key=_order)
    taken = Counter((each.dimension, each.short_name) for each in ordered)
    return {
        each: each.short_name if taken[each.dimension, each.short_name] == 1 else each.long_name for each in ordered
    }


def _order(pairing: Pairing) -> tuple[str, bool, bool, bool, Pairing]:
    return (
        *(pairing.dimension, pairing.kind == RATE),
        *(not pairing.is_against_reference, not pairing.is_baseline),
        pairing,
    )


@dataclass(frozen=True, slots=True)
class Sample:
    """Scores from -1 to 1: 1 where the second text is clearly better, or a rated text is at the top of its scale."""

    scores: Numbers
    weights: Numbers
    raters: Numbers
    """Number of the rater of each score; the same for the same rater in all samples of a study."""
    images: Numbers

    @property
    def mean(self) -> float:
        """The weighted mean; there must be a score."""
        return float(np.average(self.scores, weights=self.weights))

    def __len__(self) -> int:
        return len(self.scores)

    def influence(self) -> Numbers:
        """Return how far each score moves the mean from where it is; the sum is 0."""
        moved: Numbers = self.weights * (self.scores - self.mean) / self.weights.sum()
        return moved


class Sampler:
    """Makes samples of the answers of one study."""

    def __init__(self, rows: Sequence[AnswerRow]) -> None:
        self._raters = _numbers(row.rater for row in rows)
        self._images = _numbers(map(image_of, rows))

    def sample(self, rows: Sequence[AnswerRow], score: Callable[[AnswerRow], float] | None = None) -> Sample:
        """Return the sample of some of the answers, by their `score` (default: toward the second text)."""
        return Sample(
            np.array([(score or score_of)(row) for row in rows], float),
            np.array([row.weight for row in rows], float),
            np.array([self._raters[row.rater] for row in rows], int),
            np.array([self._images[image_of(row)] for row in rows], int),
        )


def score_of(row: AnswerRow) -> float:
    """Return an answer as a score from -1 to 1 toward the second text.

    HUMANr's (score - 5) / 4 on a scale from 1 to 9.
    """
    return (2 * row.toward_second - row.least - row.largest) / (row.largest - row.least)


def lean_of(row: AnswerRow) -> float:
    """Return an answer as a number from -1 for the left end of the scale to 1 for the right end."""
    return (2 * row.value - row.least - row.largest) / (row.largest - row.least)


def image_of(row: AnswerRow) -> str:
    """Return the id of the image, or of the item where it has none."""
    return row.image or row.item


def by_pairing(rows: Iterable[AnswerRow]) -> dict[Pairing, list[AnswerRow]]:
    """Return answers by pairing."""
    found: dict[Pairing, list[AnswerRow]] = {}
    for row in rows:
        found.setdefault(pairing_of(row), []).append(row)
    return found


def _numbers(names: Iterable[str]) -> Mapping[str, int]:
    return {name: number for number, name in enumerate(sorted(set(names)))}
