"""Simulated raters: the value that each of them gives in each trial follows from the seed and the ids alone.

A rater's opinion is that of all raters about the system, plus what is special about the rater and about the text of
this image, plus noise. The scale cuts opinions off at its ends, so the opinion about a system is chosen such that its
expected score against a reference is the true score that was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import exp, floor, hypot
from statistics import NormalDist

from vqagen.errors import UsageError, unknown
from vqagen.human.study.item import CHECK, COMPARE, INSTRUCTED, PRACTICE, RATE, SYSTEM, Candidate, Item, Scale
from vqagen.human.study.trial import Trial
from vqagen.rng import stream
from vqagen.tasks.settings import CheckedSettings, setting

_NORMAL = NormalDist()
_CHECK_SCORE, _CHECK_NOISE = 0.9, 0.3
"""How clear an attention check is to a rater: one of a thousand fails."""
_TYPICAL_MS = 6000
_FARTHEST, _HALVINGS = 4.0, 40
"""Opinions lie between -4 and 4; halved 40 times, that is exact to 1e-11."""
_EFFECT = re.compile(r"(.+)=([-+]?(?:\d+\.?\d*|\.\d+))")


@dataclass(frozen=True)
class RaterSettings(CheckedSettings):
    """How simulated raters answer. Deviations are of scores, which lie between -1 and 1."""

    effect: tuple[str, ...] = setting((), "True score of a system; 0 for others.", metavar="NAME=SCORE")
    rater_sd: float = setting(0.2, "Deviation of raters in how much they like systems.", least=0, types=(float, int))
    image_sd: float = setting(0.25, "Deviation of a system's score over images.", least=0, types=(float, int))
    noise: float = setting(0.5, "Deviation of single answers.", least=0, types=(float, int))

    @property
    def effects(self) -> dict[str, float]:
        """The true scores by system."""
        return {name: float(score) for name, score in (_effect(each) for each in self.effect)}

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        for each in self.effect:
            match = _EFFECT.fullmatch(each)
            if match is None:
                yield f"--effect {each!r} is not of the form NAME=SCORE, such as A=-0.2"
            elif abs(float(match[2])) > 1:
                yield f"--effect {each}: a score lies between -1 and 1"


def _effect(text: str) -> tuple[str, str]:
    name, _, score = text.rpartition("=")
    return name, score


def opinion_for(score: float, deviation: float, scale: Scale) -> float:
    """Return the mean opinion whose expected score is `score`, if opinions have a deviation."""
    low, high = -_FARTHEST, _FARTHEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if expected_score(middle, deviation, scale) < score else (low, middle)
    return (low + high) / 2


def expected_score(opinion: float, deviation: float, scale: Scale) -> float:
    """Return the mean score of normal opinions on a scale: rounded to its values, and cut off at its ends."""
    half = (scale.largest - scale.least) / 2
    spread = NormalDist(opinion, max(deviation, 1e-9))
    steps = [(value + 0.5 - scale.center) / half for value in range(scale.least, scale.largest)]
    return 1 - sum(spread.cdf(step) for step in steps) / half


class Raters:
    """Simulated raters, by any names."""

    def __init__(self, settings: RaterSettings, seed: int = 0) -> None:
        self._settings, self._effects, self._seed = settings, settings.effects, seed
        self._known: dict[str, float] = {}

    def raise_unknown(self, items: Iterable[Item]) -> None:
        """Raise UsageError for an effect of a system that no item has."""
        systems = sorted({each.source for item in items for each in item.candidates if each.role == SYSTEM})
        faults = [f"--effect: {unknown('system', name, systems)}" for name in self._effects if name not in systems]
        if faults:
            raise UsageError("\n".join(faults))

    def value(self, rater: str, trial: Trial) -> int:
        """Return the value that a rater chooses, from the left end of the scale to its right end.

        One text alone has no side.
        """
        item, scale = trial.item, trial.item.scale
        if item.use == INSTRUCTED and item.gold is not None and item.gold.value is not None:
            return item.gold.value
        chosen = floor(scale.center + self.opinion(rater, item) * (scale.largest - scale.least) / 2 + 0.5)
        bounded = min(max(chosen, scale.least), scale.largest)
        return int(item.toward_second(bounded, second_on_right=trial.second_on_right or item.kind == RATE))

    def opinion(self, rater: str, item: Item) -> float:
        """Return what a rater thinks: 1 if the second text is clearly better, or the rated one is perfect."""
        noise = self._normal("noise", rater, item.id)
        if item.use in (CHECK, PRACTICE) and item.gold is not None and item.gold.better is not None:
            is_second = item.gold.better == item.candidates[-1].id
            return (_CHECK_SCORE if is_second else -_CHECK_SCORE) + _CHECK_NOISE * noise
        liked = [self._liking(rater, item, each) for each in item.candidates]
        return liked[-1] - (liked[0] if item.kind == COMPARE else 0.0) + self._settings.noise * noise

    def milliseconds(self, rater: str, trial: Trial) -> int:
        """Return the time from the image being shown to the choice."""
        return int(_TYPICAL_MS * exp(0.4 * self._normal("time", rater, trial.item.id)))

    def _liking(self, rater: str, item: Item, candidate: Candidate) -> float:
        """Return the score of a text for a rater; 0 for a reference."""
        if candidate.role != SYSTEM:
            return 0.0
        of_rater = self._settings.rater_sd * self._remembered("rater", rater)
        of_image = self._settings.image_sd * self._remembered("image", item.image or item.id, candidate.source)
        return self._opinion_of_all(candidate.source, item.scale) + of_rater + of_image

    def _opinion_of_all(self, system: str, scale: Scale) -> float:
        """Return the mean opinion about a system, which is computed once."""
        key = f"opinion/{system}/{scale.least}/{scale.largest}"
        if key not in self._known:
            given = self._settings
            deviation = hypot(given.rater_sd, given.image_sd, given.noise)
            self._known[key] = opinion_for(self._effects.get(system, 0.0), deviation, scale)
        return self._known[key]

    def _remembered(self, *label: str) -> float:
        """Return the normal number of a label, which is drawn once."""
        key = "/".join(label)
        if key not in self._known:
            self._known[key] = self._normal(*label)
        return self._known[key]

    def _normal(self, *label: str) -> float:
        drawn = stream(self._seed, f"human/raters/{'/'.join(label)}").random()
        return _NORMAL.inv_cdf(min(max(drawn, 1e-12), 1 - 1e-12))
