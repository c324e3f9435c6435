"""Decoys: items that stand as if another question were asked, so that likeness does not give away what is asked.

Without them the fitting items and their near misses are the only alike items of a grid: a model that never reads the
instruction found the answer in 72 % of trials.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from vqagen.rng import pick
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
    blocked, random, is_unrelated = [], rng.random, question.is_unrelated
    for _ in range(plan.decoys):
        # Of a type of its own, so that decoys do not give away the type of the trial.
        choices = _choices(alike[int(random() * len(alike))], plan)[random() < 0.5]
        choice = choices[int(random() * len(choices))]
        sides: Sequence[Sequence[int]] = plan.whole_grid
        for side, items, is_hidden in choice[int(random() * len(choice))]:
            cells, tries = sides[side], TRIES
            while tries and cells:  # most cells are empty: cheaper than to list those that are
                place = cells[int(random() * len(cells))]
                if grid[place] < 0:
                    break
                tries -= 1
            else:
                place = _empty_cell(grid, cells, rng)
            if sides is plan.whole_grid:  # the target comes first
                sides = plan.sides[place]
            item = items[int(random() * len(items))]
            grid[place] = item if is_unrelated[item] else _unrelated(items, question, rng)
            if is_hidden:
                blocked.append(place)
    return blocked


def _empty_cell(grid: list[int], side: Sequence[int], rng: Random) -> int:
    """Return an empty cell of a side, uniformly; any empty one if that has none."""
    empty = [place for place in side if grid[place] < 0]
    return pick(rng, empty or [place for place, item in enumerate(grid) if item < 0])


def _unrelated(items: Ids, question: Question, rng: Random) -> int:
    """Return one of the items that does not fit the question, or any such item."""
    for _ in range(TRIES):
        item = pick(rng, items)
        if question.is_unrelated[item]:
            return item
    return pick(rng, question.unrelated)


def _choices(decoy: Question, plan: TrialPlan) -> tuple[DecoyChoices, DecoyChoices]:
    """Return the choices in control and in test trials."""
    found: tuple[DecoyChoices, DecoyChoices] | None = plan.decoy_choices.get(decoy)
    if found is None:
        make = _sized_choices if plan.rule_class == SIZE else _other_choices
        found = plan.decoy_choices[decoy] = make(decoy, plan, False), make(decoy, plan, True)
    return found


def _other_choices(decoy: Question, plan: TrialPlan, is_test: bool) -> DecoyChoices:
    return [[list(_items(decoy, plan, is_test))]]


def _items(decoy: Question, plan: TrialPlan, is_test: bool) -> Iterator[DecoyItem]:
    numbers, related = plan.numbers, decoy.related
    better, worse = (ANY, ANY) if plan.rule_class == NONE else (BETTER, WORSE)
    yield DecoyItem(ANY, related)
    for number in range(numbers.hidden):
        fits = is_test or plan.rule_class != NONE
        side = better if is_test and number == 0 else worse
        yield DecoyItem(side, related if fits else decoy.near_misses, is_hidden=True)
    yield from (DecoyItem(better, foils) for foils in decoy.foils)
    yield from (DecoyItem(worse, related) for _ in range(numbers.seen))


def _sized_choices(decoy: Question, plan: TrialPlan, is_test: bool) -> DecoyChoices:
    sizes = plan.target_sizes_of(decoy)
    return [
        [list(_sized_items(decoy, plan, is_test, size, level)) for level in range(len(size.bars))] for size in sizes
    ]


def _sized_items(decoy: Question, plan: TrialPlan, is_test: bool, size: TargetSize, level: int) -> Iterator[DecoyItem]:
    yield DecoyItem(ANY, size.targets)
    for number in range(plan.numbers.hidden):
        items = size.better[level] if is_test and number == 0 else size.worse
        yield DecoyItem(ANY, items, is_hidden=True)
    yield from (DecoyItem(ANY, foils) for foils in decoy.foils_of_size(*size.bars[level]))
    yield from (DecoyItem(ANY, size.worse) for _ in range(plan.numbers.seen))
