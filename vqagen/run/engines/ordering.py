"""Windows on their way through workers: begun in order, done in any, and given out in order again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vqagen.run.work import Block, Outcome, Window
from vqagen.tasks.contract import Item


class Begun(NamedTuple):
    """A window that was begun."""

    number: int
    """Its place in the run, from 0."""
    items: Sequence[Item]


class Ordering:
    """What is wrong with a window, or with reading one, is raised when its turn comes: nothing before it is lost."""

    def __init__(self, windows: Iterator[Window], ahead: int) -> None:
        """`ahead`: windows that may have been begun and not yet been given out; this bounds memory."""
        self.ahead = ahead
        self._windows = windows
        self._done: dict[int, Outcome] = {}
        self._begun = self._given_out = 0
        self._error: Exception | None = None

    def begin(self) -> Begun | None:
        """The next window; None when there are no more, or enough have been begun."""
        if self._error or self._begun - self._given_out >= self.ahead:
            return None
        try:
            window = next(self._windows, None)
            if window is None:
                return None
            begun = Begun(self._begun, list(window))
        except Exception as error:  # whatever it is, what was begun comes first
            self.stop(error)
            return None
        self._begun += 1
        return begun

    def stop(self, error: Exception) -> None:
        """Begin no more windows. The first error is raised when those that were begun are done."""
        self._error = self._error or error

    def finish(self, number: int, outcome: Outcome) -> None:
        """A window is done."""
        self._done[number] = outcome

    def blocks(self) -> Iterator[Block]:
        """Those whose turn has come."""
        while self._given_out in self._done:
            outcome = self._done.pop(self._given_out)
            self._given_out += 1
            yield from outcome.unwrap()

    def end(self) -> None:
        """All that was begun is given out: raise what stopped the beginning of more, if anything did."""
        if self._error:
            raise self._error
