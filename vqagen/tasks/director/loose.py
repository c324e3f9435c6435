"""Trials by the looser rules of the first director task: ties are allowed, and no word need be needed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from vqagen.rng import pick, take
from vqagen.tasks.director.design import Cell
from vqagen.tasks.director.places import line_of, standings
from vqagen.tasks.director.question_table import Ids, KindSizes, Question
from vqagen.tasks.director.rules import NONE, SIZE, SMALLEST
from vqagen.tasks.director.trial import EMPTY, Trial
from vqagen.tasks.director.trial_plan import TrialPlan


def make_loose(cell: Cell, question: Question, plan: TrialPlan, alike: Sequence[Question], rng: Random) -> Trial:
    """Return a trial of a cell of the design. Blocked items may be as good as the target. There are no decoys."""
    numbers, settings = plan.numbers, plan.settings
    standing = pick(rng, plan.targets)
    target, worse = standing.cell, list(standing.worse)
    grid = [EMPTY] * (settings.width * settings.height)
    grid[target], worse_items, competitor_items = _items(question, plan, rng)
    seen, hidden = (numbers.seen, numbers.hidden) if cell.is_test else (numbers.seen + numbers.hidden, 0)
    if cell.rule == NONE:
        seen, hidden = 0, min(numbers.seen + numbers.hidden, numbers.blocked) if cell.is_test else 0
    kept = [target]
    for _ in range(seen):
        kept.append(take(rng, worse))
        grid[kept[-1]] = pick(rng, worse_items)
    blocked = []
    if hidden:
        good = [each for each in (*standing.better, *standing.even) if grid[each] == EMPTY]
        blocked = [take(rng, good)]
        grid[blocked[0]] = pick(rng, competitor_items)
    free = [each for each in range(len(grid)) if grid[each] == EMPTY]
    for _ in range(hidden - len(blocked)):
        blocked.append(take(rng, free))
        grid[blocked[-1]] = pick(rng, question.related)
    for _ in range(numbers.items - 1 - seen - hidden):
        grid[take(rng, free)] = pick(rng, question.unrelated)
    protected = frozenset((*(kept if cell.is_test else kept[:1]), *blocked))
    closable = [each for each in range(len(grid)) if each not in protected]
    blocked += [take(rng, closable) for _ in range(numbers.blocked - len(blocked))]
    return _trial(cell, question, plan, grid, frozenset(blocked), target)


def _items(question: Question, plan: TrialPlan, rng: Random) -> tuple[int, Ids, Ids]:
    """Return the target, the items that it beats, and those that beat or equal it."""
    if plan.rule_class != SIZE:
        return pick(rng, question.related), question.related, question.related
    kind: KindSizes = pick(rng, question.kind_sizes)
    sizes = kind.items if plan.rule == SMALLEST else kind.items[::-1]
    own = int(rng.random() * (len(sizes) - 1))
    behind = tuple(each for of_size in sizes[own + 1 :] for each in of_size)
    return pick(rng, sizes[own]), behind, tuple(each for of_size in sizes[: own + 1] for each in of_size)


def _trial(
    cell: Cell, question: Question, plan: TrialPlan, grid: list[int], blocked: frozenset[int], target: int
) -> Trial:
    question = _simplified(cell, question, plan, grid, blocked)
    related = _fitting(question, grid)
    hidden = sum(place in blocked for place in related)
    answers = _best(related, grid, question, plan)
    return Trial(cell, question, grid, blocked, target, answers, len(related) - hidden, hidden)


def _simplified(cell: Cell, question: Question, plan: TrialPlan, grid: list[int], blocked: frozenset[int]) -> Question:
    """Return the question without the adjectives that change nothing for the one who is asked about.

    As the first director task does: each is tried alone, all that can go then go at once, or none if the answer would
    be another. Whether the question is about physics does not change.
    """

    def answers(adjectives: tuple[str, ...]) -> tuple[int, ...] | None:
        shorter = question.table.question(question.noun, adjectives)
        fitting, is_unrelated = _fitting(shorter, grid), shorter.is_unrelated
        if any(item >= 0 and place not in fitting and not is_unrelated[item] for place, item in enumerate(grid)):
            return None
        seen = [place for place in fitting if place not in blocked] if cell.is_test else fitting
        return _best(seen, grid, question, plan)

    whole, physics = answers(question.adjectives), question.table.catalogue.physics
    needed = []
    for each in question.adjectives:
        others = tuple(other for other in question.adjectives if other != each)
        is_last = question.is_physics and physics.isdisjoint(others)
        if is_last or answers(others) != whole:
            needed.append(each)
    kept = tuple(needed)
    return question.table.question(question.noun, kept) if answers(kept) == whole else question


def _fitting(question: Question, grid: list[int]) -> list[int]:
    is_related = question.is_related
    return [place for place, item in enumerate(grid) if item >= 0 and is_related[item]]


def _best(related: list[int], grid: list[int], question: Question, plan: TrialPlan) -> tuple[int, ...]:
    """Return those of the fitting cells that fit best."""
    if plan.rule == NONE:
        return tuple(related)
    if plan.rule_class == SIZE:
        sign = 1 if plan.rule == SMALLEST else -1
        ranks = {place: sign * question.table.catalogue.items[grid[place]].size for place in related}
    else:
        width = plan.settings.width
        sign = 1 if standings(width, plan.settings.height, plan.rule)[0].worse else -1
        ranks = {place: sign * line_of(place, width, plan.rule) for place in related}
    return tuple(place for place, rank in ranks.items() if rank == min(ranks.values()))
