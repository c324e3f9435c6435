"""A plan: the items of a study, and tasks that hold each scored item once, with checks in between."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from vqagen.errors import BadInput, Problem
from vqagen.human.study.checks import CheckMaker, RightTexts
from vqagen.human.study.dealing import PlanError, advice, deal, picture_of
from vqagen.human.study.images import StudyImage
from vqagen.human.study.item import AFTER, ANSWER, BEFORE, CHECK, INSTRUCTED, PRACTICE, REAL, Item
from vqagen.human.study.settings import PlanSettings
from vqagen.human.study.sides import choose_sides
from vqagen.human.study.texts import Texts
from vqagen.human.study.trial import PlannedTrial, Task
from vqagen.rng import shuffled, stream

__all__ = ["Material", "Plan", "PlanError", "make_plan"]

PRACTICE_TRIALS = 2
"""Practice trials with feedback that are made, before the first trial; never scored."""
_TASK_DIGITS = 10
_NO_CHECKS = (
    "no attention checks: no item has the use check, and to make them takes texts by people (role reference, dimension"
    " fit) about at least two different images"
)


@dataclass(frozen=True)
class Material:
    """Everything that a plan is made of."""

    items: Sequence[Item]
    """Those to score, and any checks, instructed trials, practice and questions to the rater that are given."""
    images: Mapping[str, StudyImage]
    right: RightTexts
    """Of these checks and practice are made."""
    folder: str
    """Where the images lie by their ids."""
    inputs: Mapping[str, object]
    """Hashes of the files that it was made from."""
    notes: Sequence[str]
    """What the maker of the study should know, such as what was left out."""


class Plan(NamedTuple):
    """Items by id, and tasks in the order of their ids."""

    items: dict[str, Item]
    tasks: list[Task]
    notes: list[str]


def make_plan(material: Material, texts: Texts, settings: PlanSettings, tasks: Sequence[Task] = ()) -> Plan:
    """Plan tasks for the scored items that stand in none of `tasks`, which are those that the study has already.

    BadInput if the settings leave nothing to score; PlanError if an image would be shown twice.
    """
    images, seed = material.images, settings.seed
    given: dict[str, list[Item]] = defaultdict(list)
    for item in sorted(material.items, key=_place):
        given[item.use].append(item)
    placed = {trial.item for task in tasks for trial in task.trials}
    real = [item for item in given[REAL] if item.id not in placed]
    maker = CheckMaker(material.items, images, material.right, texts, seed)
    notes = list(_left_out(given, settings))
    has_checks = bool(given[CHECK]) or maker.pictures > 1
    if settings.checks_per_task and not has_checks and {item.kind for item in real} == {ANSWER}:
        notes.append(f"{_NO_CHECKS}; give questions whose answer is known the use check")
        settings = replace(settings, checks_per_task=0)
    instructed = given[INSTRUCTED] or maker.instructed()
    _check_settings(settings, len(real), has_checks, len(instructed))
    checks = deque(shuffled(stream(seed, "human/given checks"), given[CHECK]))
    dealt = []
    for place, items in enumerate(deal(real, images, settings)):
        made = _checks(items, checks, maker, material, settings)
        asked = shuffled(stream(seed, "human/instructed", place), instructed)[: settings.imc_per_task]
        dealt.append([*given[BEFORE], *items, *made, *asked, *given[AFTER]])
    practice = given[PRACTICE] or ([] if tasks else list(_practice(maker, real, images)))
    used = {item.id: item for items in (practice, *dealt) for item in items}
    named = _tasks(dealt, choose_sides(dealt), seed, {task.id for task in tasks})
    return Plan(
        {item.id: item for item in sorted(used.values(), key=_place)}, sorted(named, key=lambda task: task.id), notes
    )


def _place(item: Item) -> str:
    """Return what items are sorted by: their ids, or nothing where their order is given."""
    return "" if item.use in (PRACTICE, BEFORE, AFTER) else item.id


def _left_out(given: Mapping[str, Sequence[Item]], settings: PlanSettings) -> Iterator[str]:
    for use, number, flag in (
        (CHECK, settings.checks_per_task, "--checks-per-task"),
        (INSTRUCTED, settings.imc_per_task, "--imc-per-task"),
    ):
        if given[use] and not number:
            yield f"left out: {len(given[use]):,} items whose use is {use}, because of {flag} 0"


def _check_settings(settings: PlanSettings, real: int, has_checks: bool, instructed: int) -> None:
    problems = []
    if not real:
        problems.append("no items to score")
    if settings.real_per_task < 1:
        problems.append(
            f"no trial of a task is scored: --checks-per-task {settings.checks_per_task} and --imc-per-task"
            f" {settings.imc_per_task} leave nothing of --trials-per-task {settings.trials_per_task}"
        )
    if settings.imc_per_task > instructed:
        problems.append(
            f"--imc-per-task {settings.imc_per_task} is more than the {instructed} different instructed trials"
        )
    if settings.checks_per_task and not has_checks:
        problems.append(f"{_NO_CHECKS}; add some, or use --checks-per-task 0")
    if problems:
        raise BadInput(Problem(each) for each in problems)


def _checks(
    items: Sequence[Item], given: deque[Item], maker: CheckMaker, material: Material, settings: PlanSettings
) -> Iterator[Item]:
    """Yield the checks of a task with these scored items: the given one that was used longest ago, or a new one."""
    images = material.images
    shown = {picture_of(item, images) for item in items}
    for number in range(settings.checks_per_task):
        check = next((each for each in given if picture_of(each, images) not in shown), None)
        if check is not None:
            given.remove(check)
            given.append(check)
        else:
            check = maker.make(CHECK, shown)
        if check is None:
            groups = Counter(picture_of(item, images) for item in material.items if item.use == REAL)
            pictures = len(groups.keys() | {image.sha256 for image in images.values()})
            found = f"all images of checks stand in it already ({len(items)} scored trials and {number} checks)"
            what_helps = advice(groups.total(), max(groups.values()), pictures, settings)
            raise PlanError(f"a task would show an image twice: {found}; {what_helps}")
        shown.add(picture_of(check, images))
        yield check


def _practice(maker: CheckMaker, real: Sequence[Item], images: Mapping[str, StudyImage]) -> Iterator[Item]:
    """Yield practice trials, if possible of images that no scored item shows."""
    scored, shown = {picture_of(item, images) for item in real}, set[str]()
    for _ in range(PRACTICE_TRIALS if maker.pictures > 1 else 0):
        item = maker.make(PRACTICE, scored | shown) or maker.make(PRACTICE, shown)
        if item is not None:
            shown.add(picture_of(item, images))
            yield item


def _tasks(
    dealt: Sequence[Sequence[Item]], sides: Sequence[Sequence[bool]], seed: int, taken: set[str]
) -> Iterator[Task]:
    """Yield the tasks, each with an id that follows from its items and is not taken."""
    for items, task_sides in zip(dealt, sides, strict=True):
        digits = hashlib.sha256("/".join((str(seed), *(item.id for item in items))).encode()).hexdigest()
        names = (digits[start : start + _TASK_DIGITS] for start in range(len(digits)))
        name = next(each for each in names if each not in taken)
        taken.add(name)
        yield Task(name, tuple(PlannedTrial(item.id, side) for item, side in zip(items, task_sides, strict=True)))
