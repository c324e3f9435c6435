"""Windows of items, the work that engines do with each, and the blocks that result."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from vqagen.errors import Problem, VqagenError, warn
from vqagen.tasks.contract import Item

Window = Iterable[Item]
"""Consecutive items that together decide the records of each: the smallest piece of work.

Items are read when needed; a window sent to another process holds them in a list.
"""


@dataclass(frozen=True, slots=True)
class Block:
    """The finished records of consecutive items of one window: what is written and journalled at once."""

    first: int
    """Absolute index of the first item."""
    end: int
    """One behind the last item's."""
    body: bytes
    """The records, as the format of the output encodes them."""
    records: int
    tally: Mapping[str, Any]
    """Counts of the task, as JSON."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Name inside the output folder -> content."""


WindowTask = Callable[[Window], Iterator[Block]]
"""A window's items, from its first one on, to its blocks, in order."""

Engine = Callable[["Work", Iterator[Window]], Generator[Block]]
"""Does the windows of a run somewhere, and yields their blocks in order. Closed early, it leaves nothing running."""


class Work(Protocol):
    """Everything a process needs in order to do any window of a run. Can be pickled."""

    def load(self) -> WindowTask:
        """Read what the task needs (domain, templates, …): once in each process. Raises VqagenError."""


class WindowFailed(Exception):
    """A mistake of ours, or of the machine's, in a window. The message holds the traceback of where it happened."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a window in another process. Errors come as values: not every exception can be pickled."""

    blocks: Sequence[Block] = ()
    error: VqagenError | WindowFailed | None = None
    warnings: tuple[Problem, ...] = ()

    def unwrap(self) -> Iterator[Block]:
        """Yield the blocks, after issuing the warnings and raising the error."""
        for problem in self.warnings:
            warn(problem)
        if self.error is not None:
            raise self.error
        yield from self.blocks


def span_of(items: Sequence[Item]) -> str:
    """Name items for people: `scene 4`, `scenes 4 to 7`."""
    noun, first, last = items[0].noun, items[0].index, items[-1].index
    return f"{noun} {first}" if first == last else f"{noun}s {first} to {last}"
