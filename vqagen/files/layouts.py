"""How finished records stand in a part: as lines of a document, of a list or of JSON Lines, or in batches of columns.

Workers encode records without their number in the output, which they cannot know; the numbers are put in when a block
is placed.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

import orjson

DOCUMENT_END = b'\n], "checksum": "%s"}\n'
"""The end of a document, with the checksum of its records."""
Record = Mapping[str, Any]
Encode = Callable[[Iterable[Record]], bytes]
"""Encodes a block's records, which say 0 for their number, as the part or a layout takes them."""


class Arrangement(NamedTuple):
    """How the records of a task stand in its outputs."""

    key: str
    """The key of the records in a document, such as `questions`."""
    number_key: str
    """The key under which a record says its place in the output, from 0; "" for records that do not."""
    item: str
    """One of the things that records are about, such as `scene`."""
    window: int
    """Items in a window; 0 for one window of all."""

    @property
    def noun(self) -> str:
        """One record, for people."""
        return self.key.removesuffix("s")


class Checksum(NamedTuple):
    """How many lines the records of a file are, and what they say."""

    lines: int = 0
    crc: int = 0
    """CRC-32 over the text of each record, followed by a newline."""

    def add(self, lines: bytes, number: int) -> Checksum:
        """Return the sum with so many more lines."""
        return Checksum(self.lines + number, zlib.crc32(lines, self.crc))

    def __str__(self) -> str:
        return f"{self.crc:08x}"


class Selection(Protocol):
    """Chooses from all records of an output, asked record by record in their order."""

    @property
    def reads(self) -> Collection[str]:
        """The keys of a record that decide."""

    def keeps(self, record: Record) -> bool:
        """True if the record stays in the output."""

    def to_record(self) -> dict[str, Any]:
        """Return what was kept, as JSON, for the report of the run."""


class Layout:
    """How a part is written: here, block by block as it is, such as batches of columns, which have no lines."""

    def __init__(self, arrangement: Arrangement) -> None: ...

    def head(self, info: Record) -> bytes:
        """Return what comes before the first block: nothing where the info goes elsewhere."""
        return b""

    def survey(self, entries: Iterable[Record]) -> None:
        """Take note of the next of all entries, in a format that is surveyed, before the first is placed."""

    def placed(self, body: bytes, number: int) -> bytes:
        """Return an encoded block as the part holds it, with `number` records before it."""
        return body

    def lines(self, placed: bytes) -> bytes:
        """Return the records of a placed block, one a line."""
        return b""

    def tail(self, checksum: Checksum) -> bytes:
        """Return what comes behind the last block."""
        return b""


class JsonValue(ABC):
    """A part of a record that knows its own JSON text."""

    __slots__ = ()

    @abstractmethod
    def to_json(self) -> bytes:
        """Return the JSON text."""


def encode_lines(records: Iterable[Record]) -> bytes:
    """Return the records, one a line."""
    try:
        return b"".join([orjson.dumps(record, _fragment, orjson.OPT_APPEND_NEWLINE) for record in records])
    except TypeError as error:  # orjson raises it in place of all that ends `_fragment`, such as Ctrl-C
        raise error.__cause__ or error from None


def _fragment(value: object) -> orjson.Fragment:
    if isinstance(value, JsonValue):
        return orjson.Fragment(value.to_json())
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def decode_lines(body: bytes) -> list[dict[str, Any]]:
    """Return the records of `encode_lines`."""
    return [orjson.loads(line) for line in body.split(b"\n")[:-1]]


class Lines(Layout):
    """JSON Lines, numbered under a key such as `question_index`, or as they are."""

    def __init__(self, arrangement: Arrangement) -> None:
        """Number the records if the arrangement has a number key."""
        self._key = b'"%s":' % arrangement.number_key.encode() if arrangement.number_key else b""

    def placed(self, body: bytes, number: int) -> bytes:
        """Return the lines, numbered."""
        return b"".join(line + b"\n" for line in self._numbered(body, number))

    def lines(self, placed: bytes) -> bytes:
        """Return the lines as they are."""
        return placed

    def _numbered(self, body: bytes, number: int) -> list[bytes]:
        """Return lines with their numbers: the first such key is the record's own, before any in what it holds.

        The key cannot stand inside a text, whose quotes are escaped.
        """
        lines, blank, key = body.split(b"\n")[:-1], self._key + b"0", self._key
        if not key:
            return lines
        assert not lines or blank in lines[0], f"records without {blank.decode()}"  # one writer made them all
        return [line.replace(blank, key + b"%d" % place, 1) for place, line in enumerate(lines, start=number)]


class List(Lines):
    """One list of records, one a line."""

    def head(self, info: Record) -> bytes:
        """Return the bracket before the first record."""
        return b"["

    def placed(self, body: bytes, number: int) -> bytes:
        """Return the lines, numbered and separated by commas."""
        lines = self._numbered(body, number)
        return (b",\n" if number else b"\n") + b",\n".join(lines) if lines else b""

    def lines(self, placed: bytes) -> bytes:
        """Return the lines without commas; a newline never stands inside a record."""
        return placed.lstrip(b",\n").replace(b",\n", b"\n") + b"\n" if placed else b""

    def tail(self, checksum: Checksum) -> bytes:
        """Return the end of the list."""
        return b"\n]\n"


class Document(List):
    """One document: its `info`, the records under a key, one a line, and their checksum."""

    def __init__(self, arrangement: Arrangement) -> None:
        super().__init__(arrangement)
        self._records_key = arrangement.key.encode()

    def head(self, info: Record) -> bytes:
        """Return the document up to its first record."""
        return b'{"info": ' + orjson.dumps(info) + b', "' + self._records_key + b'": ['

    def tail(self, checksum: Checksum) -> bytes:
        """Return the end of the list and of the document."""
        return DOCUMENT_END % str(checksum).encode()


class Placing:
    """Places the blocks of an output one behind the other, and sums up what they say."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.checksum = Checksum()
        self.records = 0

    def place(self, body: bytes, records: int) -> bytes:
        """Return an encoded block as the output holds it."""
        placed = self._layout.placed(body, self.records)
        self.skip(placed, records)
        return placed

    def skip(self, placed: bytes, records: int) -> None:
        """Count a block that the output holds already."""
        lines = self._layout.lines(placed)
        self.records += records
        self.checksum = self.checksum.add(lines, lines.count(b"\n"))

    def tail(self) -> bytes:
        """Return what comes behind the last block."""
        return self._layout.tail(self.checksum)
