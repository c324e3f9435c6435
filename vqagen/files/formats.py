"""The formats of outputs: how records stand in a file, which names ask for it, and where its `info` goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vqagen.errors import UsageError, unknown
from vqagen.files.layouts import Document, Layout, Lines, List
from vqagen.files.output import check_ending, is_stream
from vqagen.files.packing import packing_of, unpacked_name

if TYPE_CHECKING:
    from vqagen.files.shape import Shape


@dataclass(frozen=True)
class Format:
    """A format of record files."""

    name: str
    """As `--format` takes it."""
    suffixes: tuple[str, ...]
    """Endings of file names that ask for it; a packing may follow. A format without is one of JSON that is named."""
    layout: type[Layout]
    """How the records stand in the part of an output."""
    holds_info: bool = True
    """True if the file holds its `info`, False if that goes beside it."""
    is_binary: bool = False
    """True for columns, which are packed inside and cannot be written record by record."""
    shape: type[Shape] | None = None
    """How the records stand in a format of other tools; None if they stand in it as they are. Such a format holds no
    info, and its entries stand one on a line between a first and a last line."""
    is_gathered: bool = False
    """True for a file with lists about all of its records, which is written when all are there."""
    is_surveyed: bool = False
    """True for such a file if entries depend on each other: its layout surveys all before it places the first."""

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings of its files."""
        return self.suffixes or (".json",)

    @property
    def suffix(self) -> str:
        """The ending of a file that the user does not name, such as the record file in a folder."""
        return self.endings[0]


JSON = Format("json", (".json",), Document)
JSON_LINES = Format("jsonl", (".jsonl", ".ndjson"), Lines, holds_info=False)
PARQUET = Format("parquet", (".parquet",), Layout, is_binary=True)
LIST = Format("list", (), List, holds_info=False)
"""One bare list of records, as many other tools write and read."""
FORMATS = (JSON, JSON_LINES, PARQUET, LIST)


def choose_format(target: str, name: str | None, formats: Sequence[Format], records: str) -> Format:
    """Return the format of an output: its ending asks for it, or `name` where no ending can.

    These are standard output and devices, folders, and formats of other tools, whose files end in `.json`. Raises
    UsageError for a name or an ending that the `records` do not have, and for a name that the ending contradicts.
    """
    chosen = next((each for each in formats if each.name == name), None)
    if name and chosen is None:
        raise UsageError(unknown("format", name, [each.name for each in formats]))
    if is_stream(target):
        return chosen or formats[0]
    check_ending(target, dict.fromkeys(ending for each in formats for ending in each.endings), records)
    asked = [each for each in formats if unpacked_name(target.lower()).endswith(each.endings)]
    if chosen and chosen not in asked:
        raise UsageError(f"output {target}: the ending asks for {asked[0].name}, not {name}; name another file")
    if asked[0].is_binary and packing_of(target):
        raise UsageError(f"output {target}: Parquet is packed inside; name the file {unpacked_name(target)}")
    return chosen or asked[0]
