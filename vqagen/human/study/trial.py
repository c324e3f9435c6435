"""Tasks, and the trials that one rater sees: their order and sides follow from the plan alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vqagen.human.study.item import RATE, Item
from vqagen.rng import shuffled, stream


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """An item in a task. `second_on_right` is its side in slots 0, 2, 4, …; slots 1, 3, 5, … have it reversed."""

    item: str
    second_on_right: bool


@dataclass(frozen=True, slots=True)
class Task:
    """Trials that one rater does in a row. Each of the study's slots of a task is one rater's work."""

    id: str
    trials: tuple[PlannedTrial, ...]


@dataclass(frozen=True, slots=True)
class Trial:
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
    """Return the trials of a slot in its own order. A slot that is given to another rater keeps order and sides."""
    order = shuffled(stream(seed, f"human/order/{task.id}", slot), task.trials)
    return tuple(
        Trial(number, items[each.item], _is_second_on_right(each, slot, items)) for number, each in enumerate(order, 1)
    )


def _is_second_on_right(trial: PlannedTrial, slot: int, items: Mapping[str, Item]) -> bool:
    """Return the side of a trial in a slot. One text that is rated has no side: its values are never reversed."""
    return items[trial.item].kind == RATE or trial.second_on_right == (slot % 2 == 0)
