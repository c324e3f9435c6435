"""Guesses of trials without the instruction: the open cells are options, of which the look of the grid picks one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vqagen.bits import indexes
from vqagen.score.items.table import Places
from vqagen.shortcuts.audit import known
from vqagen.shortcuts.learners import counted
from vqagen.shortcuts.options import learned_choice, random_option
from vqagen.shortcuts.policies import POLICIES, expected_accuracy
from vqagen.shortcuts.predictors import CELLS, Predictor
from vqagen.shortcuts.task import Guesses, Task
from vqagen.tasks.director.views import Views

UNINSTRUCTED = ("look-alike",)
"""Policies that do not need the instruction."""


def trial_predictors(trials: Sequence[Views]) -> Iterator[Predictor]:
    """Yield predictors of trials, which are the items of the task; the options are the open cells."""
    for name in UNINSTRUCTED:
        scores = np.array([expected_accuracy(POLICIES[name], views) for views in trials])
        yield known(name, POLICIES[name].meaning, scores)

    def grid(task: Task, learn: Places, ask: Places) -> Guesses:
        rows = task.once("grid", lambda: counted([list(seen(v, cell)) for v in trials for cell in indexes(v.open)]))
        return learned_choice(task, learn, ask, rows) or random_option(task, learn, ask)

    yield Predictor("grid", "regression over the items of the grid, without the instruction", grid, CELLS, True)


def seen(views: Views, cell: int) -> Iterator[str]:
    """Yield what is seen of the item in an open cell: where it is, and what is like it."""
    trial, own = views.trial, views.items[cell]
    assert own is not None
    column, row = cell % trial.width, cell // trial.width
    others = {other: views.items[other] for other in indexes(views.all & ~(1 << cell))}
    blocked = {other: item for other, item in others.items() if trial.blocked >> other & 1}
    yield f"{trial.width}x{trial.height} cell {cell}"
    yield f"column {column}"
    yield f"row {row}"
    yield f"item {own.name}"
    yield from (f"word {word}" for word in sorted(own.true))
    for name, beside in (("all", others), ("blocked", blocked)):
        items = [item for item in beside.values() if item]
        kin = [item.size for item in items if item.kind == own.kind]
        shared = [len(own.true & item.true) for item in items]
        yield f"shared with {name}, {sum(shared)}"
        yield f"shared at most with {name}, {max(shared, default=0)}"
        yield f"kind among {name}, {len(kin)}"
        yield f"larger of kind among {name}, {sum(size > own.size for size in kin)}"
        yield f"smaller of kind among {name}, {sum(size < own.size for size in kin)}"
    near = [each for each in blocked if abs(each % trial.width - column) + abs(each // trial.width - row) == 1]
    yield f"blocked items beside, {len(near)}"
    yield f"items, tenth {10 * len(others) // len(trial.cells)}"
