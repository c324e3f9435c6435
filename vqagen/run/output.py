"""Where records go: a JSON document, JSON Lines or Parquet; under a name, packed, at a URL, or into standard output.

A document begins with its `info`, and Parquet holds it in its metadata. JSON Lines have no place for one: it goes
beside them, into `<name>.info.json`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

import orjson

from vqagen.errors import UsageError, unknown
from vqagen.exchange.question_files import COLUMNS_SUFFIX, LINES_SUFFIXES
from vqagen.files import STDOUT, atomic_output, check_output, is_pipe_or_device, linked
from vqagen.locations import locate
from vqagen.packing import packing_of, unpacked_name
from vqagen.run.journal import journal_of, part_of
from vqagen.run.layouts import Batches, Document, Encode, Layout, Lines, encode_lines
from vqagen.run.provenance import Arrangement

Record = Mapping[str, Any]
Keep = Callable[[Record], bool]
"""Whether a record stays; asked of each in the order of the output."""
LINES = "lines"
"""Key in the `generator` of the info beside JSON Lines: how many there are."""
LAYOUTS = ("json", "jsonl", "parquet")


def layout_of(target: str) -> str:
    """The format that a file's name asks for: Parquet or JSON Lines by suffix, else one document."""
    name = target.lower()
    if name.endswith(COLUMNS_SUFFIX):
        return "parquet"
    return "jsonl" if unpacked_name(name).endswith(LINES_SUFFIXES) else "json"


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


def place_of(target: str) -> Path:
    """What the part lies beside: the target (what it links to), or its name in this folder if it is elsewhere."""
    location = locate(target)
    if isinstance(location, Path):
        return linked(location) if location.is_symlink() else location
    return Path(f"{location.name}.{zlib.crc32(str(location).encode()):08x}")  # two URLs may end in one name


def names_of(target: str, layout: str) -> list[str]:
    """All files that a run makes for a target, meanwhile or for good."""
    if is_stream(target):
        return [target]
    beside, place = info_beside(target, layout), place_of(target)
    return [target, str(part_of(place)), str(journal_of(place)), *([beside] if beside else [])]


def check_record_file(target: str, layout: str, force: bool, inputs: Iterable[Path | str | None] = ()) -> None:
    """`files.check_output` for all that `record_file` writes."""
    given = list(inputs)
    check_output(target, force, given)
    beside = info_beside(target, layout)
    if beside is not None:
        check_output(beside, force, given)


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


class Choice(Protocol):
    """Chooses from all records of an output, which it is asked about in their order."""

    def keeps(self, record: Record) -> bool:
        """Whether a record stays."""

    def to_record(self) -> dict[str, Any]:
        """What it has kept, for the report of the run; JSON."""


class Columns(Protocol):
    """How records stand in Parquet."""

    def encode(self, given: Iterable[Record]) -> bytes:
        """A batch of records, without their numbers."""

    def write(self, batches: Iterable[bytes], file: IO[bytes], info: Record) -> None:
        """Batches into a file; numbers the records."""


@dataclass(frozen=True)
class Output:
    """An output of a run, and how its records get there.

    They are staged in a part (see `journal`), and the output is made of that when all are there.
    """

    target: str
    layout: str
    info: Record
    columns: Columns | None = None
    """For Parquet. Can be pickled."""
    choose: Callable[[], Choice] | None = None
    """Where records are chosen when all are there: makes what chooses."""

    def __post_init__(self) -> None:
        if self.layout == "parquet" and self.columns is None:
            key = self.arrangement.key
            raise UsageError(f"{self.target}: {key} are written as JSON (.json or .jsonl), not as Parquet")

    @property
    def is_stream(self) -> bool:
        """Whether it is written as it comes."""
        return is_stream(self.target)

    @property
    def is_staged_as_it_is(self) -> bool:
        """Whether the part, complete, is what the output says, if it is not packed."""
        return self.choose is None and self.layout != "parquet"

    @property
    def arrangement(self) -> Arrangement:
        """How the records stand in it."""
        return Arrangement(**self.info["generator"]["arrangement"])

    @property
    def place(self) -> Path:
        """See `place_of`."""
        return place_of(self.target)

    @property
    def staged(self) -> Layout:
        """How the part is written."""
        key, number_key, _ = self.arrangement
        if self.choose is not None or self.layout == "jsonl":
            return Lines(number_key)
        return Batches() if self.layout == "parquet" else Document(number_key, key)

    @property
    def encode(self) -> Encode:
        """How workers encode the records of a block."""
        return self.columns.encode if self.columns and isinstance(self.staged, Batches) else encode_lines
