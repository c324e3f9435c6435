"""Trials with one right answer, by construction: every word is needed, and one cell tells the two views apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from vqagen.rng import below, pick, take
from vqagen.tasks.director.decoys import place_decoys
from vqagen.tasks.director.design import Cell
from vqagen.tasks.director.places import OPPOSITE, rays, standings
from vqagen.tasks.director.question_table import Question
from vqagen.tasks.director.rules import HORIZONTAL, MIRRORED, NONE, RELATION, SIZE, VERTICAL
from vqagen.tasks.director.trial import EMPTY, Trial
from vqagen.tasks.director.trial_plan import TargetSize, TrialPlan


def make_strict(cell: Cell, question: Question, plan: TrialPlan, alike: Sequence[Question], rng: Random) -> Trial:
    """Return a trial of a cell of the design. `plan` is that of the rule and of the question's adjectives.

    `alike` are questions with as many adjectives, of which decoys are made.
    """
    return _MAKERS[cell.rule_class](cell, question, plan, alike, rng)


def _make_plain(cell: Cell, question: Question, plan: TrialPlan, alike: Sequence[Question], rng: Random) -> Trial:
    """Return a trial without a rule: one item fits that the director sees, and in tests others that he does not."""
    numbers, related = plan.numbers, question.related
    grid = [EMPTY] * (plan.settings.width * plan.settings.height)
    free = list(range(len(grid)))
    target = take(rng, free)
    grid[target] = pick(rng, related)
    hidden = [take(rng, free) for _ in range(numbers.hidden)]
    for place in hidden:
        grid[place] = pick(rng, related if cell.is_test else question.near_misses)
    for foils in question.foils:
        grid[take(rng, free)] = pick(rng, foils)
    answers = tuple(sorted((target, *hidden))) if cell.is_test else (target,)
    hidden += place_decoys(grid, question, plan, alike, rng)
    blocked = _fill(grid, hidden, plan, question, rng)
    fitting = numbers.hidden if cell.is_test else 0
    competitor = hidden[0] if cell.is_test else EMPTY
    return Trial(cell, question, grid, blocked, target, answers, 1, fitting, competitor)


def _make_spatial(cell: Cell, question: Question, plan: TrialPlan, alike: Sequence[Question], rng: Random) -> Trial:
    """Return a trial about the topmost, bottommost, leftmost or rightmost."""
    numbers, related, settings = plan.numbers, question.related, plan.settings
    grid = [EMPTY] * (settings.width * settings.height)
    standing = pick(rng, plan.targets)
    better, worse = list(standing.better), list(standing.worse)
    grid[standing.cell] = pick(rng, related)
    first, hidden = EMPTY, []
    if cell.is_test:
        first = pick(rng, plan.firsts_of[standing.cell])
        hidden, better = [first], _ahead_of(first, better, plan)
    for foils in question.foils:
        grid[take(rng, better)] = pick(rng, foils)
    for _ in range(numbers.seen):
        grid[take(rng, worse)] = pick(rng, related)
    hidden += [take(rng, worse) for _ in range(numbers.hidden - len(hidden))]
    for place in hidden:
        grid[place] = pick(rng, related)
    hidden += place_decoys(grid, question, plan, alike, rng)
    blocked = _fill(grid, hidden, plan, question, rng)
    answers = (first,) if cell.is_test else (standing.cell,)
    return Trial(cell, question, grid, blocked, standing.cell, answers, 1 + numbers.seen, numbers.hidden, first)


def _ahead_of(first: int, better: list[int], plan: TrialPlan) -> list[int]:
    """Return the better cells but the competitor's; in pairs, those that the competitor does not beat."""
    settings = plan.settings
    behind = standings(settings.width, settings.height, plan.rule)[first].worse if settings.paired else ()
    return [each for each in better if each != first and each not in behind]


