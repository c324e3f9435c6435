"""Dealing scored items into tasks so that no task shows a picture twice.

Items of one picture go to as many tasks, to those that have the fewest trials: no task gets two of one picture, and the
sizes of tasks differ by one at most. A series is dealt as one, the longest first; sizes may differ by more then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush

from vqagen.errors import VqagenError, counted
from vqagen.human.study.images import StudyImage
from vqagen.human.study.item import Item
from vqagen.human.study.settings import PlanSettings
from vqagen.rng import shuffled, stream

Unit = list[Item]
"""An item, or a series in its order."""


class PlanError(VqagenError):
    """No plan with these inputs has the properties that every plan has."""


def deal(items: Sequence[Item], images: Mapping[str, StudyImage], settings: PlanSettings) -> list[list[Item]]:
    """Return the scored items of each task. PlanError if a picture would stand in one task twice."""
    groups = _by_picture(items, images, settings.seed)
    number = min(-(-len(items) // settings.real_per_task), sum(map(len, groups)))
    largest = max(map(len, groups))
    if largest > number:
        have = f"{counted(len(items), 'item')} of {counted(len(groups), 'image')}"
        raise PlanError(
            f"a task would show an image twice: one image has {counted(largest, 'item')}, and {have} make"
            f" {counted(number, 'task')} of up to {settings.real_per_task};"
            f" {advice(len(items), largest, len(groups), settings)}"
        )
    tasks: list[list[Item]] = [[] for _ in range(number)]
    sources: list[Counter[tuple[str, ...]]] = [Counter() for _ in range(number)]
    waiting = [(0, task) for task in range(number)]
    for units in groups:
        for size, task in [heappop(waiting) for _ in units]:
            unit = min(units, key=lambda unit: (-len(unit), sources[task][_sources(unit)]))
            units.remove(unit)
            tasks[task] += unit
            sources[task][_sources(unit)] += 1
            heappush(waiting, (size + len(unit), task))
    return tasks


def picture_of(item: Item, images: Mapping[str, StudyImage]) -> str:
    """Return what no task may show twice: the content of the item's image; the item or series if it has none."""
    return images[item.image].sha256 if item.image else item.unit


def _by_picture(items: Sequence[Item], images: Mapping[str, StudyImage], seed: int) -> list[list[Unit]]:
    """Return the units of each picture, in random order but for series, and in one random order of sources."""
    units: dict[str, Unit] = {}
    for item in items:
        units.setdefault(item.unit, []).append(item)
    groups: dict[str, list[Unit]] = {}
    for unit in units.values():
        unit.sort(key=lambda item: item.place)
        groups.setdefault(picture_of(unit[0], images), []).append(unit)
    sources = shuffled(stream(seed, "human/sources"), sorted({_sources(unit) for unit in units.values()}))
    rank = {each: place for place, each in enumerate(sources)}
    for group in groups.values():
        group.sort(key=lambda unit: (rank[_sources(unit)], unit[0].id))
    order = shuffled(stream(seed, "human/pictures"), sorted(groups))
    return sorted((groups[each] for each in order), key=lambda group: -max(map(len, group)))


def _sources(unit: Unit) -> tuple[str, ...]:
    return unit[0].dimension, *(each.source for each in unit[0].candidates)


def advice(items: int, largest: int, pictures: int, settings: PlanSettings) -> str:
    """Return what to do about too few images: the largest number of trials for which there may be enough, if any.

    `largest` is the largest number of items of one image, `pictures` the number of images at hand.
    """
    others = settings.trials_per_task - settings.real_per_task
    for real in range(settings.real_per_task, 0, -1):
        tasks = -(-items // real)
        if largest <= tasks and -(-items // tasks) + settings.checks_per_task <= pictures:
            if real < settings.real_per_task:
                return f"add images, or use --trials-per-task {real + others} or less"
            break
    return "add images"
