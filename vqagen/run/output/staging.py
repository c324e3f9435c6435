"""The output of a run: which file it becomes, and how its records are staged until it is complete."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from vqagen.errors import UsageError
from vqagen.files.locations import locate
from vqagen.files.output import check_output, linked
from vqagen.records.layouts import Batches, Document, Encode, Layout, Lines, encode_lines
from vqagen.records.writer import Record, info_beside, is_stream
from vqagen.run.output.journal import journal_of, part_of
from vqagen.run.provenance import Arrangement

Keep = Callable[[Record], bool]
"""Whether a record stays; asked of each in the order of the output."""


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
