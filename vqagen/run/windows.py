"""Windows: what is generated for an item depends on the items before it in its window, and on no others.

Windows are counted by absolute index (`index // size`), so that a run may begin anywhere: it replays the beginning of
its first window without writing it, and runs laid end to end equal one run (CONTRIBUTING: law 2). Finished records are
written in blocks: a window, or pieces of a long one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from vqagen.tasks.contract import Item

Window = Iterable[Item]
"""Consecutive items that together decide the records of each: the smallest piece of work.

Items are read when needed; a window sent to another process holds them in a list.
"""
BLOCK = 1000
"""Most items of a block: what one process holds in memory, and loses when it is killed. Workers hold whole windows."""


class Span(NamedTuple):
    """Which items to read: from `first` on, `length` of them; a length of 0 means all."""

    first: int
    length: int


def span_to_read(start_index: int, count: int, size: int, ahead: bool = False) -> Span:
    """Return the items that a run reads: those asked for, and the beginning of the first one's window.

    With `ahead`, the end of the last one's window is read as well.

    >>> span_to_read(260, 50, 250), span_to_read(260, 50, 250, ahead=True)
    (Span(first=250, length=60), Span(first=250, length=250))
    """
    start = start_index - start_index % size if size else 0
    if not count or (ahead and not size):
        return Span(start, 0)
    length = start_index + count - start
    return Span(start, -(-length // size) * size if ahead else length)


def window_of(index: int, size: int) -> int:
    """Return the window that an item lies in; a size of 0 means one window for all."""
    return index // size if size else 0


def block_of(index: int, size: int) -> tuple[int, int]:
    """Return the block that an item lies in: its window, and the piece of it.

    >>> block_of(2600, 250), block_of(2600, 0)
    ((10, 0), (0, 2))
    """
    return window_of(index, size), (index % size if size else index) // BLOCK


def windows_of(items: Iterable[Item], size: int) -> Iterator[Window]:
    """Yield consecutive items in windows. A window's items must be taken before the next window is."""
    return (window for _, window in groupby(items, key=lambda item: window_of(item.index, size)))
