"""A plan: the items of a study, and tasks that hold each scored item once, with checks in between."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import chain

from vqagen.errors import BadInput, Problem, counted
from vqagen.human.settings import PlanSettings
from vqagen.human.study.checks import CheckMaker, RightTexts, right_texts
from vqagen.human.study.images import StudyImage
from vqagen.human.study.item import AFTER, ANSWER, BEFORE, CHECK, COMPARE, INSTRUCTED, PRACTICE, REAL, SYSTEM, StudyItem
from vqagen.human.study.study import PlannedTask, PlannedTrial
from vqagen.human.study.texts import Texts
from vqagen.rng import shuffled, stream

PRACTICE_TRIALS = 2
"""Practice trials with feedback that are made, before the first trial; never scored."""
_TASK_DIGITS = 10
_NO_CHECKS = (
    "no attention checks: no item has the use check, and to make them takes texts by people (role reference, dimension"
    " fit) about at least two different images"
)


@dataclass(frozen=True)
class Draft:
    """What a study is made of and, once it is planned, what is written of it."""

    items: Collection[StudyItem] = ()
    """Those to score, and any checks, instructed trials, practice and questions to the rater."""
    images: Mapping[str, StudyImage] = field(default_factory=dict)
    folder: str = ""
    """Where the images lie by their ids."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What it is made from."""
    notes: Sequence[str] = ()
    """What the maker of the study should know, such as what was left out."""
    right: RightTexts = field(default_factory=dict)
    """Of these checks and practice are made; if there are none, of texts by people in the items."""
    tasks: Collection[PlannedTask] = ()


