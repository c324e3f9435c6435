"""The order of windows that workers do: begun in order, finished in any, and yielded in order again."""

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
    """Begins windows, and yields their blocks in order. A window's error is raised in its turn: no block is lost."""

    def __init__(self, windows: Iterator[Window], ahead: int) -> None:
        """`ahead` windows may be begun before the first of them is yielded; this bounds memory."""
        self.ahead = ahead
        self._windows = windows
        self._done: dict[int, Outcome] = {}
        self._begun = self._given_out = 0
        self._error: Exception | None = None

    def begin(self) -> Begun | None:
        """Return the next window; None if there are no more, or enough are begun."""
        if self._error or self._begun - self._given_out >= self.ahead:
            return None
        try:
            window = next(self._windows, None)
            if window is None:
                return None
            begun = Begun(self._begun, list(window))
        except Exception as error:  # of any kind: the blocks of begun windows come first
            self.stop(error)
            return None
        self._begun += 1
        return begun

    def stop(self, error: Exception) -> None:
        """Begin no more windows. The first error is raised when all begun windows are yielded."""
        self._error = self._error or error

    def finish(self, number: int, outcome: Outcome) -> None:
        """Take the outcome of a window."""
        self._done[number] = outcome

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of each window that is next in order and finished."""
        while self._given_out in self._done:
            outcome = self._done.pop(self._given_out)
            self._given_out += 1
            yield from outcome.unwrap()

    def end(self) -> None:
        """Raise the error that stopped the beginning of windows, if there was one. All begun windows are yielded."""
        if self._error:
            raise self._error
