"""Text line by line, and tables (CSV and TSV) whose first line names the columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain

from vqagen.errors import BadInput, FieldFault, Problem
from vqagen.files.locations import Location
from vqagen.files.packing import DAMAGE
from vqagen.files.stream import BYTE_ORDER_MARK, damaged, reading_bytes

SEPARATORS = {"csv": ",", "tsv": "\t"}
"""Format of a table -> what stands between its fields."""
_LONGEST_FIELD = 1 << 24
"""Characters of a field."""


def lines_of(path: Location) -> Iterator[bytes]:
    """Yield the lines of a file with their ends."""
    with reading_bytes(path) as file:
        try:
            yield file.readline().removeprefix(BYTE_ORDER_MARK)
            yield from file
        except DAMAGE as error:
            raise damaged(error) from None


def texts_of(path: Location) -> Iterator[str]:
    """Yield the lines of a file as texts. BadInput for one that is not UTF-8."""
    for number, line in enumerate(lines_of(path), 1):
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            raise BadInput([Problem("not UTF-8 text", str(path), "", number, error.start + 1)]) from None


def columns_of(line: str, format: str) -> list[str]:
    """Return the names in the first line of a table."""
    return [name.strip() for name in next(csv.reader([line], delimiter=_separator(line, format)), [])]


def rows_of_table(path: Location, format: str) -> Iterator[tuple[dict[str, str] | FieldFault, int]]:
    """Yield each row, or what is wrong with it, and its line. BadInput where no row can be read."""
    csv.field_size_limit(max(_LONGEST_FIELD, csv.field_size_limit()))
    lines = texts_of(path)
    first = next(lines, "")
    rows = csv.reader(chain([first], lines), delimiter=_separator(first, format), strict=True)
    try:
        names = [name.strip() for name in next(rows, [])]
        if twice := sorted({name for name in names if name and names.count(name) > 1}):
            raise BadInput([Problem(f"several columns are named {' and '.join(twice)}", str(path), "", 1, 1)])
        for row in rows:
            if len(row) == len(names):
                yield dict(zip(names, row, strict=True)), rows.line_num
            elif row:
                yield FieldFault("", f"expected {len(names)} columns, found {len(row)}"), rows.line_num
    except csv.Error as error:
        raise BadInput([Problem(f"not a {format.upper()} table: {error}", str(path), "", rows.line_num, 1)]) from None


def _separator(line: str, format: str) -> str:
    """Return what stands between the fields of a table, by its first line.

    Spreadsheets write CSV with semicolons where decimals have a comma.
    """
    return ";" if format == "csv" and ";" in line and "," not in line else SEPARATORS[format]
