"""The faults of a prediction file: all are counted, and the first are listed with their places."""

from __future__ import annotations

from vqagen.errors import BadInput, Problem, counted
from vqagen.files.locations import Location

MOST_LISTED = 5


class RecordFault(Exception):
    """One record is no prediction. `key` is the key of the wrong value; "" for the record as a whole."""

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(message)
        self.message, self.key = message, key


class PredictionFaults:
    """The faults of one file, collected while it is read."""

    def __init__(self, path: Location) -> None:
        self.source = str(path)
        self._listed: list[Problem] = []
        self._total = 0

    def add(self, message: str, path: str = "", line: int | None = None, column: int | None = None) -> None:
        """Add a fault at a JSON path, or at a line and column."""
        self._total += 1
        if len(self._listed) < MOST_LISTED:
            self._listed.append(Problem(message, self.source, path, line, column))

    def finish(self) -> None:
        """Raise BadInput if there were faults."""
        if self._total > len(self._listed):
            more = counted(self._total - len(self._listed), "more fault")
            self._listed.append(Problem(f"… and {more} in this file", self.source))
        if self._listed:
            raise BadInput(self._listed)
