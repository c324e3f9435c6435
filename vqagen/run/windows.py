"""Spans of items: windows and the blocks of their records, and the shards of a run.

What is generated for an item depends on the items before it in its window, and on no others.

Windows are counted by absolute index (`index // size`), so that a run may begin anywhere: it replays the beginning of
its first window without writing it, and runs laid end to end equal one run (CONTRIBUTING: law 2). Finished records are
kept in blocks: a window, or pieces of a long one.

`Work` is what engines do with each window. The engine that does it in this process is here; `engines` has those of
several processes.

Shards are runs that a run is cut into, each of which can be made on its own and anywhere. Any cut is right, for a run
that begins inside a window replays the beginning of it. Cuts at the borders of windows are better: nothing is replayed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import field
from itertools import groupby
from typing import Any, NamedTuple

from vqagen.errors import BadInput, UsageError
from vqagen.files.formats import Encode, Record
from vqagen.frozen import frozen
from vqagen.run.blocks import Block
from vqagen.tasks.contract import Item, ItemRecords, Make, Task

Window = Iterable[Item]
"""Consecutive items that together decide the records of each: the smallest piece of work.

Items are read when needed; a window sent to another process holds them in a list.
"""
BLOCK = 25
"""Most items of a block: what a process holds in memory, and loses when it is killed."""
ROW_GROUP = 1000
"""Most items of a row group of Parquet."""


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


def block_of(index: int, size: int, most: int = BLOCK) -> tuple[int, int]:
    """Return the block of at most so many items that an item lies in: its window, and the piece of it.

    >>> block_of(2620, 250), block_of(2620, 0)
    ((10, 4), (0, 104))
    """
    return window_of(index, size), (index % size if size else index) // most


def windows_of(items: Iterable[Item], size: int) -> Iterator[Window]:
    """Yield consecutive items in windows. A window's items must be taken before the next window is."""
    return (window for _, window in groupby(items, key=lambda item: window_of(item.index, size)))


# Shards ------------------------------------------------------------------------------------------------------------

_FORM = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


class Shard(NamedTuple):
    """Shard `number` of `of`, counted from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def parse_shard(text: str) -> Shard:
    """Return a shard as users write it. Raises UsageError for any other text.

    >>> parse_shard("3/8")
    Shard(number=3, of=8)
    """
    form = _FORM.fullmatch(text)
    shard = Shard(int(form[1]), int(form[2])) if form else Shard(0, 0)
    if not 1 <= shard.number <= shard.of:
        raise UsageError(f"--shard must be K/N with K from 1 to N, such as 3/8; found {text!r}")
    return shard


def plan_shard(shard: Shard, whole: Span, there: int, window: int, noun: str = "scene") -> Span:
    """Return the items of a shard of a run; UsageError if there is no such shard. One item is called `noun`.

    `there` is how many items the input has from the run's first one on, and `window` the size of a window (0: one for
    all). Shards follow each other, none is empty, and all together are the run. The last one ends as the run does: of a
    run of all items (length 0) it is all that follow.

    >>> [plan_shard(Shard(number, 3), Span(100, 0), 1000, 250) for number in (1, 2, 3)]
    [Span(first=100, length=400), Span(first=500, length=250), Span(first=750, length=0)]
    """
    length = min(there, whole.length) if whole.length else there
    if shard.of > length:
        raise UsageError(f"--shard {shard}: there are more shards than {noun}s ({length})")
    first, end = _edges(shard.of, whole.first, length, window)[shard.number - 1 : shard.number + 1]
    if shard.number == shard.of:
        end = whole.first + whole.length if whole.length else first
    return Span(first, end - first)


def _edges(of: int, first: int, length: int, window: int) -> list[int]:
    """Return the first item of each shard, and the end of the last: on borders of windows where there are enough."""
    borders = (first + length - 1) // window - first // window if window else 0
    even = [first + length * number // of for number in range(of + 1)]
    if borders < of - 1:
        return even
    edges, used = [first], 0
    for number in range(1, of):
        nearest = (even[number] + window // 2) // window - first // window
        used = max(used + 1, min(nearest, borders - (of - 1 - number)))  # each later cut needs a border too
        edges.append((first // window + used) * window)
    return [*edges, first + length]


# Work -----------------------------------------------------------------------------------------------------------------

MakeBlocks = Callable[[Window, int], Iterator[Block]]
"""(a window's items from its first one on, the first to write records about) -> its blocks, in order."""

Windows = Iterator[tuple[int, Window]]
"""Windows, each after the first of its items to write records about."""

Engine = Callable[["Work", Windows], Generator[Block]]
"""Does windows somewhere, and yields each block as it is finished: the blocks of a window in order, windows in any.

Closed early, it leaves nothing running.
"""


@frozen
class Work:
    """Everything a process needs in order to do any window of a run of a task. Can be pickled."""

    task: Task
    hashes: Mapping[str, str]
    """The content hashes of the inputs, by role: every process must read the same."""
    encode: Encode
    loaded: Make | None = field(default=None, compare=False)
    """What this process has loaded; it stays in this process."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "loaded": None}

    def load(self) -> MakeBlocks:
        """Read what the task needs (domain, templates, …): once in each process. Raises VqagenError."""
        make = self.loaded or self.task.load(self.hashes)

        def blocks(window: Window, first: int) -> Iterator[Block]:
            tally = self.task.tally()
            return blocks_of(window, lambda items: make(items, first, tally), self.task.window, self.encode, tally.take)

        return blocks


def blocks_of(
    window: Window,
    make: Callable[[Iterable[Item]], Iterator[ItemRecords]],
    size: int,
    encode: Encode,
    take_tally: Callable[[], Mapping[str, Any]],
) -> Iterator[Block]:
    """Yield the blocks of a window; `size`: items in a window. An error of the task gets a note that names the item.

    An error of reading the items passes unchanged, and so does BadInput, which names its place. An OSError of a task,
    such as the time-out of a plug-in, becomes WindowFailed: the runner would report it as an error of writing.
    """
    current: Item | None = None

    def items() -> Iterator[Item]:
        nonlocal current
        for item in window:
            current = item
            yield item
            current = None

    made = make(items())
    try:
        while True:
            counts, files = dict[int, int](), dict[str, bytes]()
            body = encode(_records(made, size, counts, files))  # records are made while they are encoded
            if not counts:
                return
            first = min(counts)
            yield Block(first, first + len(counts), body, sum(counts.values()), take_tally(), files)
    except Exception as error:
        if current is None or isinstance(error, BadInput):
            raise
        error.add_note(f"while making records about {current}")
        if isinstance(error, OSError) and error.filename is None:
            raise WindowFailed(f"{type(error).__name__}: {error}") from error
        raise


def _records(
    made: Iterator[ItemRecords], size: int, counts: dict[int, int], files: dict[str, bytes]
) -> Iterator[Record]:
    """Yield the records of one block one at a time: the garbage collector goes through all that are held at once.

    `counts` gets the number of records of each item.
    """
    for index, records, added in made:
        counts[index] = 0
        files.update(added)
        for record in records:
            counts[index] += 1
            yield record
        if block_of(index, size) != block_of(index + 1, size):
            return


class WindowFailed(Exception):
    """A mistake of ours, or of the machine's, in a window. The message holds the traceback of where it happened."""


def in_process(work: Work, windows: Windows) -> Generator[Block]:
    """Yield the blocks of all windows, which are read and done one after the other in this process."""
    make_blocks = work.load()
    for first, window in windows:
        yield from make_blocks(window, first)
