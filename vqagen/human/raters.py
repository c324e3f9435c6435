"""Simulated raters: the answer that each of them gives in each trial follows from the seed and the ids alone.

A rater's opinion is that of all raters about the system, plus what is special about the rater and about the text of
this image, plus noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, floor
from statistics import NormalDist

from vqagen.human.store.facts import Claimed, Fact, Submitted
from vqagen.human.study.item import (
    CHECK,
    COMPARE,
    PRACTICE,
    SYSTEM,
    Candidate,
    CellForm,
    ChoiceForm,
    NumberForm,
    StudyItem,
)
from vqagen.human.study.study import ShownTrial, Study
from vqagen.rng import pick, stream

RATER_SD, IMAGE_SD, NOISE = 0.2, 0.25, 0.5
"""Deviations of raters in how much they like systems, of a system over images, and of single answers."""
_CHECK_SCORE, _CHECK_NOISE = 0.9, 0.3
"""How clear an attention check is to a rater: one of a thousand fails."""
_RIGHT = 0.9
"""The probability of the right answer to a question."""
_TYPICAL_MS = 6000


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


def _work(raters: Raters, rater: str, assignment: str, trials: Sequence[ShownTrial], now: int) -> Iterator[Fact]:
    yield Claimed(now, assignment, rater, len(trials), "", now)
    for trial in trials:
        spent = raters.milliseconds(rater, trial)
        now += spent
        yield Submitted(now, assignment, trial.number, raters.answer(rater, trial), spent, spent, spent, now)


@dataclass(frozen=True)
class Raters:
    """Simulated raters, by any names."""

    seed: int = 0
    opinions: Mapping[str, float] = field(default_factory=dict)
    """System -> what all raters think of it beside a reference: 1 if it is clearly better; 0 for others."""

    def answer(self, rater: str, trial: ShownTrial) -> int | str:
        """Return what a rater answers: a value from the left end of the scale to its right end, or to a question."""
        item, scale = trial.item, trial.item.scale
        if scale is None:
            return self._said(rater, item)
        if item.gold is not None and item.gold.value is not None:
            return item.gold.value
        chosen = floor(scale.center + self._opinion(rater, item) * (scale.largest - scale.least) / 2 + 0.5)
        bounded = min(max(chosen, scale.least), scale.largest)
        return item.toward_second(bounded, second_on_right=trial.second_on_right or item.kind != COMPARE)

    def milliseconds(self, rater: str, trial: ShownTrial) -> int:
        """Return the time from the image being shown to the choice."""
        return int(_TYPICAL_MS * exp(0.4 * self._normal("time", rater, trial.item.id)))

    def _opinion(self, rater: str, item: StudyItem) -> float:
        """Return what a rater thinks: 1 if the second text is clearly better, or the rated one is perfect."""
        noise = self._normal("noise", rater, item.id)
        if item.use in (CHECK, PRACTICE) and item.gold is not None and item.gold.better is not None:
            is_second = item.gold.better == item.candidates[-1].id
            return (_CHECK_SCORE if is_second else -_CHECK_SCORE) + _CHECK_NOISE * noise
        liked = [self._liking(rater, item, each) for each in item.candidates]
        return liked[-1] - (liked[0] if item.kind == COMPARE else 0.0) + NOISE * noise

    def _liking(self, rater: str, item: StudyItem, candidate: Candidate) -> float:
        """Return how much a rater likes a text; 0 for a reference."""
        if candidate.role != SYSTEM:
            return 0.0
        of_image = self._normal("image", item.image or item.id, candidate.source)
        of_rater = self._normal("rater", rater)
        return self.opinions.get(candidate.source, 0.0) + RATER_SD * of_rater + IMAGE_SD * of_image

    def _said(self, rater: str, item: StudyItem) -> int | str:
        """Return the answer to a question: mostly the right one if it is known, else another one of those allowed."""
        rng, gold = stream(self.seed, f"human/raters/answer/{rater}/{item.id}"), item.gold.answer if item.gold else None
        allowed, is_right = _allowed(item, gold), rng.random() < _RIGHT
        return pick(rng, [each for each in allowed if (str(each) == gold) == is_right] or allowed)

    def _normal(self, *label: str) -> float:
        drawn = stream(self.seed, f"human/raters/{'/'.join(label)}").random()
        return NormalDist().inv_cdf(min(max(drawn, 1e-12), 1 - 1e-12))


def _allowed(item: StudyItem, gold: str | None) -> Sequence[int | str]:
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
