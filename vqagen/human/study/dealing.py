"""Dealing comparisons into tasks so that no task shows a picture twice.

Comparisons stand in a row, those of one picture side by side, and are dealt to the tasks in turn like cards. As no
picture has more comparisons than there are tasks, no task gets two of one picture, and the tasks' sizes differ by one
at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vqagen.errors import VqagenError, counted
from vqagen.human.study.images import StudyImage
from vqagen.human.study.item import Item
from vqagen.human.study.settings import PlanSettings
from vqagen.rng import shuffled, stream


class PlanError(VqagenError):
    """No plan with these inputs has the properties that every plan has."""


def deal(items: Sequence[Item], images: Mapping[str, StudyImage], settings: PlanSettings) -> list[list[Item]]:
    """Return the scored items of each task. PlanError if a picture would stand in one task twice."""
    groups = _by_picture(items, images, settings.seed)
    tasks = -(-len(items) // settings.real_per_task)
    largest = max(groups, key=len)
    if len(largest) > tasks:
        raise PlanError(_shortage(len(largest), len(items), len(groups), settings))
    row = [item for place, group in _with_places(groups) for item in _turned(group, place // tasks, tasks)]
    return [row[task::tasks] for task in range(tasks)]


def picture_of(item: Item, images: Mapping[str, StudyImage]) -> str:
    """Return what no task may show twice: the content of the item's image; the item itself if it has none."""
    return images[item.image].sha256 if item.image else f"item {item.id}"


def _by_picture(items: Sequence[Item], images: Mapping[str, StudyImage], seed: int) -> list[list[Item]]:
    """Return the items of each picture, in random order of pictures and in one random order of sources."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(picture_of(item, images), []).append(item)
    sources = sorted({_sources(item) for item in items})
    rank = {each: place for place, each in enumerate(shuffled(stream(seed, "human/sources"), sources))}
    order = shuffled(stream(seed, "human/pictures"), sorted(groups))
    return [sorted(groups[each], key=lambda item: (rank[_sources(item)], item.id)) for each in order]


def _sources(item: Item) -> tuple[str, ...]:
    return item.dimension, *(each.source for each in item.candidates)


def _with_places(groups: Sequence[list[Item]]) -> list[tuple[int, list[Item]]]:
    """Return each group with the number of items before it."""
    placed, before = [], 0
    for group in groups:
        placed.append((before, group))
        before += len(group)
    return placed


def _turned(group: list[Item], round: int, tasks: int) -> list[Item]:
    """Return the group turned so that each task gets the sources in equal numbers.

    With groups of equal size m, the card at round r and task t has place r * tasks + t, so its source would be
    (r * tasks + t) mod m: the same in all rounds if m divides the number of tasks. Turned by r * (1 - tasks) it is
    (r + t) mod m.
    """
    turn = round * (1 - tasks) % len(group)
    return group[turn:] + group[:turn]


def _shortage(largest: int, items: int, pictures: int, settings: PlanSettings) -> str:
    """Return the message about too many comparisons of one image for too few tasks."""
    tasks = -(-items // settings.real_per_task)
    have = f"{counted(items, 'comparison')} of {counted(pictures, 'image')}"
    return (
        f"a task would show an image twice: one image has {counted(largest, 'comparison')}, and {have} make"
        f" {counted(tasks, 'task')} of up to {settings.real_per_task}; {advice(items, largest, pictures, settings)}"
    )


def advice(items: int, largest: int, pictures: int, settings: PlanSettings) -> str:
    """Return what to do about too few images: the largest number of trials for which there may be enough, if any.

    `largest` is the largest number of comparisons of one image, `pictures` the number of images at hand.
    """
    others = settings.trials_per_task - settings.real_per_task
    for real in range(settings.real_per_task, 0, -1):
        tasks = -(-items // real)
        if largest <= tasks and -(-items // tasks) + settings.checks_per_task <= pictures:
            if real < settings.real_per_task:
                return f"add images, or use --trials-per-task {real + others} or less"
            break
    return "add images"
