"""How finished records stand in a part: as lines of a document or of JSON Lines, or in batches of columns.

Workers encode records without their number in the output, which they cannot know; the numbers are put in when a block
gets its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import orjson

Record = Mapping[str, Any]
Encode = Callable[[Iterable[Record]], bytes]
"""A block's records, which say 0 for their number, as the part or a layout takes them."""


class Layout(Protocol):
    """How a part is written."""

    def head(self, info: Record) -> bytes:
        """What comes before the first block."""

    def placed(self, body: bytes, number: int) -> bytes:
        """An encoded block, `number` records standing before it."""

    @property
    def tail(self) -> bytes:
        """What comes behind the last block."""


def encode_lines(records: Iterable[Record]) -> bytes:
    """One record a line."""
    return b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)


def decode_lines(body: bytes) -> list[dict[str, Any]]:
    """The records of `encode_lines`."""
    return [orjson.loads(line) for line in body.split(b"\n")[:-1]]


class Lines:
    """JSON Lines, numbered under a key such as `question_index`, or as they are."""

    tail = b""

    def __init__(self, number_key: str) -> None:
        """No `number_key`, no numbers."""
        self._key = b'"%s":' % number_key.encode() if number_key else b""

    def head(self, info: Record) -> bytes:
        """Nothing: the info lies beside."""
        return b""

    def placed(self, body: bytes, number: int) -> bytes:
        """The lines, numbered."""
        return b"".join(line + b"\n" for line in self.numbered(body, number))

    def numbered(self, body: bytes, number: int) -> list[bytes]:
        """Lines with their numbers: the first such key is the record's own, before any in what it holds.

        The key cannot stand inside a text, whose quotes are escaped.
        """
        lines, blank, key = body.split(b"\n")[:-1], self._key + b"0", self._key
        if not key:
            return lines
        assert not lines or blank in lines[0], f"records without {blank.decode()}"  # one writer made them all
        return [line.replace(blank, key + b"%d" % place, 1) for place, line in enumerate(lines, start=number)]


class Document(Lines):
    """One document with its `info` and, under a key, the records, one a line."""

    tail = b"\n]}\n"

    def __init__(self, number_key: str, key: str) -> None:
        super().__init__(number_key)
        self._records_key = key.encode()

    def head(self, info: Record) -> bytes:
        """The document up to its first record."""
        return b'{"info": ' + orjson.dumps(info) + b', "' + self._records_key + b'": ['

    def placed(self, body: bytes, number: int) -> bytes:
        """The lines, numbered and parted by commas."""
        lines = self.numbered(body, number)
        return (b",\n" if number else b"\n") + b",\n".join(lines) if lines else b""


class Batches:
    """Columns, a batch for each block; they get their numbers when the file is made of the part."""

    tail = b""

    def head(self, info: Record) -> bytes:
        """Nothing: the info goes into the file's metadata."""
        return b""

    def placed(self, body: bytes, number: int) -> bytes:
        """The batch as it is."""
        return body
