"""Records of a file or folder that has been looked into: its layout is known, and records are read from any index on.

    {"info": {...}, "scenes": [record, ...]}    document: keys in any order, `info` may be missing
    [record, ...]                               list
    record, one on each line                    lines (JSON Lines): blank lines do not count
    Parquet, one record in each row             parquet
    **/*.json in a folder                       files: one record in each, in natural order of their paths inside it
    record                                      files: alone in its file
    records in memory                           given

Every layout may be packed (Parquet packs itself) and lie at a URL. Records are streamed: one is read when it is asked
for, and not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import orjson

from vqagen.errors import BadInput, Problem, UsageError, describe
from vqagen.files.info import find_info_beside
from vqagen.files.kind import RecordKind
from vqagen.files.locations import Location
from vqagen.files.packing import DAMAGE, packing_of
from vqagen.files.parquet import count_rows, read_info, read_rows
from vqagen.files.stream import (
    BYTE_ORDER_MARK,
    NOT_JSON,
    JsonReader,
    damaged,
    position_of,
    reading,
    reading_bytes,
    refusal,
)
from vqagen.files.text import Position

SPACE = b" \t\r\n"
CUT_OFF = "unexpected end of data"
"""As orjson says it."""
Members = dict[str, Any]
"""The members of a document behind its records."""


class FoundRecord(NamedTuple):
    """A record as read."""

    position: int
    """Its absolute index in the source."""
    value: Any
    """Its value; of `texts`, None."""
    place: str
    """What errors call the place that the record comes from: a file, or a line of it."""
    text: bytes
    """Its JSON text as it stands in the file, without line end; of Parquet, JSON that says the same."""


class RecordEntry(NamedTuple):
    """A record that is an object."""

    position: int
    record: dict[str, Any]
    place: str


@dataclass(frozen=True)
class RecordSource:
    """Records that have been found and not yet read; see `records.discovery`."""

    path: Location
    kind: RecordKind
    layout: str
    """document, list, lines, parquet, files or given."""
    files: Sequence[Location]
    """The files that hold records: those that a content hash is taken of."""
    first: int = 0
    """The byte where the first record of a document or list begins."""
    early_info: Mapping[str, Any] | None = None
    """The `info` of a document, if it stands before the records."""

    @cached_property
    def info(self) -> Mapping[str, Any]:
        """The `info` in the file or beside it; empty if there is none."""
        info: Any = self.early_info
        if info is None and self.layout in _INFOS:
            info = _INFOS[self.layout](self)
        if not info and self.layout != "given":
            info = find_info_beside(self.path)
        return info if isinstance(info, Mapping) else {}

    @cached_property
    def length(self) -> int | None:
        """The number of records, if it is known without reading them."""
        if self.layout == "files":
            return len(self.files)
        return count_rows(self.path) if self.layout == "parquet" else None

    @property
    def size(self) -> int:
        """Bytes of an unpacked local file of JSON; 0 where the size tells nothing about the number of records."""
        if self.length is not None or packing_of(self.path.name) or not isinstance(self.path, Path):
            return 0
        try:
            return self.path.stat().st_size
        except OSError:  # gone
            return 0

    def read(self, start: int = 0, count: int = 0, behind: Members | None = None) -> Iterator[FoundRecord]:
        """Yield records from `start` on, `count` of them or (0) all; nothing behind the last record.

        BadInput for text that is not JSON; a value need not be an object. `behind` is filled with the members of a
        document behind its records, if these are read to the end.
        """
        return self._found(start, count, True, behind)

    def texts(self, start: int = 0, count: int = 0) -> Iterator[FoundRecord]:
        """Yield the same unread: half the work, for a caller who has other processes read the texts."""
        return self._found(start, count, False, None)

    def entries(self, start: int = 0, count: int = 0) -> Iterator[RecordEntry]:
        """Yield the same as `read`; BadInput for a value that is not an object."""
        found = self.read(start, count)
        return (RecordEntry(at, self.object_of(value, at, place), place) for at, value, place, _ in found)

    def object_of(self, value: object, index: int, place: str) -> dict[str, Any]:
        """The value of a record, which must be an object; BadInput if it is not."""
        if isinstance(value, dict):
            return value
        raise BadInput([self.not_an_object(value, index, place)])

    def not_an_object(self, value: object, index: int, place: str) -> Problem:
        """The problem of a value that is not an object."""
        return Problem(f"expected a {self.kind.noun} object, found {describe(value)}", place, self.kind.path(index))

    def records(self, start: int = 0, count: int = 0) -> Iterator[dict[str, Any]]:
        """Yield the objects of the `entries`."""
        for index, value, place, _ in self.read(start, count):
            yield value if type(value) is dict else self.object_of(value, index, place)

    def count(self, start: int = 0, count: int = 0) -> int:
        """The number of records that `texts` yields. Reads the file, unless the layout knows its length."""
        if self.length is None:
            return sum(1 for _ in self.texts(start, count))
        there = max(self.length - start, 0)
        return min(there, count) if count else there

    def raise_unreadable(self, index: int) -> NoReturn:
        """Raise the fault of a record whose text is broken, with its place in the file."""
        for _ in self.entries(index, 1):
            pass
        raise BadInput([Problem("changed while it was read", str(self.path), self.kind.path(index))])

    def _found(self, start: int, count: int, is_read: bool, behind: Members | None) -> Iterator[FoundRecord]:
        if start < 0 or count < 0:
            what = f"cannot take {count} {self.kind.key} from {self.kind.noun} {start} on"
            raise UsageError(f"{what}: no number may be negative")
        if self.layout in ("document", "list"):
            found = _in_list(self, start, is_read, behind)
        else:
            found = _READERS[self.layout](self, start, is_read)
        return islice(found, count or None)


@dataclass(frozen=True)
class GivenRecords(RecordSource):
    """Records in memory."""

    given: Sequence[Any] = ()

    @cached_property
    def length(self) -> int:
        """The number of records."""
        return len(self.given)

    def _found(self, start: int, count: int, is_read: bool, behind: Members | None) -> Iterator[FoundRecord]:
        for index, value in islice(enumerate(self.given), start, start + count if count else None):
            if not isinstance(value, Mapping):
                raise BadInput([self.not_an_object(value, index, str(self.path))])
            try:
                text = orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
            except TypeError as error:
                raise BadInput([Problem(f"not a JSON value: {error}", str(self.path), self.kind.path(index))]) from None
            # As a file would hold it: a tuple is a list, a number of numpy a number.
            yield FoundRecord(index, orjson.loads(text) if is_read else None, str(self.path), text)


def given_records(given: Mapping[str, Any] | Iterable[Mapping[str, Any]], kind: RecordKind) -> RecordSource:
    """Return records in memory as a source: a document with its `info`, one record, or several.

    BadInput for what is none of these.
    """
    path, info, listed = Path(f"given {kind.key}"), None, given
    if isinstance(given, Mapping):
        listed, info = given.get(kind.key, [given]), given.get("info")
    if isinstance(listed, str | Mapping) or not isinstance(listed, Iterable):
        raise BadInput([Problem(f"expected a list of {kind.key}, found {describe(listed)}", str(path), kind.key)])
    if info is not None and not isinstance(info, Mapping):
        raise BadInput([Problem(f"expected an object, found {describe(info)}", str(path), "info")])
    return GivenRecords(path, kind, "given", (), early_info=info or {}, given=list(listed))


# Records of each layout -----------------------------------------------------------------------------------------------


def _in_list(source: RecordSource, start: int, is_read: bool, behind: Members | None) -> Iterator[FoundRecord]:
    """Yield the elements of a list, in a document or by itself."""
    place = str(source.path)
    with reading(source.path, source.first) as reader:
        for index in reader.rest_of_list(source.kind.key):
            if index >= start and is_read:
                value, text = reader.value_and_text()
                yield FoundRecord(index, value, place, text)
            elif index >= start:
                yield FoundRecord(index, None, place, reader.text())
        reader.path = ""
        if source.layout == "document" and reader.take(b",}") == b",":
            _take_members(reader, behind)
        reader.take_end()


def _take_members(reader: JsonReader, into: Members | None) -> None:
    for key in reader.rest_of_object():
        if into is not None:
            into[key] = reader.value()


def _in_lines(source: RecordSource, start: int, is_read: bool) -> Iterator[FoundRecord]:
    index, name, loads = 0, str(source.path), orjson.loads
    with reading_bytes(source.path) as file:
        try:
            for number, line in enumerate(file, 1):
                text = line.rstrip(SPACE)
                if not text:
                    continue
                if index >= start:
                    value = None
                    if is_read:
                        try:
                            value = loads(text)
                        except orjson.JSONDecodeError:
                            value = _parse(text, source, source.path, index, number)
                    yield FoundRecord(index, value, f"{name}:{number}", text)
                index += 1
        except DAMAGE as error:
            raise damaged(error, source.kind.path(index)) from None


def _in_files(source: RecordSource, start: int, is_read: bool) -> Iterator[FoundRecord]:
    """Yield the only record of each file."""
    for index, path in enumerate(source.files[start:], start):
        with reading_bytes(path) as file:
            try:
                text = file.read()
            except DAMAGE as error:
                raise damaged(error, source.kind.path(index)) from None
        value = _parse(text, source, path, index) if is_read else None
        yield FoundRecord(index, value, str(path), text)


def _in_parquet(source: RecordSource, start: int, is_read: bool) -> Iterator[FoundRecord]:
    place = str(source.path)
    rows, restored = read_rows(source.path, start, source.kind.json_columns), source.kind.restored
    for index, record in enumerate(map(restored, rows) if restored else rows, start):
        yield FoundRecord(index, record, place, b"" if is_read else orjson.dumps(record, default=repr))


def _parse(text: bytes, source: RecordSource, path: Location, index: int, line: int = 1) -> object:
    """The value of a text that begins at a line of a file."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        message, place = _mistake(text, error, "line" if source.layout == "lines" else "file")
    raise BadInput([Problem(message, str(path), source.kind.path(index), line + place.line - 1, place.column)])


