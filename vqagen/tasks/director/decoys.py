"""Decoys: items that stand as if another question were asked, so that likeness does not give away what is asked.

Without them the fitting items and their near misses are the only alike items of a grid: a model that never reads the
instruction found the answer in 72 % of trials.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from vqagen.rng import pick
from vqagen.tasks.director.places import standings
from vqagen.tasks.director.question_table import Ids, Question
from vqagen.tasks.director.rules import NONE, SIZE
from vqagen.tasks.director.trial_plan import TargetSize, TrialPlan

TRIES = 4
"""Draws of a cell that is empty, and of an item that does not fit the question, before they are looked for."""
ANY, BETTER, WORSE = range(3)


class DecoyItem(NamedTuple):
    """One item of a decoy."""

    side: int
    """Where it stands beside the decoy's target."""
    items: Ids
    is_hidden: bool = False


DecoyChoices = Sequence[Sequence[Sequence[DecoyItem]]]
"""The decoys of a question: one of these, and one of its, is taken by chance. Each is its items, the target first."""


def place_decoys(
    grid: list[int], question: Question, plan: TrialPlan, alike: Sequence[Question], rng: Random
) -> list[int]:
    """Put decoys into empty cells, and return those of their cells that are to be blocked.

    Each decoy has the numbers of the question itself: a target, items that are seen and that are hidden, near misses.
    `alike` are the questions that decoys are made of. No item of a decoy fits the question, or may fit it.
    """
    blocked, random, misfits, settings = [], rng.random, question.misfits, plan.settings
    for _ in range(plan.decoys):
        free = [place for place, item in enumerate(grid) if item < 0]
        is_test = random() < 0.5  # of its own, so that decoys do not give away the type of the trial
        choices = _choices(alike[int(random() * len(alike))], plan, is_test)
        choice = choices[int(random() * len(choices))]
        chosen = choice[int(random() * len(choice))]
        standing = None  # of the target, which is placed first
        for side, items, is_hidden in chosen:
            if side == ANY:
                at = int(
                    random() * len(free)
                )  # `take` and `pick` are written out here: half of the time of a trial is spent in this loop
                place, free[at] = free[at], free[-1]
                free.pop()
            else:
                standing = standing or standings(settings.width, settings.height, plan.rule)[place]
                place = _empty_cell(grid, standing.better if side == BETTER else standing.worse, rng)
            item = items[int(random() * len(items))]
            grid[place] = item if item in misfits else _misfit(items, question, rng)
            if is_hidden:
                blocked.append(place)
    return blocked


def _empty_cell(grid: list[int], side: Sequence[int], rng: Random) -> int:
    """Return an empty cell of a side, uniformly; any empty one if that has none."""
    random, size = rng.random, len(side)
    for _ in range(TRIES if size else 0):  # most cells are empty: cheaper than to list those that are
        place = side[int(random() * size)]
        if grid[place] < 0:
            return place
    empty = [place for place in side if grid[place] < 0]
    return pick(rng, empty or [place for place, item in enumerate(grid) if item < 0])


def _misfit(items: Ids, question: Question, rng: Random) -> int:
    """Return one of the items that does not fit the question, or any such item."""
    for _ in range(TRIES):
        item = pick(rng, items)
        if item in question.misfits:
            return item
    return pick(rng, question.unrelated)


def _choices(decoy: Question, plan: TrialPlan, is_test: bool) -> DecoyChoices:
    key = decoy, is_test
    found: DecoyChoices | None = plan.decoy_choices.get(key)
    if found is None:
        found = plan.decoy_choices[key] = (
            _sized_choices(decoy, plan, is_test) if plan.rule_class == SIZE else [[list(_items(decoy, plan, is_test))]]
        )
    return found


def _items(decoy: Question, plan: TrialPlan, is_test: bool) -> Iterator[DecoyItem]:
    numbers, related = plan.numbers, decoy.related
    competitors = plan.settings.competitors if is_test else 0
    better, worse = (ANY, ANY) if plan.rule_class == NONE else (BETTER, WORSE)
    yield DecoyItem(ANY, related)
    for number in range(numbers.hidden):
        fits = is_test or plan.rule_class != NONE
        yield DecoyItem(
            better if number < competitors else worse, related if fits else decoy.near_misses, is_hidden=True
        )
    yield from (DecoyItem(better, foils) for foils in decoy.foils)
    yield from (DecoyItem(worse, related) for _ in range(numbers.seen))


def _sized_choices(decoy: Question, plan: TrialPlan, is_test: bool) -> DecoyChoices:
    sizes = plan.target_sizes_of(decoy)
    return [
        [list(_sized_items(decoy, plan, is_test, size, level)) for level in range(len(size.bars))] for size in sizes
    ]


def _sized_items(decoy: Question, plan: TrialPlan, is_test: bool, size: TargetSize, level: int) -> Iterator[DecoyItem]:
    competitors = plan.settings.competitors if is_test else 0
    between = tuple(each for items in size.better[level + 1 :] for each in items)
    yield DecoyItem(ANY, size.targets)
    for number in range(plan.numbers.hidden):
        items = size.worse if number >= competitors else between if number else size.better[level]
        yield DecoyItem(ANY, items, is_hidden=True)
    yield from (DecoyItem(ANY, foils) for foils in decoy.foils_of_size(*size.bars[level]))
    yield from (DecoyItem(ANY, size.worse) for _ in range(plan.numbers.seen))