def make_plan(draft: Draft, texts: Texts, settings: PlanSettings) -> Draft:
    """Plan a study: return the draft with what is used, and tasks.

    BadInput if the settings leave nothing to score, or if a check would show an image again.
    """
    images, seed, notes = draft.images, settings.seed, list(draft.notes)
    everything = {item.id: item for item in draft.items}.values()
    given: dict[str, list[StudyItem]] = defaultdict(list)
    for item in sorted(everything, key=_place):
        given[item.use].append(item)
    real = given[REAL]
    right = draft.right or right_texts(everything)
    maker = CheckMaker(everything, images, right, texts, seed)
    has_checks = bool(given[CHECK]) or maker.pictures > 1
    if settings.checks_per_task and not has_checks and {item.kind for item in real} == {ANSWER}:
        notes.append(f"{_NO_CHECKS}; give questions whose answer is known the use check")
        settings = replace(settings, checks_per_task=0)
    instructed = given[INSTRUCTED] or maker.instructed()
    _check_settings(settings, len(real), has_checks, len(instructed))
    scored = _deal(real, images, settings, settings.checks_per_task * all(item.image for item in given[CHECK]))
    if len(scored) > -(-len(real) // settings.real_per_task):
        notes.append("tasks are shorter than --trials-per-task allows, so that none shows an image twice")
    checks = deque(shuffled(stream(seed, "human/given checks"), given[CHECK]))
    dealt = []
    for task, together in enumerate(scored):
        made = _checks(together, checks, maker, images, settings.checks_per_task)
        asked = shuffled(stream(seed, "human/instructed", task), instructed)[: settings.imc_per_task]
        dealt.append([*given[BEFORE], *together, *made, *asked, *given[AFTER]])
    practice = given[PRACTICE] or list(_practice(maker, real, images))
    used = {item.id: item for together in (practice, *dealt) for item in together}
    if unused := sum(item.id not in used for item in draft.items if item.use in (CHECK, INSTRUCTED)):
        notes.append(f"left out: {counted(unused, 'check or instructed trial')} that no task has a place for")
    items = sorted(used.values(), key=_place)
    names = {item.image for item in items} - {""}
    planned = sorted(_tasks(dealt, seed), key=lambda task: task.id)
    return replace(
        draft, items=items, tasks=planned, images={name: images[name] for name in sorted(names)}, notes=notes
    )


def _place(item: StudyItem) -> str:
    """Return what items are sorted by: their ids, or nothing where their order is given."""
    return "" if item.use in (PRACTICE, BEFORE, AFTER) else item.id


def _check_settings(settings: PlanSettings, real: int, has_checks: bool, instructed: int) -> None:
    checks, others = settings.checks_per_task, settings.imc_per_task
    table = (
        (real == 0, "no items to score"),
        (
            settings.real_per_task < 1,
            f"no trial of a task is scored: --checks-per-task {checks} and --imc-per-task {others} leave nothing of"
            f" --trials-per-task {settings.trials_per_task}",
        ),
        (others > instructed, f"--imc-per-task {others} is more than the {instructed} different instructed trials"),
        (checks > 0 and not has_checks, f"{_NO_CHECKS}; add some, or use --checks-per-task 0"),
    )
    problems = [Problem(message) for is_wrong, message in table if is_wrong]
    if problems:
        raise BadInput(problems)


def _deal(
    items: Sequence[StudyItem], images: Mapping[str, StudyImage], settings: PlanSettings, checks: int
) -> list[list[StudyItem]]:
    """Return the scored items of each task, which will have a number of checks about other images.

    Items of one picture go to as many tasks, to those that have the fewest trials: no task gets two of one picture, and
    their sizes differ by one at most. A series is dealt as one, the longest first; then sizes may differ by more.
    """
    units: dict[str, list[StudyItem]] = {}
    for item in items:
        units.setdefault(item.unit, []).append(item)
    groups: dict[str, list[list[StudyItem]]] = {}
    for unit in units.values():
        unit.sort(key=lambda item: item.place)
        groups.setdefault(_picture(unit[0], images), []).append(unit)
    pictures = {image.sha256 for image in images.values()}
    shown = sum(len(groups[picture]) for picture in groups.keys() & pictures)
    least = -(-len(items) // settings.real_per_task), -(-shown // max(len(pictures) - checks, 1))
    number = min(max(*least, *map(len, groups.values())), len(units))
    tasks: list[list[StudyItem]] = [[] for _ in range(number)]
    waiting = [(0, task) for task in range(number)]
    order = shuffled(stream(settings.seed, "human/pictures"), sorted(groups))
    for picture in sorted(
        order, key=lambda picture_name: (-max(map(len, groups[picture_name])), picture_name not in pictures)
    ):
        group = sorted(
            groups[picture], key=lambda unit: ([candidate.source for candidate in unit[0].candidates], unit[0].id)
        )
        taken = [heappop(waiting) for _ in group]
        turn = sum(taken[0]) % len(group)  # each task gets all sources equally often: trial r of task t has r + t
        for (size, task), unit in zip(taken, group[turn:] + group[:turn], strict=True):
            tasks[task] += unit
            heappush(waiting, (size + len(unit), task))
    return tasks


def _picture(item: StudyItem, images: Mapping[str, StudyImage]) -> str:
    """Return what no task may show twice: the content of the item's image; the item or series if it has none."""
    return images[item.image].sha256 if item.image else item.unit


def _checks(
    items: Sequence[StudyItem],
    given: deque[StudyItem],
    maker: CheckMaker,
    images: Mapping[str, StudyImage],
    number: int,
) -> Iterator[StudyItem]:
    """Yield checks of a task with these scored items: the given one that was used longest ago, or a new one."""
    shown = {_picture(item, images) for item in items}
    for done in range(number):
        check = next((waiting for waiting in given if _picture(waiting, images) not in shown), None)
        if check is not None:
            given.remove(check)
            given.append(check)
        else:
            check = maker.make(CHECK, shown)
        if check is None:
            reason = f"all images of checks stand in it already ({len(items)} scored trials and {done} checks)"
            message = f"a task would show an image twice: {reason}; add images, or use --checks-per-task {done}"
            raise BadInput([Problem(message)])
        shown.add(_picture(check, images))
        yield check


def _practice(maker: CheckMaker, real: Sequence[StudyItem], images: Mapping[str, StudyImage]) -> Iterator[StudyItem]:
    """Yield practice trials, if possible of images that no scored item shows."""
    scored, shown = {_picture(item, images) for item in real}, set[str]()
    for _ in range(PRACTICE_TRIALS if maker.pictures > 1 else 0):
        item = maker.make(PRACTICE, scored | shown) or maker.make(PRACTICE, shown)
        if item is not None:
            shown.add(_picture(item, images))
            yield item


def _tasks(dealt: Sequence[Sequence[StudyItem]], seed: int) -> Iterator[PlannedTask]:
    """Yield the tasks, each with an id that follows from its items."""
    for items, sides in zip(dealt, choose_sides(dealt), strict=True):
        content = "/".join((str(seed), *(item.id for item in items)))
        trials = tuple(PlannedTrial(item.id, side) for item, side in zip(items, sides, strict=True))
        yield PlannedTask(hashlib.sha256(content.encode()).hexdigest()[:_TASK_DIGITS], trials)


# Sides ---------------------------------------------------------------------------------------------------------------
#
# The side of each text is balanced in each task, for each pair of sources and for each system. A trial is an edge
# between its task and its pair of sources. Closed walks that use each edge once leave a vertex as often as they enter
# it (Euler). The direction of a trial's edge says its side, so both sides are equally frequent.

Vertex = tuple[Hashable, ...]
"""A group, a name in it and, if that names a group too, a name in that."""
Edge = tuple[Vertex, Vertex]
FREE: Vertex = ()
"""A vertex that need not be balanced."""


def directed(edges: Sequence[Edge]) -> list[bool]:
    """Return True for each edge that is walked from its first to its second vertex.

    At each vertex but FREE, edges that leave and edges that enter differ in number by one at most; so they do at all
    vertices of a group together, small or large. Two trials of one pair in two tasks, a path from task to task, get
    both sides: `directed([(("task", 0), ("A",)), (("task", 1), ("A",))])` is `[True, False]` or `[False, True]`.
    """
    ends = list(edges)
    odd = [vertex for vertex, degree in Counter(chain.from_iterable(edges)).items() if degree % 2 and vertex != FREE]
    for level in (2, 1):
        waiting: dict[Vertex, Vertex] = {}
        for vertex in odd:
            if vertex[:level] in waiting:
                ends.append((waiting.pop(vertex[:level]), vertex))
            else:
                waiting[vertex[:level]] = vertex
        odd = list(waiting.values())
    ends += [(vertex, FREE) for vertex in odd]  # all degrees are even now: that of FREE too, as their sum is
    at: dict[Vertex, list[int]] = {}
    for number, edge in enumerate(ends):
        for vertex in edge:
            at.setdefault(vertex, []).append(number)
    forward: dict[int, bool] = {}
    for start in at:
        vertex = start
        while at[vertex]:  # a walk ends where it began
            number = at[vertex].pop()
            if number not in forward:
                first, second = ends[number]
                forward[number] = vertex == first
                vertex = second if forward[number] else first
    return [forward[number] for number in range(len(edges))]


def choose_sides(tasks: Sequence[Sequence[StudyItem]]) -> list[list[bool]]:
    """Return for each item of each task whether its second text is on the right in slots 0, 2, 4, …

    The numbers of both sides differ by one at most for each pair of sources and each system. If no comparison is of two
    systems, they do so in each task, too.
    """
    trials = [(task, item) for task, items in enumerate(tasks) for item in items if _has_sides(item)]
    pairs = [_pair(item) for _, item in trials]
    sides = directed([(("task", task), pair) for (task, _), pair in zip(trials, pairs, strict=True)])
    turned = set(_to_turn([item for _, item in trials], pairs, sides))
    following = (side != (number in turned) for number, side in enumerate(sides))
    return [[next(following) if _has_sides(item) else True for item in items] for items in tasks]


def _has_sides(item: StudyItem) -> bool:
    """True if the side of its texts may matter: not for one text, and not for the same text twice."""
    return item.kind == COMPARE and item.use != INSTRUCTED


def _pair(item: StudyItem) -> Vertex:
    """Return the sources and dimension of an item; those of one second source are a group, in a dimension too."""
    first, second = ((candidate.role, candidate.source) for candidate in item.candidates)
    return (item.use, second), item.dimension, first


def _to_turn(items: Sequence[StudyItem], pairs: Sequence[Vertex], sides: Sequence[bool]) -> Iterator[int]:
    """Yield the trials to turn if systems are compared with each other, so that each is balanced over all its pairs.

    A pair with an odd number of trials has one more of one side. These surpluses are the edges of a graph of systems.
    """
    if not any(candidate.role == SYSTEM for item in items for candidate in item.candidates[:1]):
        return
    numbers: dict[Vertex, list[int]] = {}
    for number, pair in enumerate(pairs):
        numbers.setdefault(pair, []).append(number)
    odd = [trials for trials in numbers.values() if len(trials) % 2]
    for trials, wanted in zip(odd, directed([_ends(items[trials[0]]) for trials in odd]), strict=True):
        side = 2 * sum(sides[number] for number in trials) > len(trials)
        if side != wanted:
            yield next(number for number in trials if sides[number] == side)


def _ends(item: StudyItem) -> Edge:
    """Return the systems of a pair, in its dimension; FREE for a reference, but not for two references."""
    first, second = (
        ((item.use, candidate.source), item.dimension) if candidate.role == SYSTEM else FREE
        for candidate in item.candidates
    )
    return first, second
