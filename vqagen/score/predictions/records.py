"""Predictions as JSON records: a line for each, a list, a document with the key `predictions`, or Parquet.

A broken line does not hide the others: all of a file are read, and the faults are raised behind the last one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import orjson

from vqagen.files.locations import Location
from vqagen.files.packing import DAMAGE
from vqagen.json.stream import BYTE_ORDER_MARK, damaged, reading_bytes
from vqagen.records.discovery import find_records
from vqagen.records.kind import RecordKind
from vqagen.records.source import RecordSource, mistake_in_line
from vqagen.score.predictions.faults import PredictionFaults, RecordFault
from vqagen.score.predictions.forms import DIALOG_KEYS, QUESTION_KEYS, prediction_of
from vqagen.score.predictions.prediction import Prediction

PREDICTIONS = RecordKind("predictions", (*QUESTION_KEYS, *DIALOG_KEYS))


def read_records(path: Location, kind: str) -> Iterator[Prediction]:
    """Yield the predictions of a file for this kind of records; BadInput, behind the last one, with all faults."""
    source = find_records(path, PREDICTIONS)
    faults = PredictionFaults(path)
    yield from _in_lines(path, kind, faults) if source.layout == "lines" else _in_source(source, kind, faults)
    faults.finish()


def first_record(path: Location) -> Any:
    """Return the first record of a file; None for an empty one."""
    return next((value for _, value in _values(find_records(path, PREDICTIONS), 1)), None)


def _in_lines(path: Location, kind: str, faults: PredictionFaults) -> Iterator[Prediction]:
    """Yield the predictions of lines. `RecordSource` would need twice the time, and stop at the first broken line."""
    loads = orjson.loads
    with reading_bytes(path) as file:
        try:
            first = file.readline().removeprefix(BYTE_ORDER_MARK)
            for number, line in enumerate(chain([first], file), 1):
                try:
                    yield prediction_of(loads(line), kind)
                except orjson.JSONDecodeError:
                    if line.strip():
                        message, column = mistake_in_line(line.rstrip())
                        faults.add(message, "", number, column)
                except RecordFault as fault:
                    faults.add(fault.message, fault.key, number, 1)
        except DAMAGE as error:
            raise damaged(error) from None


def _in_source(source: RecordSource, kind: str, faults: PredictionFaults) -> Iterator[Prediction]:
    for index, value in _values(source):
        try:
            yield prediction_of(value, kind)
        except RecordFault as fault:
            place = PREDICTIONS.path(index)
            faults.add(fault.message, f"{place}.{fault.key}" if fault.key else place)


def _values(source: RecordSource, count: int = 0) -> Iterator[tuple[int, Any]]:
    """Yield the index and the value of so many records, or (0) of all."""
    for index, value, _, _ in source.read(0, count):
        yield index, value
