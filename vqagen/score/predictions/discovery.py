"""Find predictions: recognise the format of a file by its content, and read it.

    vqagen, visual7w, vqav2, gqa, lmms-eval   JSON records; see `forms`
    inspect                                            logs of Inspect AI, `.eval` or JSON
    csv, tsv                                           tables with a header
    clevr                                              text, one answer on each line, in the order of the questions

The suffix is asked only where the content leaves the format open: for text without a header.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NoReturn

from vqagen.errors import BadInput, PlaceError, Problem
from vqagen.files.locations import Location, locate
from vqagen.files.packing import DAMAGE, unpacked_name
from vqagen.files.reading import how_to_unpack, open_bytes
from vqagen.json.stream import BYTE_ORDER_MARK
from vqagen.records.discovery import first_keys
from vqagen.records.parquet import holds_columns
from vqagen.score.predictions.forms import QUESTION_KEYS, VQAGEN, form_of
from vqagen.score.predictions.inspect_logs import ARCHIVE_BEGINNING, read_inspect_log
from vqagen.score.predictions.prediction import Prediction
from vqagen.score.predictions.records import PREDICTIONS, first_record, read_records
from vqagen.score.predictions.texts import CSV, SEPARATORS, TSV, header_of, read_clevr_lines, read_table, table_keys

CLEVR, INSPECT = "clevr", "inspect"
_OTHER_FILES = ("questions", "dialogs", "trials", "scenes", "images", "annotations", "data")
"""Keys of documents that are no predictions."""
_OF_QUESTIONS = ("program", "multiple_choices", "rounds", "dialog", "trial_type", "semantic", "answers")
"""Keys of records that are no predictions, although they have an id and an answer: all would be right."""
_QUESTIONS_FIRST = "the file of questions comes first, then the predictions"
_LOOKED_AT = 1 << 16
_MOST_KEYS = 40


@dataclass(frozen=True)
class PredictionFile:
    """Predictions that have been found and not yet read."""

    path: Location
    format: str
    """A format of the list above."""
    kind: str = ""
    """The kind of records that they are for: questions, dialogs or trials; "" for any."""

    @property
    def is_in_order(self) -> bool:
        """True if ids are the places of questions in their file, from 0 on, because predictions have no ids."""
        return self.format == CLEVR

    def __iter__(self) -> Iterator[Prediction]:
        """Yield the predictions in the order of the file. BadInput, with the first places, for faults."""
        if self.format in (CSV, TSV):
            return read_table(self.path, self.format, self.kind)
        if self.format == INSPECT:
            return read_inspect_log(self.path, _beginning(self.path).startswith(ARCHIVE_BEGINNING), self.kind)
        return read_clevr_lines(self.path) if self.format == CLEVR else read_records(self.path, self.kind)


def find_predictions(path: Location | str, kind: str = "") -> PredictionFile:
    """Find the predictions of a file for records of this kind; no more than its beginning is read.

    PlaceError where nothing lies; BadInput for a file of no format of predictions.
    """
    place = locate(path)
    if not place.is_file():
        raise PlaceError(f"predictions are a file, not a folder: {place}" if place.is_dir() else _not_found(place))
    return PredictionFile(place, _recognised(place) or _reject_unknown(place), kind)


# Formats by content ---------------------------------------------------------------------------------------------------


def _recognised(path: Location) -> str | None:
    """Return the format of a file; None for text of no known format."""
    if holds_columns(path):
        return _of_records(path)
    text = _beginning(path)
    start = text.removeprefix(BYTE_ORDER_MARK).lstrip()[:1]
    if not start:
        _reject(path, "the file is empty")
    if text.startswith(ARCHIVE_BEGINNING):
        return INSPECT
    if b"\0" in text or not _is_text(text):
        _reject(path, how_to_unpack(path) or "not UTF-8 text")
    if start in b"{[":
        return _of_json(path)
    return _of_table(path, text.decode("utf-8-sig", "ignore"))


def _of_json(path: Location) -> str | None:
    for key in islice(first_keys(path), _MOST_KEYS):
        if key == PREDICTIONS.key or key in PREDICTIONS.own_keys:
            return _of_records(path)
        if key == "eval":
            return INSPECT
        if key in _OTHER_FILES:
            _reject(path, f"holds {key}, not predictions; {_QUESTIONS_FIRST}")
    return None


def _of_records(path: Location) -> str:
    """Return the form of the first record. BadInput for questions."""
    first = first_record(path)
    if not isinstance(first, dict):
        return VQAGEN
    for key in _OF_QUESTIONS:
        if key in first:
            _reject(path, f"holds questions, not predictions (their key {key!r}); {_QUESTIONS_FIRST}")
    form = form_of(first)
    return form.name if form else VQAGEN


def _of_table(path: Location, text: str) -> str | None:
    name, line = unpacked_name(path.name).lower(), next(iter(text.splitlines()), "")
    for format in SEPARATORS:
        if name.endswith(f".{format}") or table_keys(header_of(line, format)):
            return format
    return CLEVR if name.endswith(".txt") else None


def _beginning(path: Location) -> bytes:
    with open_bytes(path) as file:
        try:
            return file.read(_LOOKED_AT)
        except DAMAGE as error:
            return _reject(path, f"damaged or cut off: {error}")


def _is_text(beginning: bytes) -> bool:
    """True for UTF-8, whose last character may be cut off."""
    try:
        beginning.decode()
    except UnicodeDecodeError as error:
        return error.start >= len(beginning) - 3
    return True


def _not_found(path: Location) -> str:
    return f"predictions not found: {path}"


def _reject_unknown(path: Location) -> NoReturn:
    expected = f"JSON records with an id ({', '.join(QUESTION_KEYS)}) and an answer, a CSV or TSV table, an Inspect log"
    _reject(path, f"not predictions: expected {expected}, or a .txt file with one answer on each line")


def _reject(path: Location, message: str) -> NoReturn:
    raise BadInput([Problem(message, str(path))])
