"""Predictions as text: tables with a header (CSV, TSV), and CLEVR's lines, one answer for each question in order."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import Location
from vqagen.files.packing import DAMAGE
from vqagen.json.stream import damaged, reading_bytes
from vqagen.score.predictions.faults import PredictionFaults, RecordFault
from vqagen.score.predictions.forms import ANSWER_KEYS, DIALOG_KEYS, LIST_KEYS, QUESTION_KEYS, prediction_of
from vqagen.score.predictions.prediction import Prediction

CSV, TSV = "csv", "tsv"
SEPARATORS = {CSV: ",", TSV: "\t"}
ROW_KEYS = (*QUESTION_KEYS, "index")
"""Columns of ids; `index` is VLMEvalKit's."""
COLUMNS = tuple(key for key in ANSWER_KEYS if key not in LIST_KEYS)
"""Columns of answers; of several, the first counts."""
LONGEST_FIELD = 1 << 24
"""Characters of a field."""


def table_keys(header: Sequence[str]) -> tuple[tuple[str, ...], str] | None:
    """Return the columns of a table that hold the id and the answer; None if a column is missing."""
    id_keys = next(((key,) for key in ROW_KEYS if key in header), DIALOG_KEYS)
    answer_key = next((key for key in COLUMNS if key in header), None)
    return (id_keys, answer_key) if answer_key and all(key in header for key in id_keys) else None


def separator_of(line: str, format: str) -> str:
    """Return what stands between the fields of a table, by its first line.

    Spreadsheets write CSV with semicolons where decimals have a comma.
    """
    return ";" if format == CSV and ";" in line and "," not in line else SEPARATORS[format]


def header_of(line: str, format: str) -> list[str]:
    """Return the names of columns in the first line of a table."""
    line = line.removeprefix("\ufeff")
    return [name.strip() for name in next(csv.reader([line], delimiter=separator_of(line, format)), [])]


def read_table(path: Location, format: str, kind: str) -> Iterator[Prediction]:
    """Yield the predictions of a table for this kind of records; BadInput, behind the last one, with all faults."""
    faults = PredictionFaults(path)
    csv.field_size_limit(max(LONGEST_FIELD, csv.field_size_limit()))
    with reading_bytes(path) as file:
        text, rows = io.TextIOWrapper(file, "utf-8-sig", newline=""), csv.reader(())
        try:
            line = text.readline()
            rows = csv.reader(chain([line], text), delimiter=separator_of(line, format), strict=True)
            yield from _of_rows(rows, kind, faults)
        except UnicodeDecodeError:
            raise BadInput([Problem("not UTF-8 text", str(path), "", *_undecodable(path))]) from None
        except csv.Error as error:
            raise BadInput(
                [Problem(f"not a {format.upper()} table: {error}", str(path), "", rows.line_num, 1)]
            ) from None
        except DAMAGE as error:
            raise damaged(error) from None
    faults.finish()


def _undecodable(path: Location) -> tuple[int, int]:
    """Return the line and the column of the first byte that is not UTF-8. (Rows are decoded many at once.)"""
    with reading_bytes(path) as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return number, error.start + 1
    return 1, 1


def _of_rows(rows: Any, kind: str, faults: PredictionFaults) -> Iterator[Prediction]:
    """Yield the predictions of the rows of a `csv.reader`."""
    header = [name.strip() for name in next(rows, [])]
    keys = table_keys(header)
    if keys is None:
        expected = f"a column of ids ({', '.join(ROW_KEYS)}) and one of answers ({', '.join(COLUMNS)})"
        listed = ", ".join(map(repr, header[:12])) or "no columns"
        raise BadInput([Problem(f"expected {expected}; found {listed}", faults.source, "", 1, 1)])
    id_keys, answer_key = keys
    if twice := [key for key in (*id_keys, answer_key) if header.count(key) > 1]:
        raise BadInput([Problem(f"several columns are named {' and '.join(twice)}", faults.source, "", 1, 1)])
    places, answer = [header.index(key) for key in id_keys], header.index(answer_key)
    names = ["id" if key == "index" else key for key in id_keys]
    for row in rows:
        if not row:
            continue
        if len(row) != len(header):
            faults.add(f"expected {len(header)} columns, found {len(row)}", "", rows.line_num, 1)
            continue
        try:
            ids = dict(zip(names, (row[place] for place in places), strict=True))
            yield prediction_of({**ids, "answer": row[answer]}, kind)
        except RecordFault as fault:
            faults.add(fault.message, fault.key, rows.line_num, 1)


def read_clevr_lines(path: Location) -> Iterator[Prediction]:
    """Yield the answer of each line, whose id is its place from 0 on. BadInput for text that is not UTF-8."""
    faults = PredictionFaults(path)
    with reading_bytes(path) as file:
        try:
            for number, line in enumerate(file):
                try:
                    answer = line.decode("utf-8-sig" if number == 0 else "utf-8").strip()
                except UnicodeDecodeError as error:
                    faults.add("not UTF-8 text", "", number + 1, error.start + 1)
                else:
                    yield Prediction(str(number), (answer,))
        except DAMAGE as error:
            raise damaged(error) from None
    faults.finish()
