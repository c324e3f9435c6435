"""Trials with one right answer, by construction: every word is needed, and what is blocked decides.

All that fits an instruction with a rule is laid out first, the same way for control and test trials. Then the type says
what is blocked: in a test trial the best of all items, so that the second is the answer; in a control trial others, so
that the best is. Nothing in the grid but its blocked cells tells the two apart: whoever ignores these is right in half
of the trials at most. So for "the topmost red book", with # before what the director does not see:

       test            control
    1  #red book       red book     <- the participant's own topmost one
    2  red book        #red book    <- the second: the answer of the test; that of the control is the first
    3  red book        red book     <- with three seen or not, "topmost" is needed
    4  blue book       blue book    <- a near miss: without "red", another would be meant
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from vqagen.rng import below, pick, take
from vqagen.tasks.director.design import EMPTY, Cell, Trial
from vqagen.tasks.director.question_table import Ids, KindSizes, Question
from vqagen.tasks.director.rules import MIRRORED, NONE, OPPOSITE, RELATION, SIZE, SMALLEST, rays
from vqagen.tasks.director.trial_plan import Amounts, Slot, TrialPlan

TRIES = 4
"""Draws of a cell that is empty, and of an item that does not fit the question, before they are looked for."""


def make_strict(cell: Cell, question: Question, plan: TrialPlan, alike: Sequence[Question], rng: Random) -> Trial:
    """Return a trial of a cell of the design. `plan` is that of the rule and of the question's adjectives.

    `alike` are questions with as many adjectives, of which decoys are made: items that stand as if another question
    were asked. Without them the items that fit and their near misses are the only alike ones of a grid, and a model
    that never reads the instruction found the answer in 72 % of trials. No item of a decoy fits the question.
    """
    if cell.rule_class == RELATION:
        return _make_relation(cell, question, plan, rng)
    amounts = pick(rng, plan.amounts)
    grid = [EMPTY] * len(plan.cells)
    first, second, hidden = _place(grid, question, plan, amounts, cell.is_test, rng)
    blocked = list(hidden)
    for _ in range(amounts.decoys):  # of a type of its own, so that decoys do not give away the type of the trial
        decoy = pick(rng, alike)
        blocked += _place(grid, decoy, plan, amounts, rng.random() < 0.5, rng, question)[-1]
    closed = _fill(grid, blocked, plan, amounts.fillers, question, rng)
    if cell.rule_class == NONE:
        answers = tuple(sorted((first, *hidden))) if cell.is_test else (first,)
        fitting, competitor = (amounts.hidden, hidden[0]) if cell.is_test else (0, EMPTY)
        return Trial(cell, question, grid, closed, first, answers, 1, fitting, competitor)
    answer, competitor = (second, first) if cell.is_test else (first, EMPTY)
    return Trial(cell, question, grid, closed, answer, (first,), 1 + amounts.seen, amounts.hidden, competitor)


def _place(
    grid: list[int],
    question: Question,
    plan: TrialPlan,
    amounts: Amounts,
    is_test: bool,
    rng: Random,
    avoided: Question | None = None,
) -> tuple[int, int, list[int]]:
    """Place the items of a question. Return the cells of the best and of the second one, and the cells to block.

    Without a rule the best item is the answer, and the second is one of those to block. Items that fit `avoided` are
    replaced by others.
    """
    seen, hidden = amounts.seen, amounts.hidden
    if plan.rule_class == NONE:
        others = question.related if is_test else question.near_misses
        slots: list[Slot] = [(plan.cells, question.related), *[(plan.cells, others)] * hidden]
        slots += [(plan.cells, foils) for foils in question.foils]
        places = [_put(grid, slot, avoided, rng) for slot in slots]
        return places[0], places[1], places[1 : 1 + hidden]
    ranks = plan.draw_ranks(question, amounts, rng)
    slots = [ranks.first, ranks.second, *((ranks.ahead, foils) for foils in ranks.foils)]
    slots += [*[ranks.behind_second] * seen, *[ranks.behind_first] * (hidden - 1)]
    places = [_put(grid, slot, avoided, rng) for slot in slots]
    behind = places[2 + len(ranks.foils) :]
    if is_test:
        return places[0], places[1], [places[0], *behind[seen:]]
    behind.append(places[1])
    return places[0], places[1], [take(rng, behind) for _ in range(hidden)]


def _put(grid: list[int], slot: Slot, avoided: Question | None, rng: Random) -> int:
    """Put one of the items of a slot into one of its empty cells, and return that; any empty one if it has none."""
    (cells, items), random = slot, rng.random
    for _ in range(TRIES):  # most cells are empty: cheaper than to list those that are
        place = cells[int(random() * len(cells))]
        if grid[place] < 0:
            break
    else:
        empty = [each for each in cells if grid[each] < 0]
        place = pick(rng, empty or [each for each, item in enumerate(grid) if item < 0])
    item = items[int(random() * len(items))]
    grid[place] = item if avoided is None or avoided.is_unrelated[item] else _unrelated(items, avoided, rng)
    return place


def _unrelated(items: Sequence[int], question: Question, rng: Random) -> int:
    """Return one of the items that does not fit the question, or any such item."""
    for _ in range(TRIES):
        item = pick(rng, items)
        if question.is_unrelated[item]:
            return item
    return pick(rng, question.unrelated)


def _make_relation(cell: Cell, question: Question, plan: TrialPlan, rng: Random) -> Trial:
    """Return a trial about the first item in a direction from the only item that fits."""
    settings, grid = plan.settings, [EMPTY] * len(plan.cells)
    reference = pick(rng, plan.references)
    ray = rays(settings.width, settings.height, plan.rule)[reference]
    step = 1 + below(rng, min(len(ray) - 1, plan.empty))
    second, passed = ray[step], list(ray[:step])
    taken = {reference, second, *passed}
    grid[reference], grid[second] = pick(rng, question.related), pick(rng, question.unrelated)
    if plan.rule in MIRRORED:
        place = pick(rng, rays(settings.width, settings.height, OPPOSITE[plan.rule])[reference])
        grid[place] = pick(rng, question.unrelated)
        taken.add(place)
    first = take(rng, passed)
    grid[first] = pick(rng, question.unrelated)
    free = [place for place in range(len(grid)) if place not in taken]
    for foils in question.foils:
        grid[take(rng, free)] = pick(rng, foils)
    hidden = [first if cell.is_test else second]
    blocked = _fill(grid, hidden, plan, plan.amounts[0].fillers, question, rng, bare=passed)
    on_ray = [place for place in ray if grid[place] != EMPTY]
    seen = sum(place not in blocked for place in on_ray)
    answer, competitor = (second, first) if cell.is_test else (first, EMPTY)
    return Trial(cell, question, grid, blocked, answer, (first,), seen, len(on_ray) - seen, competitor)


def _fill(
    grid: list[int],
    hidden: Sequence[int],
    plan: TrialPlan,
    fillers: int,
    question: Question,
    rng: Random,
    bare: Sequence[int] = (),
) -> frozenset[int]:
    """Put items that are nothing to the question into empty cells, and return the blocked cells.

    Each has the kind of one item of the grid and the color of another: when fillers had looks of their own, whoever
    picks the open item most like the others was right in 25 % of trials, and not in 21 %. `bare` are cells that stay
    empty; they may be blocked.
    """
    is_unrelated, random, table = question.is_unrelated, rng.random, question.table
    looks = [table.looks[item] for item in grid if item >= 0]
    free = [place for place, item in enumerate(grid) if item < 0]
    if bare:
        free = [place for place in free if place not in bare]
    left = len(free)
    for _ in range(fillers):  # `take` and `pick` written out: it is done very often
        place = int(random() * left)
        left -= 1
        free[place], free[left] = free[left], free[place]
        for _ in range(TRIES):
            look = looks[int(random() * len(looks))][0], looks[int(random() * len(looks))][1]
            alike = table.of_look.get(look)
            if alike and is_unrelated[item := alike[int(random() * len(alike))]]:
                break
        else:
            item = pick(rng, question.unrelated)
        grid[free[left]] = item
    free += bare
    left = len(free)
    for _ in range(plan.numbers.blocked - len(hidden)):
        place = int(random() * left)
        left -= 1
        free[place], free[left] = free[left], free[place]
    return frozenset((*hidden, *free[left:]))


def partner_of(trial: Trial) -> Trial:
    """Return the other trial of a pair: the block moves from the competitor to the target.

    With a rule the competitor is then the answer in both views, a control trial; without one, both fit the participant.
    """
    cell = trial.cell if trial.cell.rule == NONE else trial.cell._replace(is_test=False)
    blocked = trial.blocked - {trial.competitor} | {trial.answer}
    answers = (trial.competitor,) if not cell.is_test else trial.participant_answers
    moved = replace(trial, cell=cell, blocked=blocked, answer=trial.competitor, competitor=trial.answer)
    return replace(moved, participant_answers=answers)


# The looser rules of the first director task: ties are allowed, and no word need be needed ---------------------------


def make_loose(cell: Cell, question: Question, plan: TrialPlan, alike: Sequence[Question], rng: Random) -> Trial:
    """Return a trial of a cell of the design. Blocked items may be as good as the target. There are no decoys."""
    numbers, ranks, grid = plan.numbers, plan.ranks, [EMPTY] * len(plan.cells)
    target = pick(rng, plan.targets)
    others = [each for each in plan.cells if each != target]
    worse = [each for each in others if not ranks or ranks[each] > ranks[target]]
    better = [each for each in others if not ranks or ranks[each] < ranks[target]]
    even = [each for each in others if ranks and ranks[each] == ranks[target]]
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
        good = [each for each in (*better, *even) if grid[each] == EMPTY]
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
    question = _simplified(cell, question, plan, grid, frozenset(blocked))
    related = _fitting(question, grid)
    count = sum(place in blocked for place in related)
    answers = _best(related, grid, question, plan)
    return Trial(cell, question, grid, frozenset(blocked), target, answers, len(related) - count, count)


def _items(question: Question, plan: TrialPlan, rng: Random) -> tuple[int, Ids, Ids]:
    """Return the target, the items that it beats, and those that beat or equal it."""
    if plan.rule_class != SIZE:
        return pick(rng, question.related), question.related, question.related
    kind: KindSizes = pick(rng, question.kind_sizes)
    sizes = kind if plan.rule == SMALLEST else kind[::-1]
    own = int(rng.random() * (len(sizes) - 1))
    behind = tuple(each for _, of_size in sizes[own + 1 :] for each in of_size)
    return pick(rng, sizes[own][1]), behind, tuple(each for _, of_size in sizes[: own + 1] for each in of_size)


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
        ranks = {place: plan.ranks[place] for place in related}
    return tuple(place for place, rank in ranks.items() if rank == min(ranks.values()))