def mistake_in_line(line: bytes) -> tuple[str, int]:
    """Return why a line without its end is not JSON, and in which column."""
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError as error:
        message, place = _mistake(line, error, "line")
        return message, place.column
    return NOT_JSON, 1


def _mistake(text: bytes, error: orjson.JSONDecodeError, whole: str) -> tuple[str, Position]:
    """Return why a text, a whole line or file, is not JSON, and where; one that is cut off, where it ends."""
    message, at = refusal(text, error)
    if message == CUT_OFF:
        message = f"the {whole} ends inside a value"
    return f"{NOT_JSON}: {message}", position_of(BytesIO(text), min(at, len(text.rstrip())))


_READERS: Mapping[str, Callable[[RecordSource, int, bool], Iterator[FoundRecord]]] = {
    "lines": _in_lines,
    "files": _in_files,
    "parquet": _in_parquet,
}


# Info -----------------------------------------------------------------------------------------------------------------


def take_info(reader: JsonReader, path: Location) -> Mapping[str, Any]:
    """Read the `info` of a document, which comes next; BadInput if it is not an object."""
    info = reader.value()
    if info is not None and not isinstance(info, Mapping):
        raise BadInput([Problem(f"expected an object, found {describe(info)}", str(path), "info")])
    return info or {}


def _info_behind(source: RecordSource) -> Mapping[str, Any]:
    """The `info` of a document that has none before its records."""
    with reading(source.path) as reader:
        return next((take_info(reader, source.path) for key in reader.members() if key == "info"), {})


_INFOS: Mapping[str, Callable[[RecordSource], Mapping[str, Any]]] = {
    "document": _info_behind,
    "parquet": lambda source: read_info(source.path),
}
