"""The formats of outputs: how records stand in a file, which names ask for it, and where its `info` goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vqagen.errors import UsageError, unknown
from vqagen.files.packing import packing_of, unpacked_name
from vqagen.records.layouts import Batches, Document, Layout, Lines, List

if TYPE_CHECKING:
    from vqagen.records.shape import Shape


@dataclass(frozen=True)
class Format:
    """A format of record files."""

    name: str
    """As `--format` takes it."""
    suffixes: tuple[str, ...]
    """Endings of file names that ask for it; a packing may follow."""
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
    def suffix(self) -> str:
        """The ending of a file that the user does not name, such as the record file in a folder."""
        return self.suffixes[0] if self.suffixes else ".json"


JSON = Format("json", (".json",), Document)
JSON_LINES = Format("jsonl", (".jsonl", ".ndjson"), Lines, holds_info=False)
PARQUET = Format("parquet", (".parquet",), Batches, is_binary=True)
LIST = Format("list", (), List, holds_info=False)
"""One bare list of records, as many other tools write and read."""
FORMATS = (JSON, JSON_LINES, PARQUET, LIST)
TABLES = (".csv", ".tsv", ".xlsx")
"""Endings of tables, which no records are written as."""


def format_of(target: str, formats: Sequence[Format] = FORMATS) -> Format:
    """Return the format that a file's name asks for; the first one if the name asks for none.

    >>> format_of("questions.jsonl.gz").name, format_of("questions").name
    ('jsonl', 'json')
    """
    name = unpacked_name(target.lower())
    return next((each for each in formats if name.endswith(each.suffixes or ("\0",))), formats[0])


def choose_format(target: str, name: str | None, formats: Sequence[Format], records: str) -> Format:
    """Return the format of a name, or else the one that `target` asks for.

    Raises UsageError for a format that the `records` do not have, or that the target's name contradicts.
    """
    asked = format_of(target)
    chosen = next((each for each in formats if each.name == name), None) if name else format_of(target, formats)
    if chosen is None:
        raise UsageError(unknown("format", name, [each.name for each in formats]))
    if asked.is_binary and asked not in formats:
        raise UsageError(f"{target}: {records} are written as {_either(formats)}, not as {asked.name}")
    if name is None and (table := next(filter(unpacked_name(target.lower()).endswith, TABLES), "")):
        raise UsageError(f"{target}: {records} are written as {_either(formats)}, not as {table[1:]}")
    if packing_of(target) and (chosen.is_binary or asked.is_binary):
        raise UsageError(f"{target}: Parquet is packed inside; name the file {unpacked_name(target)}")
    if asked.is_binary and not chosen.is_binary:
        raise UsageError(f"{target}: what is named so is read as Parquet, not as {chosen.name}; choose another name")
    return chosen


def _either(formats: Sequence[Format]) -> str:
    return " or ".join(f"{each.name} ({each.suffixes[0]})" if each.suffixes else each.name for each in formats)
