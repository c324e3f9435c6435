"""The `info` of outputs, which says how they were made: read from files of every layout, and compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from vqagen.errors import BadInput, Problem, as_written, describe
from vqagen.files.locations import Location, locate
from vqagen.files.packing import DAMAGE, packing_of
from vqagen.files.reading import open_bytes
from vqagen.json.parsing import parse_json, read_text
from vqagen.json.stream import reading
from vqagen.records import parquet
from vqagen.records.formats import LIST
from vqagen.records.layouts import DOCUMENT_END
from vqagen.records.writer import CHECKSUM, LINES, info_beside

FOREIGN = "not made by vqagen: its info does not say how to make it again"
_END = DOCUMENT_END % b"00000000"
ABSENT = object()
_CHUNK = 1 << 20


class Difference(NamedTuple):
    """A path at which two infos differ, and their values there."""

    path: str
    values: str

    def __str__(self) -> str:
        return f"{self.path}: {self.values}"


def layout_in(path: Location) -> str:
    """The layout of an output, recognised by its content; its name does not matter.

    A document begins with its `info`, and a record never does. BadInput for a file that no output begins like.
    """
    if parquet.holds_columns(path):
        return "parquet"
    with reading(path) as reader:
        opening = reader.peek()
        if opening == b"{":
            return "json" if next(reader.members(), "") == "info" else "jsonl"
    if opening == b"[":
        return "list"
    if opening:
        raise BadInput([Problem(FOREIGN, str(path))])
    return "jsonl"


def read_info(path: Location, layout: str = "") -> Any:
    """The info in an output, or beside JSON Lines; None if a document has none. BadInput if it is missing beside."""
    layout = layout or layout_in(path)
    if layout == "json":
        return _in_document(path)
    return parquet.read_info(path) if layout == "parquet" else _beside(path)


def _in_document(path: Location) -> Any:
    with reading(path) as reader:
        return next((reader.value() for key in reader.members() if key == "info"), None)


def _beside(path: Location) -> Any:
    found = find_info_beside(path)
    if found is None:
        message = f"its info is missing: it does not begin with one, and there is no {_path_beside(path)}"
        raise BadInput([Problem(message, str(path))])
    return found


def find_info_beside(path: Location) -> Any:
    """The info beside JSON Lines, without the number of lines; None if there is none."""
    beside = _path_beside(path)
    if not beside.is_file():
        return None
    written = parse_json(read_text(beside), str(beside))
    match written:
        case {"generator": dict(generator)}:
            return {
                **written,
                "generator": {key: value for key, value in generator.items() if key not in (LINES, CHECKSUM)},
            }
    return written


def recorded_sums(path: Location) -> tuple[int | None, str | None]:
    """Return the count and the checksum of the records that the info beside a file gives; None for what it does not."""
    beside = _path_beside(path)
    match parse_json(read_text(beside), str(beside)) if beside.is_file() else None:
        case {"generator": dict(generator)}:
            lines, checksum = generator.get(LINES), generator.get(CHECKSUM)
            return lines if isinstance(lines, int) else None, checksum if isinstance(checksum, str) else None
    return None, None


def _path_beside(path: Location) -> Location:
    return locate(info_beside(str(path), LIST) or "")


def is_whole(path: Location, layout: str) -> bool:
    """True if an output, whose `info` could be read, is complete by its end, its packing and its number of lines.

    Parquet has its `info` at the end, and so is complete. JSON is read whole; of an unpacked document only the end is.
    """
    if layout == "parquet":
        return True
    try:
        with open_bytes(path) as file:
            if layout == "json" and isinstance(path, Path) and not packing_of(path.name):
                file.seek(max(0, path.stat().st_size - len(_END)))
            lines, end = _lines_and_end(file, len(_END))
    except DAMAGE:
        return False
    if layout == "json":
        return end.startswith(_END[:-12]) and end.endswith(_END[-3:])
    if layout == "list":
        return end.endswith(b"\n]\n") and recorded_sums(path)[0] in (None, lines - 2)
    return recorded_sums(path)[0] in (None, lines)


def _lines_and_end(file: BinaryIO, length: int) -> tuple[int, bytes]:
    """The number of lines of a file, and its last bytes, `length` of them."""
    lines, end = 0, b""
    for chunk in iter(lambda: file.read(_CHUNK), b""):
        lines += chunk.count(b"\n")
        end = (end + chunk)[-length:]
    return lines, end


def differences(ours: object, theirs: object, ignored: Collection[str] = (), path: str = "") -> Iterator[Difference]:
    """Yield the differences of two infos. Values at paths in `ignored`, and below them, may differ."""
    if path in ignored:
        return
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        for key in (*ours, *(key for key in theirs if key not in ours)):
            inside = f"{path}.{key}".lstrip(".")
            yield from differences(ours.get(key, ABSENT), theirs.get(key, ABSENT), ignored, inside)
    elif isinstance(ours, list | tuple) and isinstance(theirs, list | tuple) and len(ours) == len(theirs):
        for place, (our, their) in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(our, their, ignored, f"{path}[{place}]")
    elif type(ours) is not type(theirs) or ours != theirs:
        yield Difference(path, f"{_shown(theirs)}, not {_shown(ours)}")


def _shown(value: object) -> str:
    if value is ABSENT:
        return "nothing"
    return describe(value) if isinstance(value, Mapping) else as_written(value)
