"""Windows of items, the work that engines do with each, and the blocks of records that result.

The engine that does them in this process is here too; `engines` has those of several processes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from vqagen.errors import BadInput
from vqagen.files.formats import Encode, Record
from vqagen.frozen import frozen
from vqagen.run.blocks import Block
from vqagen.run.windows import Window, block_of
from vqagen.tasks.contract import Item, ItemRecords, Make, Task

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
