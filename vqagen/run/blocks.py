"""From the items of a window to its blocks, for any task; and whose fault it is when that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from vqagen.errors import BadInput
from vqagen.files.formats import Encode, Record
from vqagen.run.windows import block_of
from vqagen.run.work import Block, WindowFailed
from vqagen.tasks.contract import Item, ItemRecords

Made = TypeVar("Made")


class TrackedItems:
    """The items of a window, and which of them records are being made about."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = items
        self._current: Item | None = None

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            self._current = item
            yield item
            self._current = None

    def attribute_errors(self, made: Iterable[Made]) -> Iterator[Made]:
        """Yield what is made of the items; note on an error which item it is about.

        Errors of reading the items pass as they are, and so do problems of the input, which name their place. An error
        of the system that a task meets, such as the time-out of a plug-in, must not look like one of writing.
        """
        try:
            yield from made
        except Exception as error:
            if self._current is None or isinstance(error, BadInput):
                raise
            error.add_note(f"while making records about {self._current}")
            if isinstance(error, OSError) and error.filename is None:
                raise WindowFailed(f"{type(error).__name__}: {error}") from error
            raise


def blocks_of(
    made: Iterable[ItemRecords], window: int, encode: Encode, take_tally: Callable[[], Mapping[str, Any]]
) -> Iterator[Block]:
    """Yield the blocks of one window. `window` is the size of windows."""
    made = iter(made)
    while True:
        content = _Content()
        body = encode(_records(made, window, content))
        if not content.items:
            return
        end = content.first + content.items
        yield Block(content.first, end, body, content.records, take_tally(), content.files)


@dataclass
class _Content:
    """What is in a block."""

    first: int = 0
    items: int = 0
    records: int = 0
    files: dict[str, bytes] = field(default_factory=dict)


def _records(made: Iterator[ItemRecords], window: int, content: _Content) -> Iterator[Record]:
    """Yield the records of one block one at a time: the garbage collector goes through all that are held at once."""
    for index, records, files in made:
        if not content.items:
            content.first = index
        content.items += 1
        content.files.update(files)
        for record in records:
            content.records += 1
            yield record
        if block_of(index, window) != block_of(index + 1, window):
            return
