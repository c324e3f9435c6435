"""Find records: look into a file or folder, and recognise its layout by its content.

The suffix is asked only where the content leaves the layout open: for an empty file, and for a file of one record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from vqagen.errors import BadInput, PlaceError, Problem, describe, nearest
from vqagen.files.info import find_info_beside
from vqagen.files.kind import RecordKind
from vqagen.files.locations import Location, files_below, how_to_unpack, locate
from vqagen.files.packing import IN_FOLDERS, is_named_lines
from vqagen.files.parquet import column_names, holds_columns
from vqagen.files.source import RecordSource, take_info
from vqagen.files.stream import JsonReader, reading

SHOWN_KEYS = 12


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
        return _find_in_file(path, reader, kind)


def first_keys(path: Location) -> Iterator[str]:
    """Yield the keys of the first object in a file: the document, the first element of its list, or the first line.

    Of Parquet, its columns. Nothing is yielded for a file that begins otherwise.
    """
    if holds_columns(path):
        yield from column_names(path)
        return
    with reading(path) as reader:
        if reader.peek() == b"[":
            reader.take(b"[")
        if reader.peek() == b"{":
            yield from reader.members()


def _find_in_folder(folder: Location, kind: RecordKind) -> RecordSource:
    files = [file for file in files_below(folder) if file.name.endswith(IN_FOLDERS)]
    if not files:
        names = ", ".join(f"*{suffix}" for suffix in IN_FOLDERS)
        raise PlaceError(f"no {kind.noun} files ({names}) in folder {folder}")
    if open_records(files[0], kind).layout != "files":
        one = f"keep one {kind.noun} in each"
        _reject(files[0], "", f"many {kind.key} in one file of a folder: name the file, or {one}")
    return RecordSource(folder, kind, "files", files)


def _find_in_columns(path: Location, kind: RecordKind) -> RecordSource:
    names = column_names(path)
    if kind.own_keys and not any(key in names for key in kind.own_keys):
        *most, last = map(repr, kind.own_keys)
        expected = f"a column {', '.join(most)} or {last}" if most else f"the column {last}"
        _reject(path, "", f"not {kind.key}: expected {expected}; found {_listed(names) or 'no column'}")
    source = RecordSource(path, kind, "parquet", [path])
    if not kind.may_be_empty and source.length == 0:
        _reject(path, "", f"no {kind.key}: the table is empty")
    return source


def _find_in_file(path: Location, reader: JsonReader, kind: RecordKind) -> RecordSource:
    opening = reader.peek()
    if opening == b"[":
        return RecordSource(path, kind, "list", [path], _enter_list(path, reader, kind))
    if opening == b"{":
        return _find_in_object(path, reader, kind)
    if not opening and kind.may_be_empty and (is_named_lines(path.name) or find_info_beside(path) is not None):
        return RecordSource(path, kind, "lines", [path])
    return _reject(path, "", _why_not_json(path, opening, kind))


def _find_in_object(path: Location, reader: JsonReader, kind: RecordKind) -> RecordSource:
    """The object that a file begins with is a document or the first record; its first telling key decides."""
    info: Mapping[str, Any] | None = None
    keys = []
    for key in reader.members():
        keys.append(key)
        if key == kind.key:
            return RecordSource(path, kind, "document", [path], _enter_list(path, reader, kind), info)
        if key in kind.own_keys or (not kind.own_keys and keys[0] != "info"):
            return RecordSource(path, kind, "files" if _is_alone(path) else "lines", [path])
        if key == "info":
            info = take_info(reader, path)
    return _reject(path, "", _why_none(keys, kind))


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


def _is_alone(path: Location) -> bool:
    """True if the first record of a file is all of it, or takes several lines, so that no other may follow."""
    if is_named_lines(path.name):
        return False
    with reading(path) as reader:
        return b"\n" in reader.text() or not reader.peek()


def _why_not_json(path: Location, opening: bytes, kind: RecordKind) -> str:
    if not opening:
        return "the file is empty"
    packed = how_to_unpack(path)
    if packed:
        return packed
    if opening == b"\0" or opening > b"\x7f":
        return "not UTF-8 text"
    return f"not {kind.key}: expected JSON that begins with '{{' or '[', found {opening.decode()!r}"


def _why_none(keys: list[str], kind: RecordKind) -> str:
    own = f" or {kind.own_keys[0]!r} (one {kind.noun})" if kind.own_keys else ""
    expected = f"expected the key {kind.key!r} (a list of {kind.key}){own}"
    close = next((near for known in (kind.key, *kind.own_keys) if (near := nearest(known, keys))), None)
    return f"{expected}; found {_listed(keys) or 'an empty object'}" + (f"; is {close!r} meant?" if close else "")


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:SHOWN_KEYS])) + (", …" if len(names) > SHOWN_KEYS else "")


def _reject(path: Location, where: str, message: str) -> NoReturn:
    raise BadInput([Problem(message, str(path), where)])
