"""Tasks, and the trials that one rater sees: their order and sides follow from the plan alone."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from msgspec import Struct

from vqagen.human.study.item import AFTER, BEFORE, COMPARE, Item
from vqagen.rng import shuffled, stream

_AT_ENDS = {BEFORE: -1, AFTER: 1}
"""The use of questions to the rater -> where they stand; all other trials are at 0."""


class PlannedTrial(Struct, frozen=True):
    """An item in a task. `second_on_right` is its side in slots 0, 2, 4, …; slots 1, 3, 5, … have it reversed."""

    item: str
    second_on_right: bool


class Task(Struct, frozen=True):
    """Trials that one rater does in a row. Each of the study's slots of a task is one rater's work."""

    id: str
    trials: tuple[PlannedTrial, ...]
    """Those of a series stand one after the other, and questions before and after in their order."""


class Trial(Struct, frozen=True):
    """A trial as one rater sees it."""

    number: int
    """From 1, in the order in which the rater sees them."""
    item: Item
    second_on_right: bool

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts from left to right."""
        texts = tuple(each.text for each in self.item.candidates)
        return texts if self.second_on_right else texts[::-1]


def trials_of_slot(task: Task, slot: int, items: Mapping[str, Item], seed: int) -> tuple[Trial, ...]:
    """Return the trials of a slot in its own order. A slot that is given to another rater keeps order and sides.

    What is rated or answered has no side: its values are never reversed. Each series is one unit of the order, as are
    all questions before the first trial, and all after the last one.
    """
    units: dict[str, list[PlannedTrial]] = {}
    for each in task.trials:
        item = items[each.item]
        units.setdefault(item.use if item.use in _AT_ENDS else item.unit, []).append(each)
    order = shuffled(stream(seed, f"human/order/{task.id}", slot), list(units.values()))
    order.sort(key=lambda unit: _AT_ENDS.get(items[unit[0].item].use, 0))
    return tuple(
        Trial(number, items[each.item], items[each.item].kind != COMPARE or each.second_on_right == (slot % 2 == 0))
        for number, each in enumerate(chain(*order), 1)
    )
