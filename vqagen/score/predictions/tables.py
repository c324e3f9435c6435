"""Predictions as text: tables with a header (CSV, TSV), and CLEVR's lines, one answer for each question in order."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import Location
from vqagen.files.packing import DAMAGE
from vqagen.json.stream import damaged, reading_bytes
from vqagen.score.predictions.records import ANSWER_KEYS, DIALOG_KEYS, LIST_KEYS, QUESTION_KEYS, RecordFault

CSV, TSV = "csv", "tsv"
SEPARATORS = {CSV: ",", TSV: "\t"}
ID_COLUMNS = (*QUESTION_KEYS, "index")
"""Columns of ids; `index` is VLMEvalKit's."""
ANSWER_COLUMNS = tuple(key for key in ANSWER_KEYS if key not in LIST_KEYS)
"""Columns of answers; of several, the first counts."""
LONGEST_FIELD = 1 << 24
"""Characters of a field."""

Entry = tuple[Any, str, int | None]
"""A record, or the RecordFault of an unreadable one; the JSON path of its place; its line."""


def is_table(line: str, format: str) -> bool:
    """Return true if a first line names the columns of predictions."""
    return _columns(_names(next(csv.reader([line], delimiter=_separator(line, format)), []))) is not None


def table_rows(path: Location, format: str) -> Iterator[Entry]:
    """Yield the rows of a table as records. BadInput where a row cannot be read."""
    csv.field_size_limit(max(LONGEST_FIELD, csv.field_size_limit()))
    lines = text_lines(path)
    first = next(lines, "")
    rows = csv.reader(chain([first], lines), delimiter=_separator(first, format), strict=True)
    try:
        yield from _records(rows, str(path))
    except csv.Error as error:
        message = f"not a {format.upper()} table: {error}"
        raise BadInput([Problem(message, str(path), "", rows.line_num, 1)]) from None


def answer_lines(path: Location) -> Iterator[Entry]:
    """Yield the answer of each line, whose id is its place from 0 on."""
    return (({"id": at, "answer": line.strip()}, "", at + 1) for at, line in enumerate(text_lines(path)))


def text_lines(path: Location) -> Iterator[str]:
    """Yield the lines of a file with their ends. BadInput for one that is not UTF-8."""
    with reading_bytes(path) as file:
        try:
            for number, line in enumerate(file, 1):
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise BadInput([Problem("not UTF-8 text", str(path), "", number, error.start + 1)]) from None
        except DAMAGE as error:
            raise damaged(error) from None


def _separator(line: str, format: str) -> str:
    """Return what stands between the fields of a table, by its first line.

    Spreadsheets write CSV with semicolons where decimals have a comma.
    """
    return ";" if format == CSV and ";" in line and "," not in line else SEPARATORS[format]


def _names(header: Sequence[str]) -> list[str]:
    return [name.strip() for name in header]


def _columns(header: Sequence[str]) -> tuple[str, ...] | None:
    """Return the columns of the id and, last, of the answer; None if one is missing."""
    ids = next(((key,) for key in ID_COLUMNS if key in header), DIALOG_KEYS)
    answer = next((key for key in ANSWER_COLUMNS if key in header), None)
    return (*ids, answer) if answer and all(key in header for key in ids) else None


def _records(rows: Any, source: str) -> Iterator[Entry]:
    """Yield the records of a `csv.reader`."""
    header = _names(next(rows, []))
    columns = _columns(header)
    if columns is None:
        expected = f"a column of ids ({', '.join(ID_COLUMNS)}) and one of answers ({', '.join(ANSWER_COLUMNS)})"
        listed = ", ".join(map(repr, header[:12])) or "no columns"
        raise BadInput([Problem(f"expected {expected}; found {listed}", source, "", 1, 1)])
    if twice := [name for name in columns if header.count(name) > 1]:
        raise BadInput([Problem(f"several columns are named {' and '.join(twice)}", source, "", 1, 1)])
    places = [header.index(name) for name in columns]
    keys = ["id" if name == "index" else name for name in (*columns[:-1], "answer")]
    for row in rows:
        if len(row) == len(header):
            yield dict(zip(keys, (row[place] for place in places), strict=True)), "", rows.line_num
        elif row:
            yield RecordFault(f"expected {len(header)} columns, found {len(row)}"), "", rows.line_num
