"""Shapes: how records stand in a format of other tools, which has entries of its own in place of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from vqagen.files.layouts import Record, encode_lines
from vqagen.files.locations import Location
from vqagen.files.records import RecordKind, open_records

Entry = dict[str, Any]


class FoundEntry(NamedTuple):
    """An entry as read."""

    entry: Entry
    line: bytes
    """Its text, without line end, as the checksum counts it."""


@dataclass(frozen=True)
class Shape(ABC):
    """The entries of records in a format of an output with this info. Can be pickled.

    Workers make the entries, and each is made of the records about one item: so blocks and shards are joined by joining
    their entries. Lists about all records, such as the different questions of a file, are the matter of the layout.
    """

    info: Mapping[str, Any]

    key: ClassVar[str]
    """The entries, in messages: a plural."""
    number_key: ClassVar[str] = ""
    """The key under which an entry says its place in the output; "" if entries do not. Only for one entry a record."""

    @abstractmethod
    def entries(self, records: Iterable[Record]) -> Iterator[Entry]:
        """Yield the entries of records; those about one item follow each other."""

    def encode(self, given: Iterable[Record]) -> bytes:
        """Return the entries of records, one a line."""
        return encode_lines(self.entries(given))

    def records_in(self, entry: Entry) -> int:
        """Return how many records an entry was made of."""
        return 1

    def read(self, path: Location) -> Iterator[FoundEntry]:
        """Yield the entries of a file, which is a list of them. BadInput for what is none."""
        source = open_records(path, RecordKind(self.key))
        for index, value, place, text in source.read():
            yield FoundEntry(source.object_of(value, index, place), text)


def image_number(record: Record) -> int:
    """Return the number of a record's image: the scene's own, or else the scene's place in the input."""
    number = record.get("image_index")
    return number if isinstance(number, int) else int(record["scene_index"])
