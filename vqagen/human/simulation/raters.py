"""Simulated raters: the answer that each of them gives in each trial follows from the seed and the ids alone.

A rater's opinion is that of all raters about the system, plus what is special about the rater and about the text of
this image, plus noise. The scale cuts opinions off at its ends, so the opinion about a system is chosen such that its
expected score against a reference is the true score that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, floor, hypot
from statistics import NormalDist

from vqagen.human.simulation.settings import RaterSettings
from vqagen.human.store.facts import Claimed, Fact, Submitted
from vqagen.human.study.item import (
    CHECK,
    COMPARE,
    PRACTICE,
    SYSTEM,
    Candidate,
    CellForm,
    ChoiceForm,
    Item,
    NumberForm,
    Scale,
)
from vqagen.human.study.study import Study, Trial
from vqagen.rng import pick, stream

_NORMAL = NormalDist()
_CHECK_SCORE, _CHECK_NOISE = 0.9, 0.3
"""How clear an attention check is to a rater: one of a thousand fails."""
_RIGHT = 0.9
"""The probability of the right answer to a question."""
_TYPICAL_MS = 6000
_FARTHEST, _HALVINGS = 4.0, 40
"""Opinions lie between -4 and 4; halved 40 times, that is exact to 1e-11."""


def simulated_facts(study: Study, raters: Raters, count: int, start: int = 0) -> Iterator[Fact]:
    """Yield the log of a study in which raters do tasks in turn until all slots are taken.

    No rater does a task twice, nor more tasks than the study allows. The slots of all tasks are filled evenly. Every
    task begins at the time `start`.
    """
    waiting = [(task, slot) for slot in range(study.slots) for task in study.tasks]
    done: dict[str, set[str]] = {f"rater{number:04}": set() for number in range(1, count + 1)}
    for _ in range(study.serving.tasks_per_person or len(study.tasks)):
        for rater, own in done.items():
            free = next((place for place in waiting if place[0] not in own), None)
            if free is not None:
                waiting.remove(free)
                own.add(free[0])
                yield from _work(raters, rater, f"{free[0]}-{free[1]}-0", study.trials(*free), start)


def _work(raters: Raters, rater: str, assignment: str, trials: Sequence[Trial], now: int) -> Iterator[Fact]:
    yield Claimed(now, assignment, rater, len(trials), "", now)
    for trial in trials:
        spent = raters.milliseconds(rater, trial)
        now += spent
        yield Submitted(now, assignment, trial.number, raters.answer(rater, trial), spent, spent, spent, now)


@dataclass(frozen=True)
class Raters:
    """Simulated raters, by any names."""

    settings: RaterSettings
    seed: int = 0

    def answer(self, rater: str, trial: Trial) -> int | str:
        """Return what a rater answers: a value from the left end of the scale to its right end, or to a question."""
        item, scale = trial.item, trial.item.scale
        if scale is None:
            return self._said(rater, item)
        if item.gold is not None and item.gold.value is not None:
            return item.gold.value
        chosen = floor(scale.center + self.opinion(rater, item) * (scale.largest - scale.least) / 2 + 0.5)
        bounded = min(max(chosen, scale.least), scale.largest)
        return item.toward_second(bounded, second_on_right=trial.second_on_right or item.kind != COMPARE)

    def opinion(self, rater: str, item: Item) -> float:
        """Return what a rater thinks: 1 if the second text is clearly better, or the rated one is perfect."""
        noise = self._normal("noise", rater, item.id)
        if item.use in (CHECK, PRACTICE) and item.gold is not None and item.gold.better is not None:
            is_second = item.gold.better == item.candidates[-1].id
            return (_CHECK_SCORE if is_second else -_CHECK_SCORE) + _CHECK_NOISE * noise
        liked = [self._liking(rater, item, each) for each in item.candidates]
        return liked[-1] - (liked[0] if item.kind == COMPARE else 0.0) + self.settings.noise * noise

    def milliseconds(self, rater: str, trial: Trial) -> int:
        """Return the time from the image being shown to the choice."""
        return int(_TYPICAL_MS * exp(0.4 * self._normal("time", rater, trial.item.id)))

    def _said(self, rater: str, item: Item) -> int | str:
        """Return the answer to a question: mostly the right one if it is known, else another one of those allowed."""
        rng, gold = stream(self.seed, f"human/raters/answer/{rater}/{item.id}"), item.gold.answer if item.gold else None
        allowed, is_right = _allowed(item, gold), rng.random() < _RIGHT
        return pick(rng, [each for each in allowed if (str(each) == gold) == is_right] or allowed)

    def _liking(self, rater: str, item: Item, candidate: Candidate) -> float:
        """Return the score of a text for a rater; 0 for a reference."""
        if candidate.role != SYSTEM:
            return 0.0
        given = self.settings
        deviation = hypot(given.rater_sd, given.image_sd, given.noise)
        assert item.scale is not None
        of_all = opinion_for(given.effects.get(candidate.source, 0.0), deviation, item.scale)
        of_image = self._normal("image", item.image or item.id, candidate.source)
        return of_all + given.rater_sd * self._normal("rater", rater) + given.image_sd * of_image

    def _normal(self, *label: str) -> float:
        return _normal(self.seed, "/".join(label))


def _allowed(item: Item, gold: str | None) -> Sequence[int | str]:
    """Return answers to a question, with the right one if it is known."""
    match item.form:
        case ChoiceForm(options=options):
            return options
        case CellForm(cells=cells):
            return [cell for cell in cells if cell]
        case NumberForm(least=least, largest=largest):
            near = int(gold) if gold else least
            return range(max(near - 2, least), min(near + 2, largest) + 1)
    return gold or "nothing", "something else"


@lru_cache(1 << 16)  # of a rater, and of an image, in all their trials: half of the time
def _normal(seed: int, label: str) -> float:
    drawn = stream(seed, f"human/raters/{label}").random()
    return _NORMAL.inv_cdf(min(max(drawn, 1e-12), 1 - 1e-12))


@lru_cache
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
