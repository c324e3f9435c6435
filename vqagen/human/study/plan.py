"""A plan: the items of a study, and tasks that hold each scored item once, with checks in between."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vqagen.errors import BadInput, Problem
from vqagen.human.study.checks import CheckMaker, KnownTexts, instructed_items
from vqagen.human.study.dealing import PlanError, advice, deal, picture_of
from vqagen.human.study.images import StudyImage
from vqagen.human.study.item import CHECK, PRACTICE, Item, Scale
from vqagen.human.study.settings import PRACTICE_TRIALS, PlanSettings
from vqagen.human.study.sides import choose_sides
from vqagen.human.study.texts import Texts
from vqagen.human.study.trial import PlannedTrial, Task
from vqagen.rng import shuffled, stream

__all__ = ["Material", "Plan", "PlanError", "make_plan"]

_TASK_DIGITS = 10


@dataclass(frozen=True)
class Material:
    """Everything that a plan is made of."""

    real: Sequence[Item]
    """The items to score."""
    images: Mapping[str, StudyImage]
    known: Mapping[str, KnownTexts]
    """Right texts about images, of which checks and practice trials are made."""
    texts: Texts
    scale: Scale
    """The scale of checks that are made."""
    checks: Sequence[Item] = ()
    """Checks that are given; others are made only if there is none."""
    instructed: Sequence[Item] = ()
    practice: Sequence[Item] = ()
    spare: frozenset[str] = frozenset()
    """Images that no scored item shows: practice is made of them first."""


class Plan(NamedTuple):
    """Items and tasks, each in the order of their ids, and practice in the order in which it is shown."""

    items: dict[str, Item]
    tasks: dict[str, Task]
    practice: tuple[Item, ...]


def make_plan(material: Material, settings: PlanSettings) -> Plan:
    """Plan a study. BadInput if the settings leave nothing to score; PlanError if an image would be shown twice."""
    _check_settings(material, settings)
    real = deal(material.real, material.images, settings)
    dealer = _CheckDealer(material, settings)
    tasks = [[*items, *dealer.checks(items), *dealer.instructed(place)] for place, items in enumerate(real)]
    practice = dealer.practice()
    planned = list(_tasks(tasks, choose_sides(tasks), settings.seed))
    items = {item.id: item for items in (*tasks, practice) for item in items}
    return Plan(
        {name: items[name] for name in sorted(items)},
        {task.id: task for task in sorted(planned, key=lambda task: task.id)},
        tuple(practice),
    )


def _check_settings(material: Material, settings: PlanSettings) -> None:
    problems = []
    if not material.real:
        problems.append("no items to score")
    if settings.real_per_task < 1:
        problems.append(
            f"no trial of a task is scored: --checks-per-task {settings.checks_per_task} and --imc-per-task"
            f" {settings.imc_per_task} leave nothing of --trials-per-task {settings.trials_per_task}"
        )
    choices = len(material.instructed) or material.scale.largest - material.scale.least
    if settings.imc_per_task > choices:
        problems.append(
            f"--imc-per-task {settings.imc_per_task} is more than the {choices} different instructed trials"
        )
    if settings.checks_per_task and not material.checks and len(_contents(material)) < 2:
        problems.append(
            "an attention check needs texts of at least two different images: add images, or use --checks-per-task 0"
        )
    if problems:
        raise BadInput(Problem(each) for each in problems)


def _contents(material: Material) -> set[str]:
    return {material.images[name].sha256 for name in material.known}


class _CheckDealer:
    """Gives each task its checks and instructed trials: those given, in turn, or new ones."""

    def __init__(self, material: Material, settings: PlanSettings) -> None:
        self._material, self._settings = material, settings
        order = shuffled(stream(settings.seed, "human/given checks"), sorted(material.checks, key=_by_id))
        self._given = deque(order)
        self._maker = CheckMaker(material.known, material.images, material.texts, material.scale, settings.seed)
        self._instructed = sorted(material.instructed, key=_by_id) or instructed_items(material.texts, material.scale)

    def checks(self, items: Sequence[Item]) -> Iterator[Item]:
        """Yield the checks of a task with these scored items."""
        shown = {picture_of(item, self._material.images) for item in items}
        for number in range(self._settings.checks_per_task):
            check = self._given_check(shown) if self._given else self._maker.make(CHECK, shown)
            if check is None:
                raise PlanError(self._shortage(len(items), number))
            shown.add(picture_of(check, self._material.images))
            yield check

    def _given_check(self, shown: set[str]) -> Item | None:
        """Return the check that was used longest ago, of those whose image is not among those shown."""
        for place, check in enumerate(self._given):
            if picture_of(check, self._material.images) not in shown:
                del self._given[place]
                self._given.append(check)
                return check
        return None

    def _shortage(self, scored: int, checks: int) -> str:
        what = "all given checks show images that" if self._given else "all images with human texts"
        items, images = self._material.real, self._material.images
        groups = Counter(picture_of(item, images) for item in items)
        pictures = len(groups.keys() | {image.sha256 for image in images.values()})
        what_helps = advice(len(items), max(groups.values()), pictures, self._settings)
        found = f"{what} stand in it already ({scored} scored trials and {checks} checks)"
        return f"a task would show an image twice: {found}; {what_helps}"

    def instructed(self, task: int) -> list[Item]:
        """Return the instructed trials of a task."""
        rng = stream(self._settings.seed, "human/instructed", task)
        return shuffled(rng, self._instructed)[: self._settings.imc_per_task]

    def practice(self) -> list[Item]:
        """Return the practice trials: those given, or new ones, if possible of images that no scored item shows."""
        if self._material.practice:
            return list(self._material.practice)
        if len(_contents(self._material)) < 2:
            return []
        scored = {self._material.images[name].sha256 for name in self._material.known.keys() - self._material.spare}
        shown: set[str] = set()
        made: list[Item] = []
        for _ in range(PRACTICE_TRIALS):
            item = self._maker.make(PRACTICE, scored | shown) or self._maker.make(PRACTICE, shown)
            if item is None:
                break
            shown.add(picture_of(item, self._material.images))
            made.append(item)
        return made


def _by_id(item: Item) -> str:
    return item.id


def _tasks(tasks: Sequence[Sequence[Item]], sides: Sequence[Sequence[bool]], seed: int) -> Iterator[Task]:
    known: set[str] = set()
    for items, task_sides in zip(tasks, sides, strict=True):
        content = "/".join((str(seed), *(item.id for item in items)))
        digits = hashlib.sha256(content.encode()).hexdigest()
        start = next(start for start in range(len(digits)) if digits[start : start + _TASK_DIGITS] not in known)
        name = digits[start : start + _TASK_DIGITS]
        known.add(name)
        trials = (PlannedTrial(item.id, side) for item, side in zip(items, task_sides, strict=True))
        yield Task(name, tuple(trials))
