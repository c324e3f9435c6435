"""The faults of the records of one file, collected while it is read."""

from __future__ import annotations

from collections.abc import Sequence

from vqagen.errors import BadInput, Fault, Problem, counted

MOST_FAULTS = 20
"""Faults of a file that are listed; further ones are counted."""


class FieldFault(ValueError):
    """A fault of one field of a record, or of the record as a whole, whose `key` is ""."""

    def __init__(self, key: str, message: str, column: int = 1) -> None:
        super().__init__(message)
        self.key, self.column = key, column


class FaultList:
    """The faults of one file."""

    def __init__(self, source: str, noun: str) -> None:
        """`noun` is one record, for people."""
        self._source, self._noun = source, noun
        self._problems: list[Problem] = []
        self._faulty = 0

    def add(self, faults: Sequence[Fault], path: str, line: int | None = None, column: int | None = None) -> None:
        """Add faults of the record at a JSON path, or in a line."""
        self._faulty += len(faults)
        for place, message in faults:
            if len(self._problems) < MOST_FAULTS:
                where = ".".join(filter(None, (path, place)))
                self._problems.append(Problem(message, self._source, where, line, column))

    def finish(self) -> None:
        """Raise BadInput if there were faults."""
        if not self._problems:
            return
        if self._faulty > len(self._problems):
            more = counted(self._faulty - len(self._problems), "more fault")
            self._problems.append(Problem(f"… and {more} in other {self._noun}s", self._source))
        raise BadInput(self._problems)
