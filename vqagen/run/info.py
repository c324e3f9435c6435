"""The `info` of outputs, which says what made them: read back from files of every layout, and compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from vqagen.errors import BadInput, Problem, as_written, describe
from vqagen.files import open_as_it_is, parse_json, read_text
from vqagen.json_stream import reading
from vqagen.locations import Location, locate
from vqagen.run.output import info_beside

PARQUET_BEGINS = b"PAR1"
FOREIGN = "not made by vqagen: its info does not say how to make it again"
ABSENT = object()


class Difference(NamedTuple):
    """A place in two infos, and what they have there."""

    path: str
    values: str

    def __str__(self) -> str:
        return f"{self.path}: {self.values}"


def layout_in(path: Location) -> str:
    """The layout of a file, by what it holds: it may have any name. BadInput if an output cannot begin so."""
    with open_as_it_is(path) as file:
        if file.read(len(PARQUET_BEGINS)) == PARQUET_BEGINS:
            return "parquet"
    with reading(path) as reader:
        opening = reader.peek()
        if opening == b"{":
            return "json" if next(reader.members(), "") in ("info", "questions") else "jsonl"
    if opening:
        raise BadInput([Problem(FOREIGN, str(path))])
    return "jsonl"


def read_info(path: Location, layout: str = "") -> Any:
    """What a file, or the file beside it, has as its info; None if there is none in it."""
    layout = layout or layout_in(path)
    if layout == "json":
        return _in_document(path)
    return _beside(path) if layout == "jsonl" else _in_columns(path)


def _in_document(path: Location) -> Any:
    with reading(path) as reader:
        return next((reader.value() for key in reader.members() if key == "info"), None)


def _beside(path: Location) -> Any:
    beside = locate(info_beside(str(path), "jsonl") or "")
    if not beside.is_file():
        said = f"its info is missing: `vqagen generate` writes it beside JSON Lines, into {beside}"
        raise BadInput([Problem(said, str(path))])
    return parse_json(read_text(beside), str(beside))


def _in_columns(path: Location) -> Any:
    from vqagen.exchange.columns import read_info

    return read_info(path)


def differences(ours: object, theirs: object, ignored: Collection[str] = (), path: str = "") -> Iterator[Difference]:
    """Where two infos are not equal. Paths in `ignored`, and what lies under them, may differ."""
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
    return describe(value) if isinstance(value, Mapping | list) else as_written(value)
