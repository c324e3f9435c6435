"""Files of other tools: `vqagen export` makes one of the records of a finished output.

Such a file is a list of entries, one a line, between a first and a last line; an entry is made of the records about one
item. It does not hold all of a record, so nothing is made of it again; but shards of it that version 1.0 wrote merge.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import orjson

from vqagen.errors import UsageError
from vqagen.files.formats import LIST, Checksum, Record, write_info
from vqagen.files.locations import Location
from vqagen.files.output import atomic_output
from vqagen.files.records import RecordKind, open_records
from vqagen.tasks import TASKS

Entry = dict[str, Any]


class FoundEntry(NamedTuple):
    """An entry as read."""

    entry: Entry
    text: bytes
    """All that it says, as the checksum counts it."""


class ForeignFormat(ABC):
    """A format of another tool, and what one file of it has gathered so far, such as its different questions."""

    name: ClassVar[str]
    """As `vqagen export --to` takes it."""
    kind: ClassVar[RecordKind]
    """How `read` finds the entries."""
    number_key: ClassVar[str] = ""
    """The key under which an entry says its place in the file, from 0; "" if entries do not."""

    def __init__(self, info: Mapping[str, Any]) -> None:
        """`info` is that of the output whose records are written. UsageError if they cannot be."""
        self.info = info

    @abstractmethod
    def entries(self, records: Iterable[Record]) -> Iterator[Entry]:
        """Yield the entries of records; those about one item follow each other."""

    def head(self) -> bytes:
        """Return what comes before the first entry."""
        return b"["

    def written(self, entry: Entry) -> Entry:
        """Return an entry as the file holds it."""
        return entry

    def whole(self, entry: Entry, written: Entry) -> Entry:
        """Return what the file says of an entry, in its list or behind it, as the checksum counts it."""
        return written

    def records_in(self, entry: Entry) -> int:
        """Return how many records an entry was made of."""
        return 1

    def tail(self) -> bytes:
        """Return what comes behind the last entry."""
        return b"\n]\n"

    def read(self, path: Location) -> Iterator[FoundEntry]:
        """Yield the entries of a file. BadInput for what is none."""
        source = open_records(path, self.kind)
        for index, value, place, text in source.read():
            yield FoundEntry(source.object_of(value, index, place), text)

    def write(
        self, out: str, entries: Callable[[], Iterable[Entry]], on_written: Callable[[int], object] = lambda _: None
    ) -> int:
        """Write the entries, which may be asked for twice, and the info beside the file.

        Returns how many records they were made of; `on_written` is called with the number of those of each entry.
        """
        checksum, records = Checksum(), 0

        def finish() -> None:
            write_info(out, LIST, self.info, checksum, self.name)

        with atomic_output(out, finish) as file:
            file.write(self.head())
            for number, entry in enumerate(entries()):
                numbered = {**entry, self.number_key: number} if self.number_key else entry
                written = self.written(numbered)
                file.write((b",\n" if number else b"\n") + orjson.dumps(written))
                checksum = checksum.add(orjson.dumps(self.whole(numbered, written)) + b"\n", 1)
                records += self.records_in(entry)
                on_written(self.records_in(entry))
            file.write(self.tail())
        return records


def foreign_format(key: str, name: str, info: Mapping[str, Any]) -> ForeignFormat:
    """Return the format of this name, for the records of the task with this key. UsageError if it is for others."""
    formats = TASKS[key].foreign
    if name not in formats:
        others = next((other for other, entry in TASKS.items() if name in entry.foreign), "other records")
        fitting = f"; {key} become {' or '.join(formats)}" if formats else ""
        raise UsageError(f"{name} is made of {others}, and these are {key}{fitting}")
    module, _, kind = formats[name].partition(":")
    made: ForeignFormat = getattr(import_module(module), kind)(info)
    return made


def image_number(record: Record) -> int:
    """Return the number of a record's image: the scene's own, or else the scene's place in the input."""
    number = record.get("image_index")
    return number if isinstance(number, int) else int(record["scene_index"])
