"""Decoys: items that stand as if another question were asked, so that likeness does not give away what is asked.

Without them the fitting items and their near misses are the only alike items of a grid: a model that never reads the
instruction found the answer in 72 % of trials.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from vqagen.rng import below, pick
from vqagen.tasks.director.design import NONE, SIZE
from vqagen.tasks.director.load import Plan, Rung
from vqagen.tasks.director.places import standings
from vqagen.tasks.director.question_table import Ids, Question

TRIES = 4
"""Draws of an item of a decoy that does not fit the question."""
TARGET, ANY, BETTER, WORSE = range(4)


class Role(NamedTuple):
    """One item of a decoy."""

    side: int
    """Where it stands beside the decoy's target."""
    items: Ids
    is_hidden: bool = False


def place_decoys(
    grid: list[int], is_test: bool, question: Question, plan: Plan, alike: Sequence[Question], rng: Random
) -> list[int]:
    """Put decoys into empty cells, and return those of their cells that are to be blocked.

    Each decoy has the numbers of the question itself: a target, items that are seen and that are hidden, near misses.
    `alike` are the questions that decoys are made of. No item of a decoy fits the question, or may fit it.
    """
    blocked, random, misfits = [], rng.random, question.misfits
    for _ in range(plan.decoys):
        free = [place for place, item in enumerate(grid) if item < 0]
        target = free[int(random() * len(free))]
        standing = standings(plan.settings.width, plan.settings.height, plan.rule)[target]
        sides = ((target,), free, standing.better, standing.worse)
        for side, items, is_hidden in _cast(alike[int(random() * len(alike))], plan, is_test, rng):
            wanted = [place for place in sides[side] if grid[place] < 0]
            if not wanted:  # no better or no worse cell is left
                wanted = [place for place in free if grid[place] < 0]
            place = wanted[int(random() * len(wanted))]
            item = items[int(random() * len(items))]
            grid[place] = item if item in misfits else _misfit(items, question, rng)
            if is_hidden:
                blocked.append(place)
    return blocked


def _misfit(items: Ids, question: Question, rng: Random) -> int:
    """Return one of the items that does not fit the question, or any such item."""
    for _ in range(TRIES):
        item = pick(rng, items)
        if item in question.misfits:
            return item
    return pick(rng, question.unrelated)


def _cast(decoy: Question, plan: Plan, is_test: bool, rng: Random) -> tuple[Role, ...]:
    """Return the roles of a decoy, its target first."""
    if plan.rule_class == SIZE:
        rung = pick(rng, plan.rungs_of(decoy))
        level = below(rng, len(rung.bars))
        key: object = decoy, is_test, rung.targets, level
    else:
        rung, level, key = None, 0, (decoy, is_test)
    roles = plan.casts.get(key)
    if roles is None:
        roles = tuple(_sized_roles(decoy, plan, is_test, rung, level) if rung else _roles(decoy, plan, is_test))
        plan.casts[key] = roles
    return roles


def _roles(decoy: Question, plan: Plan, is_test: bool) -> Iterator[Role]:
    load, related = plan.load, decoy.related
    rivals = plan.settings.competitors if is_test else 0
    yield Role(TARGET, related)
    for number in range(load.hidden):
        fits = is_test or plan.rule_class != NONE
        yield Role(BETTER if number < rivals else WORSE, related if fits else decoy.near_misses, is_hidden=True)
    yield from (Role(BETTER, foils) for foils in decoy.foils)
    yield from (Role(WORSE, related) for _ in range(load.seen))


def _sized_roles(decoy: Question, plan: Plan, is_test: bool, rung: Rung, level: int) -> Iterator[Role]:
    rivals = plan.settings.competitors if is_test else 0
    between = tuple(each for items in rung.better[level + 1 :] for each in items)
    yield Role(TARGET, rung.targets)
    for number in range(plan.load.hidden):
        items = rung.worse if number >= rivals else between if number else rung.better[level]
        yield Role(ANY, items, is_hidden=True)
    yield from (Role(ANY, foils) for foils in decoy.foils_of_size(*rung.bars[level]))
    yield from (Role(ANY, rung.worse) for _ in range(plan.load.seen))
