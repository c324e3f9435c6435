"""Records of a file or folder: `open_records` looks into it; what it returns knows their layout, info and count.

    {"info": {...}, "scenes": [record, ...]}    document: keys in any order, `info` may be missing
    [record, ...]                               list
    record, one on each line                    lines (JSON Lines): blank lines do not count
    Parquet, one record in each row             parquet
    **/*.json in a folder                       files: one record in each, in natural order of their paths inside it
    record                                      files: alone in its file
    records in memory                           given

The layout is recognised by the content. The suffix is asked only where that leaves it open: for an empty file, and for
a file of one record. Every layout may be packed (Parquet packs itself) and lie at a URL. Records are streamed: one is
read when it is asked for, and not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import orjson

from vqagen.errors import BadInput, PlaceError, Problem, UsageError, describe, nearest
from vqagen.files.info import find_info_beside
from vqagen.files.locations import Location, files_below, holds_columns, how_to_unpack, locate
from vqagen.files.packing import DAMAGE, IN_FOLDERS, is_named_lines, packing_of
from vqagen.files.stream import BYTE_ORDER_MARK, JsonReader, damaged, mistake_in, reading, reading_bytes
from vqagen.frozen import frozen

SHOWN_KEYS = 12
SPACE = b" \t\r\n"
Members = dict[str, Any]
"""The members of a document behind its records."""


@frozen
class RecordKind:
    """A kind of records: what files and messages call them.

    `RecordKind("scenes", ("objects",))` is found in `{"scenes": [{"objects": …}, …]}`, in a list of such objects, in
    lines of them, and so on.
    """

    key: str
    """The key of a document under which the records stand: the plural of `noun`."""
    own_keys: tuple[str, ...] = ()
    """A record has at least one of these keys. Without own keys, a document must begin with its `info`."""
    may_be_empty: bool = True
    """True if a file without any record is accepted."""
    json_columns: tuple[str, ...] = ()
    """Columns of Parquet whose texts are JSON."""
    restored: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """Returns the record that a row of Parquet, read with these columns, was made of; None if the row is the record."""

    @property
    def noun(self) -> str:
        """One record, in messages: `scene`."""
        return self.key.removesuffix("s")

    def path(self, index: int) -> str:
        """The JSON path of a record in messages, whatever the layout: `scenes[3]`."""
        return f"{self.key}[{index}]"


class FoundRecord(NamedTuple):
    """A record as read."""

    position: int
    """Its absolute index in the source."""
    value: Any
    """Its value; None if it came from `texts`."""
    place: str
    """What errors call the place that the record comes from: a file, or a line of it."""
    text: bytes
    """Its JSON text as it stands in the file, without line end; of Parquet, JSON that says the same."""


@frozen
class RecordSource:
    """Records that have been found and not yet read."""

    path: Location
    kind: RecordKind
    layout: str
    """document, list, lines, parquet, files or given."""
    files: Sequence[Location]
    """The files that hold records: those that a content hash is taken of."""
    first: int = 0
    """The byte where the first record of a document or list begins."""
    early_info: Mapping[str, Any] | None = None
    """The `info` of a document, if it stands before the records; that of Parquet or of records in memory."""
    length: int | None = None
    """The number of records, if it is known without reading them."""
    given: Sequence[Any] = ()
    """Records in memory."""

    @cached_property
    def info(self) -> Mapping[str, Any]:
        """The `info` in the file or beside it; empty if there is none."""
        info: Any = self.early_info
        if info is None and self.layout == "document":  # it may stand behind the records
            with reading(self.path) as reader:
                info = next(
                    (_checked_info(reader.value(), self.path) for key in reader.members() if key == "info"), None
                )
        if not info and self.layout != "given":
            info = find_info_beside(self.path)
        return info if isinstance(info, Mapping) else {}

    @property
    def size(self) -> int:
        """Bytes of an unpacked local file of JSON; 0 where the size tells nothing about the number of records."""
        if self.length is None and not packing_of(self.path.name) and isinstance(self.path, Path):
            with suppress(OSError):  # gone
                return self.path.stat().st_size
        return 0

    def read(
        self, start: int = 0, count: int = 0, behind: Members | None = None, is_read: bool = True
    ) -> Iterator[FoundRecord]:
        """Yield records from `start` on, `count` of them or (0) all; nothing behind the last record.

        BadInput for text that is not JSON; a value need not be an object. If `is_read` is False, texts are not parsed.
        `behind` gets the members of a document behind its records, such as its checksum, if all records are read.
        """
        if start < 0 or count < 0:
            what = f"cannot take {count} {self.kind.key} from {self.kind.noun} {start} on"
            raise UsageError(f"{what}: no number may be negative")
        return islice(_READERS[self.layout](self, start, is_read, behind), count or None)

    def texts(self, start: int = 0, count: int = 0) -> Iterator[FoundRecord]:
        """Yield the same unread: half the work, for a caller who has other processes read the texts."""
        return self.read(start, count, is_read=False)

    def entries(self, start: int = 0, count: int = 0) -> Iterator[tuple[int, dict[str, Any], str]]:
        """Yield position, record and place of the same; BadInput for a value that is not an object."""
        for index, value, place, _ in self.read(start, count):
            yield index, self.object_of(value, index, place), place

    def records(self, start: int = 0, count: int = 0) -> Iterator[dict[str, Any]]:
        """Yield the objects of the `entries`."""
        for index, value, place, _ in self.read(start, count):
            yield value if type(value) is dict else self.object_of(value, index, place)

    def object_of(self, value: object, index: int, place: str) -> dict[str, Any]:
        """The value of a record, which must be an object; BadInput if it is not."""
        if isinstance(value, dict):
            return value
        message = f"expected a {self.kind.noun} object, found {describe(value)}"
        raise BadInput([Problem(message, place, self.kind.path(index))])

    def count(self, start: int = 0, count: int = 0) -> int:
        """The number of records that `texts` yields. Reads the file, unless the layout knows its length."""
        if self.length is None:
            return sum(1 for _ in self.texts(start, count))
        there = max(self.length - start, 0)
        return min(there, count) if count else there

    def raise_unreadable(self, index: int) -> NoReturn:
        """Raise the fault of a record whose text is broken, with its place in the file."""
        list(self.entries(index, 1))
        raise BadInput([Problem("changed while it was read", str(self.path), self.kind.path(index))])


# Finding --------------------------------------------------------------------------------------------------------------


def open_records(path: Location | str, kind: RecordKind) -> RecordSource:
    """Find the records of a kind at a local path or URL. Reads up to the first record.

    UsageError where nothing lies, BadInput for content that cannot be records of this kind.
    """
    path = locate(path)
    if path.is_dir():
        return _find_in_folder(path, kind)
    if not path.is_file():
        raise PlaceError(f"not a file or folder: {path}" if path.exists() else f"{kind.key} not found: {path}")
    if holds_columns(path):
        return _find_in_columns(path, kind)
    with reading(path) as reader:
        opening = reader.peek()
        if opening == b"[":
            return RecordSource(path, kind, "list", [path], _enter_list(path, reader, kind))
        if opening == b"{":
            return _find_in_object(path, reader, kind)
    if not opening and kind.may_be_empty and (is_named_lines(path.name) or find_info_beside(path) is not None):
        return RecordSource(path, kind, "lines", [path])
    return _reject(path, "", _why_not_json(path, opening, kind))


def first_keys(path: Location) -> Iterator[str]:
    """Yield the keys of the first object in a file: the document, the first element of its list, or the first line.

    Of Parquet, its columns. Nothing is yielded for a file that begins otherwise.
    """
    if holds_columns(path):
        from vqagen.files.parquet import describe_columns

        yield from describe_columns(path)[0]
        return
    with reading(path) as reader:
        if reader.peek() == b"[":
            reader.take(b"[")
        if reader.peek() == b"{":
            yield from reader.members()


def given_records(given: Mapping[str, Any] | Iterable[Mapping[str, Any]], kind: RecordKind) -> RecordSource:
    """Return records in memory as a source: a document with its `info`, one record, or several.

    BadInput for what is none of these.
    """
    path, info, listed = Path(f"given {kind.key}"), None, given
    if isinstance(given, Mapping):
        listed, info = given.get(kind.key, [given]), given.get("info")
    if isinstance(listed, str | Mapping) or not isinstance(listed, Iterable):
        _reject(path, kind.key, f"expected a list of {kind.key}, found {describe(listed)}")
    records = [dict(record) if isinstance(record, Mapping) else record for record in listed]  # a Question is a mapping
    return RecordSource(path, kind, "given", (), 0, _checked_info(info, path), len(records), records)


def _find_in_folder(folder: Location, kind: RecordKind) -> RecordSource:
    files = [file for file in files_below(folder) if file.name.endswith(IN_FOLDERS)]
    if not files:
        names = ", ".join(f"*{suffix}" for suffix in IN_FOLDERS)
        raise PlaceError(f"no {kind.noun} files ({names}) in folder {folder}")
    if open_records(files[0], kind).layout != "files":
        one = f"keep one {kind.noun} in each"
        _reject(files[0], "", f"many {kind.key} in one file of a folder: name the file, or {one}")
    return RecordSource(folder, kind, "files", files, length=len(files))


def _find_in_columns(path: Location, kind: RecordKind) -> RecordSource:
    from vqagen.files.parquet import describe_columns  # which most files do not need

    names, rows, info = describe_columns(path)
    if kind.own_keys and not any(key in names for key in kind.own_keys):
        *most, last = map(repr, kind.own_keys)
        expected = f"a column {', '.join(most)} or {last}" if most else f"the column {last}"
        _reject(path, "", f"not {kind.key}: expected {expected}; found {_listed(names) or 'no column'}")
    if not kind.may_be_empty and not rows:
        _reject(path, "", f"no {kind.key}: the table is empty")
    return RecordSource(path, kind, "parquet", [path], 0, info, rows)


def _find_in_object(path: Location, reader: JsonReader, kind: RecordKind) -> RecordSource:
    """Find out by its first known key if the object that a file begins with is a document or the first record."""
    info: Mapping[str, Any] | None = None
    keys = []
    for key in reader.members():
        keys.append(key)
        if key == kind.key:
            return RecordSource(path, kind, "document", [path], _enter_list(path, reader, kind), info)
        if key in kind.own_keys or (not kind.own_keys and keys[0] != "info"):
            return _find_alone_or_in_lines(path, kind)
        if key == "info":
            info = _checked_info(reader.value(), path)
    own = f" or {kind.own_keys[0]!r} (one {kind.noun})" if kind.own_keys else ""
    expected = f"expected the key {kind.key!r} (a list of {kind.key}){own}"
    close = next((near for known in (kind.key, *kind.own_keys) if (near := nearest(known, keys))), None)
    hint = f"; is {close!r} meant?" if close else ""
    return _reject(path, "", f"{expected}; found {_listed(keys) or 'an empty object'}{hint}")


def _find_alone_or_in_lines(path: Location, kind: RecordKind) -> RecordSource:
    """Return one record if it fills its file, or takes several lines, so that no other may follow; else lines."""
    if not is_named_lines(path.name):
        with reading(path) as reader:
            if b"\n" in reader.text() or not reader.peek():
                return RecordSource(path, kind, "files", [path], length=1)
    return RecordSource(path, kind, "lines", [path])


def _enter_list(path: Location, reader: JsonReader, kind: RecordKind) -> int:
    """Move into a list of records; the byte where its first record begins."""
    opening = reader.peek()
    if opening != b"[":
        found = "an object" if opening == b"{" else describe(reader.value())
        _reject(path, reader.path, f"expected a list of {kind.key}, found {found}")
    reader.take(b"[")
    if reader.peek() == b"]" and not kind.may_be_empty:
        _reject(path, reader.path, f"no {kind.key}: the list is empty")
    return reader.offset


def _checked_info(info: Any, path: Location) -> Mapping[str, Any]:
    if info is not None and not isinstance(info, Mapping):
        _reject(path, "info", f"expected an object, found {describe(info)}")
    return info or {}


def _why_not_json(path: Location, opening: bytes, kind: RecordKind) -> str:
    if not opening:
        return "the file is empty"
    if opening == b"\0" or opening > b"\x7f":
        return how_to_unpack(path) or "not UTF-8 text"
    return (
        how_to_unpack(path) or f"not {kind.key}: expected JSON that begins with '{{' or '[', found {opening.decode()!r}"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:SHOWN_KEYS])) + (", …" if len(names) > SHOWN_KEYS else "")


def _reject(path: Location, where: str, message: str) -> NoReturn:
    raise BadInput([Problem(message, str(path), where)])


# Records of each layout -----------------------------------------------------------------------------------------------


def _in_list(source: RecordSource, start: int, is_read: bool, behind: Members | None) -> Iterator[FoundRecord]:
    """Yield the elements of a list, in a document or by itself."""
    place = str(source.path)
    with reading(source.path, source.first) as reader:
        for index in reader.rest_of_list(source.kind.key):
            if index >= start:
                value, text = reader.value_and_text() if is_read else (None, reader.text())
                yield FoundRecord(index, value, place, text)
        reader.path = ""
        if source.layout == "document" and reader.take(b",}") == b",":
            for key in reader.rest_of_object():
                if behind is not None:
                    behind[key] = reader.value()
        reader.take_end()


def _in_lines(source: RecordSource, start: int, is_read: bool, _: Members | None) -> Iterator[FoundRecord]:
    index, name = 0, str(source.path)
    with reading_bytes(source.path) as file:
        try:
            for number, line in enumerate(file, 1):
                text = line.rstrip(SPACE)
                if not text:
                    continue
                if index >= start:
                    value = _parse(text, source, source.path, index, number) if is_read else None
                    yield FoundRecord(index, value, f"{name}:{number}", text)
                index += 1
        except DAMAGE as error:
            raise damaged(error, source.kind.path(index)) from None


def _in_files(source: RecordSource, start: int, is_read: bool, _: Members | None) -> Iterator[FoundRecord]:
    """Yield the only record of each file."""
    for index, path in enumerate(source.files[start:], start):
        with reading_bytes(path) as file:
            try:
                text = file.read()
            except DAMAGE as error:
                raise damaged(error, source.kind.path(index)) from None
        yield FoundRecord(index, _parse(text, source, path, index) if is_read else None, str(path), text)


def _in_parquet(source: RecordSource, start: int, is_read: bool, _: Members | None) -> Iterator[FoundRecord]:
    from vqagen.files.parquet import read_rows

    rows, restored = read_rows(source.path, start, source.kind.json_columns), source.kind.restored
    for index, record in enumerate(map(restored, rows) if restored else rows, start):
        yield FoundRecord(index, record, str(source.path), b"" if is_read else orjson.dumps(record, default=repr))


def _in_memory(source: RecordSource, start: int, is_read: bool, _: Members | None) -> Iterator[FoundRecord]:
    """Yield records as a file would hold them: a tuple is a list, a number of numpy a number."""
    for index, value in enumerate(source.given[start:], start):
        if not isinstance(value, Mapping):
            source.object_of(value, index, str(source.path))
        try:
            text = orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
        except TypeError as error:
            _reject(source.path, source.kind.path(index), f"not a JSON value: {error}")
        yield FoundRecord(index, orjson.loads(text) if is_read else None, str(source.path), text)


_READERS: Mapping[str, Callable[[RecordSource, int, bool, Members | None], Iterator[FoundRecord]]] = {
    "document": _in_list,
    "list": _in_list,
    "lines": _in_lines,
    "files": _in_files,
    "parquet": _in_parquet,
    "given": _in_memory,
}


def _parse(text: bytes, source: RecordSource, path: Location, index: int, line: int = 1) -> object:
    """The value of a text that begins at a line of a file."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        message, place = mistake_in(text, "line" if source.layout == "lines" else "file")
    raise BadInput([Problem(message, str(path), source.kind.path(index), line + place.line - 1, place.column)])
