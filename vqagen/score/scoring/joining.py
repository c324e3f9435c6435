"""Predictions held by the id of their question, in little memory: equal predictions are held once."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest

from vqagen.score.predictions.prediction import Prediction
from vqagen.score.scoring.coverage import EXAMPLES

CONFLICT = -1
"""In place of a number: the predictions for a question differ."""
Key = int | str
"""An id; see `key_of`."""


class HeldPredictions:
    """All predictions of a file. Each is the number of its content, which `contents` lists."""

    def __init__(self, predictions: Iterable[Prediction]) -> None:
        self.contents: list[Prediction] = []
        """Different contents, each as the first prediction that has it."""
        self.total = 0
        self.duplicate = 0
        self._duplicated: list[Key] = []
        """The lowest ids of duplicates."""
        self._numbers: dict[Key, int] = {}
        """Id -> number; -2 - number once the prediction was taken."""
        known: dict[tuple[str, ...], int] = {}
        for prediction in predictions:
            self.total += 1
            number = known.setdefault(prediction.candidates, len(known))
            if number == len(self.contents):
                self.contents.append(prediction)
            key, held = key_of(prediction.id), len(self._numbers)
            first = self._numbers.setdefault(key, number)
            if len(self._numbers) == held:
                self._add_duplicate(key, first, number)

    def _add_duplicate(self, key: Key, first: int, number: int) -> None:
        self.duplicate += 1
        self._duplicated = nsmallest(EXAMPLES, {*self._duplicated, key}, key=_place)
        if first != number:
            self._numbers[key] = CONFLICT

    def take(self, key: Key) -> int | None:
        """Return the number of the content for a question; CONFLICT if it has several; None if it has none.

        KeyError if the prediction was taken before.
        """
        number = self._numbers.get(key)
        if number is None:
            return None
        if number < CONFLICT:
            raise KeyError(key)
        self._numbers[key] = -2 - number if number >= 0 else CONFLICT - 1
        return number

    def untaken(self) -> tuple[int, tuple[str, ...]]:
        """Return the number of ids that were not taken, and the lowest of them."""
        left = [key for key, number in self._numbers.items() if number >= CONFLICT]
        return len(left), tuple(map(str, nsmallest(EXAMPLES, left, key=_place)))

    def duplicated(self) -> tuple[str, ...]:
        """Return the lowest ids that have further predictions."""
        return tuple(map(str, self._duplicated))


def _place(key: Key) -> tuple[bool, Key]:
    """Return what ids are ordered by: numbers first."""
    return isinstance(key, str), key


def key_of(id: str) -> Key:
    """Return a number for an id that is written as one: it takes half of the memory."""
    return int(id) if id.isdecimal() and id.isascii() and len(id) < 19 and (id[0] != "0" or id == "0") else id
