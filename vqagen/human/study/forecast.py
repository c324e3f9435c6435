"""The precision and the cost that a study may expect, computed before anybody is paid."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

from vqagen.errors import counted
from vqagen.extras import needed
from vqagen.human.study.item import COMPARE, REAL, SYSTEM, Item
from vqagen.human.study.study import Study

TYPICAL_DEVIATION = 0.6
"""Standard deviation of an answer from -1 to 1 in studies of captions."""
_TAIL = 0.975


class Forecast(NamedTuple):
    """The number of answers about texts of one kind, and the half-width of the 95 % interval of their mean."""

    dimension: str
    sources: str
    """A system, or `first - second` for two systems or two people."""
    comparisons: int
    answers: int
    half_width: float | None
    """For independent answers: raters or images that differ make it wider. None for one answer."""


def forecasts(study: Study) -> list[Forecast]:
    """Return a forecast for each dimension and system, in alphabetical order."""
    numbers: dict[tuple[str, str], int] = {}
    for task in study.tasks.values():
        for trial in task.trials:
            item = study.items[trial.item]
            if item.use == REAL:
                key = item.dimension, _sources(item)
                numbers[key] = numbers.get(key, 0) + 1
    return [
        Forecast(dimension, sources, number, number * study.slots, half_width(number * study.slots))
        for (dimension, sources), number in sorted(numbers.items())
    ]


def _sources(item: Item) -> str:
    if item.kind != COMPARE:
        return item.candidates[0].source
    first, second = item.candidates
    is_against_reference = first.role != SYSTEM and second.role == SYSTEM
    return second.source if is_against_reference else f"{first.source} - {second.source}"


def half_width(answers: int, deviation: float = TYPICAL_DEVIATION) -> float | None:
    """Return the half-width of the 95 % interval of a mean of independent answers; None for fewer than two."""
    if answers < 2:
        return None
    quantile = needed("scipy.special", "human", "the expected precision").stdtrit(answers - 1, _TAIL)
    return float(quantile) * deviation / sqrt(answers)


def forecast_lines(study: Study, reward_per_task: float = 0) -> Iterator[str]:
    """Yield what a study asks of raters, what precision to expect, and what it costs, in lines."""
    sizes = sorted({len(task.trials) for task in study.tasks.values()})
    trials = f"{sizes[0]} to {counted(sizes[-1], 'trial')}" if len(sizes) > 1 else counted(sizes[0], "trial")
    assignments = counted(len(study.tasks) * study.slots, "assignment")
    tasks = f"{counted(len(study.tasks), 'task')} of {trials}"
    yield f"study {study.id}: {tasks} for {counted(study.slots, 'rater')} each, {assignments}"
    for each in forecasts(study):
        precision = "" if each.half_width is None else f", half-width of the 95 % interval about {each.half_width:.3f}"
        numbers = f"{counted(each.comparisons, 'item')}, {counted(each.answers, 'answer')}"
        yield f"{each.dimension}, {each.sources}: {numbers}{precision}"
    yield f"(standard deviation {TYPICAL_DEVIATION}, independent answers; wider where raters or images differ)"
    if reward_per_task:
        cost = len(study.tasks) * study.slots * reward_per_task
        yield f"cost: {cost:,.2f} for {assignments} at {reward_per_task:.2f}, before the platform's fee"
