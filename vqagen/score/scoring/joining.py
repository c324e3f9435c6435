"""Predictions as they are taken by the items that they belong to."""

from __future__ import annotations

from vqagen.score.predictions.reading import Predictions, lowest
from vqagen.score.scoring.coverage import EXAMPLES


class HeldPredictions:
    """The predictions that no item has taken yet, and those that some have."""

    def __init__(self, predictions: Predictions) -> None:
        self.all = predictions
        self._taken = set[str]()

    def take(self, id: str) -> int | None:
        """Return the code of the content for an item; CONFLICT if it has several; None if it has none.

        KeyError if the prediction was taken before.
        """
        code = self.all.by_id.get(id)
        if code is not None and id in self._taken:
            raise KeyError(id)
        self._taken.add(id)
        return code

    def untaken(self) -> tuple[int, tuple[str, ...]]:
        """Return the number of ids that were not taken, and the lowest of them."""
        left = [id for id in self.all.by_id if id not in self._taken]
        return len(left), lowest(left, EXAMPLES)