def _make_sized(cell: Cell, question: Question, plan: TrialPlan, alike: Sequence[Question], rng: Random) -> Trial:
    """Return a trial about the smallest or largest. All items that fit are of one kind."""
    numbers, settings = plan.numbers, plan.settings
    size: TargetSize = pick(rng, plan.target_sizes_of(question))
    level = below(rng, len(size.bars))
    grid = [EMPTY] * (settings.width * settings.height)
    free = list(range(len(grid)))
    target = take(rng, free)
    grid[target] = pick(rng, size.targets)
    hidden, first = [], EMPTY
    if cell.is_test:
        first = take(rng, free)
        grid[first] = pick(rng, size.better[level])
        hidden = [first]
    for foils in question.foils_of_size(*size.bars[level]):
        grid[take(rng, free)] = pick(rng, foils)
    for _ in range(numbers.seen):
        grid[take(rng, free)] = pick(rng, size.worse)
    for _ in range(numbers.hidden - len(hidden)):
        hidden.append(take(rng, free))
        grid[hidden[-1]] = pick(rng, size.worse)
    hidden += place_decoys(grid, question, plan, alike, rng)
    blocked = _fill(grid, hidden, plan, question, rng)
    answers = (first,) if cell.is_test else (target,)
    return Trial(cell, question, grid, blocked, target, answers, 1 + numbers.seen, numbers.hidden, first)


def _make_relation(cell: Cell, question: Question, plan: TrialPlan, alike: Sequence[Question], rng: Random) -> Trial:
    """Return a trial about the first item in a direction from the only item that fits."""
    settings = plan.settings
    grid = [EMPTY] * (settings.width * settings.height)
    reference = pick(rng, plan.references)
    ray = rays(settings.width, settings.height, plan.rule)[reference]
    step = 1 + below(rng, min(len(ray) - 1, plan.empty))
    target, passed = ray[step], list(ray[:step])
    taken = {reference, target, *passed}
    grid[reference], grid[target] = pick(rng, question.related), pick(rng, question.unrelated)
    if plan.rule in MIRRORED:
        place = pick(rng, rays(settings.width, settings.height, OPPOSITE[plan.rule])[reference])
        grid[place] = pick(rng, question.unrelated)
        taken.add(place)
    free = [place for place in range(len(grid)) if place not in taken]
    hidden = [take(rng, passed if cell.is_test else free)]
    grid[hidden[0]] = pick(rng, question.unrelated)
    for foils in question.foils:
        grid[take(rng, free)] = pick(rng, foils)
    blocked = _fill(grid, hidden, plan, question, rng, bare=passed)
    on_ray = [place for place in ray if grid[place] != EMPTY]
    seen = sum(place not in blocked for place in on_ray)
    first = hidden[0] if cell.is_test else EMPTY
    answers = (first,) if cell.is_test else (target,)
    return Trial(cell, question, grid, blocked, target, answers, seen, len(on_ray) - seen, first)


def _fill(
    grid: list[int],
    hidden: Sequence[int],
    plan: TrialPlan,
    question: Question,
    rng: Random,
    bare: Sequence[int] = (),
) -> frozenset[int]:
    """Put items that are nothing to the question into empty cells, and return the blocked cells.

    `bare` are cells that stay empty; they may be blocked.
    """
    is_unrelated, random = question.is_unrelated, rng.random
    items = len(is_unrelated)
    free = [place for place, item in enumerate(grid) if item < 0]
    if bare:
        free = [place for place in free if place not in bare]
    left = len(free)
    for _ in range(plan.fillers):  # `take` and `pick` written out: it is done very often
        place = int(random() * left)
        left -= 1
        free[place], free[left] = free[left], free[place]
        item = int(random() * items)
        grid[free[left]] = item if is_unrelated[item] else pick(rng, question.unrelated)
    free += bare
    left = len(free)
    for _ in range(plan.numbers.blocked - len(hidden)):
        place = int(random() * left)
        left -= 1
        free[place], free[left] = free[left], free[place]
    return frozenset((*hidden, *free[left:]))


_MAKERS: dict[str, Callable[[Cell, Question, TrialPlan, Sequence[Question], Random], Trial]] = {
    NONE: _make_plain,
    SIZE: _make_sized,
    VERTICAL: _make_spatial,
    HORIZONTAL: _make_spatial,
    RELATION: _make_relation,
}


def partner_of(trial: Trial, cell: Cell) -> Trial:
    """Return the other trial of a pair: the block moves from the competitor to the target.

    With a rule the competitor is then the answer in both views, a control trial; without one, both fit the participant.
    """
    blocked = trial.blocked - {trial.competitor} | {trial.answer}
    answers = (trial.competitor,) if not cell.is_test else trial.participant_answers
    return Trial(
        cell,
        trial.question,
        trial.grid,
        blocked,
        trial.competitor,
        answers,
        trial.related_visible,
        trial.related_blocked,
        trial.answer,
    )
