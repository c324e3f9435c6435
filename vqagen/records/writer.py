"""Write records as a JSON document or JSON Lines, with their `info` inside or beside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import orjson

from vqagen.errors import UsageError, unknown
from vqagen.files.locations import locate
from vqagen.files.output import STDOUT, atomic_output, is_pipe_or_device
from vqagen.files.packing import packing_of, unpacked_name
from vqagen.records.layouts import Document, Lines, encode_lines
from vqagen.records.names import is_named_columns, is_named_lines

Record = Mapping[str, Any]


LINES = "lines"
"""Key in the `generator` of the info beside JSON Lines: how many there are."""


LAYOUTS = ("json", "jsonl", "parquet")


def layout_of(target: str) -> str:
    """The format that a file's name asks for: Parquet or JSON Lines by suffix, else one document."""
    if is_named_columns(target):
        return "parquet"
    return "jsonl" if is_named_lines(target) else "json"


def chosen_layout(target: str, layout: str | None) -> str:
    """The layout asked for, or that of the name. UsageError for one that there is not, or that the name denies."""
    chosen = layout or layout_of(target)
    if chosen not in LAYOUTS:
        raise UsageError(unknown("format", chosen, LAYOUTS))
    if packing_of(target) and "parquet" in (chosen, layout_of(unpacked_name(target))):
        raise UsageError(f"{target}: Parquet is packed inside; name the file {unpacked_name(target)}")
    if chosen != "parquet" and layout_of(target) == "parquet":
        raise UsageError(f"{target}: what is named so is read as Parquet, not as {chosen}; choose another name")
    return chosen


def info_beside(target: str, layout: str) -> str | None:
    """Where the `info` of JSON Lines goes; None for layouts that hold it, and for standard output and devices."""
    return f"{target}.info.json" if layout == "jsonl" and not is_stream(target) else None


def is_stream(target: str) -> bool:
    """Whether a target is written as it comes: standard output, a pipe or a device."""
    if target == STDOUT:
        return True
    location = locate(target)
    return isinstance(location, Path) and is_pipe_or_device(location)


def write_info(target: str, layout: str, info: Record, records: int) -> None:
    """Write the `info` beside a target that has no place for it, and how many records there are.

    Where lines end tells nobody that some are missing.
    """
    beside = info_beside(target, layout)
    if beside is not None:
        with atomic_output(beside) as file:
            told = {**info, "generator": {**info["generator"], LINES: records}}
            file.write(orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n")


@contextmanager
def record_file(
    target: str, layout: str, info: Record, key: str, on_ready: Callable[[], object] = lambda: None
) -> Iterator[RecordWriter]:
    """A writer of lines whose file appears under its name when all is written, and so does the `info` beside it.

    `on_ready` is called just before.
    """

    def finish() -> None:
        write_info(target, layout, info, writer.written)
        on_ready()

    with atomic_output(target, finish) as file:
        writer = RecordWriter(file, layout, info, key)
        yield writer
        writer.close()


class RecordWriter:
    """Writes records to an open file; `close` completes the document (the file itself stays open)."""

    def __init__(self, file: IO[bytes], layout: str, info: Record, key: str) -> None:
        self.written = 0
        self._file = file
        self._layout = Document("", key) if layout == "json" else Lines("")
        file.write(self._layout.head(info))

    def write(self, records: Iterable[Record]) -> None:
        """Append records."""
        lines = encode_lines(records)
        self._file.write(self._layout.placed(lines, self.written))
        self.written += lines.count(b"\n")

    def close(self) -> None:
        """Complete the document."""
        self._file.write(self._layout.tail)
