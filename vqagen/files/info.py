"""The `info` of outputs, which says how they were made: read from files of every layout, and compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vqagen.errors import BadInput, Problem, as_written, describe
from vqagen.files.locations import Location, holds_columns, locate, open_bytes
from vqagen.files.packing import DAMAGE
from vqagen.files.parsing import parse_json, read_text
from vqagen.files.stream import reading

LINES, CHECKSUM, FORMAT = "lines", "checksum", "format"
"""Keys in the `generator` of the info beside a file: the number of its records, their checksum, and the name of the
file's format if that is another tool's."""
DOCUMENT_END = b'\n], "checksum": "%s"}\n'
"""The end of a document, with the checksum of its records."""
VERSION = 1
"""The `format` in the info of files that this version writes; files of vqagen 0.1 say none."""
FOREIGN = "not made by vqagen: its info does not say how to make it again"
_END = DOCUMENT_END % b"00000000"
CHANGED = "the file was changed or cut after it was made"
NO_CHECKSUM = "its records have no checksum: the file was written anew by another program, or by an earlier vqagen"
"""Libraries for Parquet keep the info, and drop the checksum."""
ABSENT = object()
_CHUNK = 1 << 20


Sums = tuple[int | None, str | None]
"""The number and the checksum of lines that the info beside them gives; None for what it does not give."""


class OutputHead(NamedTuple):
    """What stands in an output, or beside it, before its records are read."""

    layout: str
    """The name of its format; "" in an info beside it that does not say it."""
    info: Any
    """None if a document has none."""
    sums: Sums = (None, None)
    """None for documents and Parquet, whose checksums stand behind the records."""


def describe_output(path: Location) -> OutputHead:
    """Read the info of an output of any kind of records. BadInput for no output, and if the info is missing beside.

    The layout is recognised by the content; the name does not matter. A document begins with its `info`, and a record
    never does.
    """
    if holds_columns(path):
        from vqagen.files.parquet import describe_columns

        return OutputHead("parquet", describe_columns(path)[2])
    with reading(path) as reader:
        opening = reader.peek()
        members = reader.members() if opening == b"{" else iter(())
        if next(members, "") == "info":
            return OutputHead("json", reader.value())
    if opening and opening not in b"{[":
        raise BadInput([Problem(FOREIGN, str(path))])
    beside = _describe_beside(path)
    if beside.info is None:
        message = f"its info is missing: it does not begin with one, and there is no {path}.info.json"
        raise BadInput([Problem(message, str(path))])
    return beside._replace(layout=beside.layout or ("list" if opening == b"[" else "jsonl"))


def find_info_beside(path: Location) -> Any:
    """Return the info beside a file, without the sums of its records; None if there is none."""
    return _describe_beside(path).info


def sums_beside(path: Location) -> Sums:
    """Return the sums of a file's records that the info beside it gives."""
    return _describe_beside(path).sums


def _describe_beside(path: Location) -> OutputHead:
    """Return the info beside a file, None if there is none, and what it says of the file apart from it."""
    beside = locate(f"{path}.info.json")
    info = parse_json(read_text(beside), str(beside)) if beside.is_file() else None
    match info:
        case {"generator": dict(generator)}:
            lines, checksum, form = (generator.pop(key, None) for key in (LINES, CHECKSUM, FORMAT))
            sums = (lines if isinstance(lines, int) else None, checksum if isinstance(checksum, str) else None)
            return OutputHead(form if isinstance(form, str) else "", info, sums)
    return OutputHead("", info)


def is_whole(path: Location, description: OutputHead) -> bool:
    """True if an output is complete by its end, its packing and its number of lines.

    Parquet has its `info` at the end, and so is complete. JSON is read whole.
    """
    layout, _, (given, _) = description
    lines, end = 0, b""
    try:
        with open_bytes(path) as file:
            for chunk in iter(lambda: file.read(_CHUNK), b"") if layout != "parquet" else ():
                lines += chunk.count(b"\n")
                end = (end + chunk)[-len(_END) :]
    except DAMAGE:
        return False
    if layout == "json":
        return end.startswith(_END[:-12]) and end.endswith(_END[-3:])
    if layout == "list":
        return end.endswith(b"\n]\n") and given in (None, lines - 2)
    return layout == "parquet" or (given in (None, lines) if layout == "jsonl" else given == lines - 2)


def differences(ours: object, theirs: object, ignored: Collection[str] = (), path: str = "") -> Iterator[str]:
    """Yield differences of infos: path, their value, not ours. At paths in `ignored`, and below, any value will do."""
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
        shown = (
            "nothing"
            if value is ABSENT
            else describe(value)
            if isinstance(value, Mapping)
            else as_written(value, other)
            for value, other in ((theirs, ours), (ours, theirs))
        )
        yield f"{path}: {', not '.join(shown)}"


SHOWN = 8
"""Differences that a message names."""


def listed_differences(differing: Sequence[str]) -> str:
    """Return the first differences for a message, a line for each, and how many more there are."""
    more = [f"… and {len(differing) - SHOWN:,} more"] if len(differing) > SHOWN else []
    return "\n".join(f"  {difference}" for difference in (*differing[:SHOWN], *more))


def without_run(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the info of what was an output and is one no more, without that by which runs are merged and resumed."""
    given = info.get("generator")
    generator = given if isinstance(given, Mapping) else {}
    return {**info, "generator": {key: generator[key] for key in generator if key not in ("arrangement", "shard")}}


def version_of(info: object) -> str:
    """Return the format that an info says, for people; "0.1" for files that say none.

    >>> version_of({"format": 1}), version_of({"generator": {}})
    ('1', '0.1')
    """
    return str(info.get("format", "0.1")) if isinstance(info, Mapping) else "0.1"
