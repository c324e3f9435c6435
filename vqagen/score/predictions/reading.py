"""Read predictions: the answers of a model, from the files of many tools or from memory.

    read_predictions("predictions.jsonl")                               JSON records; see `records`
    read_predictions("predictions.json")                                {"17": "yes"}, or a list under "results"
    read_predictions("predictions.csv")                                 CSV and TSV with a header
    read_predictions("log.eval")                                        logs of Inspect AI, also as JSON
    read_predictions("answers.txt")                                     one answer on each line, as CLEVR wants them
    read_predictions([{"question_index": 17, "answer": "yes"}])         records
    read_predictions({17: "yes", 18: 2})                                id -> answer

The format of a file is recognised by its content; the suffix is asked only for text without a header.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import islice
from os import PathLike
from typing import Any, NoReturn

import orjson

from vqagen.errors import BadInput, FaultList, FieldFault, PlaceError, Problem, counted, warn
from vqagen.files.locations import Location, Remote, holds_columns, how_to_unpack, locate, natural_order, open_bytes
from vqagen.files.packing import DAMAGE, unpacked_name
from vqagen.files.records import RecordKind, first_keys, open_records
from vqagen.files.stream import members_of, mistake_in, reading
from vqagen.files.tables import SEPARATORS, columns_of, lines_of, rows_of_table, texts_of
from vqagen.items.builder import REPORTED
from vqagen.score.predictions.records import (
    ARCHIVE_BEGINNING,
    DIALOG_KEYS,
    PLACE_KEYS,
    QUESTION_KEYS,
    Entry,
    PredictionReader,
    has_id,
    is_known,
    log_samples,
    prediction_key_of,
    question_key,
)

CONFLICT = -2
"""In place of a code: the predictions for an item differ."""
PREDICTIONS = RecordKind("predictions", (*QUESTION_KEYS, *DIALOG_KEYS))
_DOCUMENTS = (PREDICTIONS.key, "results", "logs")
"""Keys of documents that hold predictions, as a list of records or as id -> answer; `logs` are lmms-eval's."""
_OTHER_FILES = ("questions", "dialogs", "trials", "scenes", "images", "annotations", "data")
"""Keys of documents that are no predictions."""
_QUESTIONS_FIRST = "the file of questions comes first, then the predictions"
_LOOKED_AT = 1 << 16
_MOST_KEYS = 40
_EXPECTED_COLUMNS = f"a column of ids ({', '.join(QUESTION_KEYS)}) and one of answers (answer, prediction, …)"
_NUMBERED = re.compile(r"\s*(\d+)\s*[,;:\t]\s*\S")

Source = str | PathLike[str] | Remote | Mapping[Any, Any] | Iterable[Mapping[str, Any]]


@dataclass(frozen=True, repr=False)
class Predictions:
    """All predictions of a source. Equal contents are held once."""

    name: str
    """The path as messages show it; "" for predictions in memory."""
    by_id: Mapping[str, int]
    """The id of an item -> the code of its content; CONFLICT if its predictions differ."""
    contents: tuple[tuple[str, ...], ...]
    """Code -> answers, best first, as given. Numbers and truth values are text: "2", "yes"."""
    total: int
    """Predictions, duplicates among them."""
    duplicated: tuple[str, ...] = ()
    """The id of each further prediction for an item that has one already."""
    is_in_order: bool = False
    """True if ids are the places of items in their file, from 0 on, because the predictions have no ids."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """The id of an item -> the question as its prediction tells it, of predictions that do."""
    place_key: str = ""
    """The key of the ids, if it is one under which some tools number their rows."""

    def __repr__(self) -> str:
        return f"<{counted(self.total, 'prediction')}{self.name and f' of {self.name}'}>"


def read_predictions(
    source: Source | Predictions,
    kind: str = "",
    prediction_key: str = "",
    on_read: Callable[[int], None] | None = None,
) -> Predictions:
    """Read the predictions of a source for records of this kind: questions, dialogs or trials; "" for any.

    `prediction_key` is their key or column, if its name does not tell. PlaceError where nothing lies. BadInput for a
    file of no format of predictions and, with the number of all faults and the places of the first, for records that
    are no predictions. Requests that failed are no predictions; InputWarning gives their number. `on_read` is called
    with the number of predictions read since, now and then.
    """
    if isinstance(source, Predictions):
        return source
    name, entries, is_in_order = _found(source, prediction_key)
    reader = PredictionReader(kind, prediction_key)
    codes: dict[tuple[str, ...], int] = {}
    by_id: dict[str, int] = {}
    duplicated, total, failed, faults = list[str](), 0, 0, FaultList(name, "prediction")
    for record, path, line in entries:
        try:
            found = reader.read(record)
        except FieldFault as fault:
            faults.add([(fault.key, str(fault))], path, line, line and fault.column)
            continue
        if found is None:
            failed += 1
            continue
        id, candidates = found
        total += 1
        if on_read is not None and not total % REPORTED:
            on_read(REPORTED)
        code = codes.setdefault(candidates, len(codes))
        if by_id.setdefault(id, code) != code:
            by_id[id] = CONFLICT
        if len(by_id) + len(duplicated) < total:
            duplicated.append(id)
    faults.finish()
    if failed:
        warn(Problem(f"{counted(failed, 'request')} failed, so that no prediction was made", name))
    place_key = reader.id_key if reader.id_key in PLACE_KEYS else ""
    return Predictions(name, by_id, tuple(codes), total, tuple(duplicated), is_in_order, reader.asked, place_key)


def require_predictions(source: Source | Predictions, prediction_key: str = "") -> None:
    """Look at the beginning of a file: PlaceError where nothing lies, BadInput for a file of another kind.

    So a question file in place of predictions is named before the questions are read, which may be the predictions.
    """
    if isinstance(source, str | PathLike | Remote):
        _found(source, prediction_key)


def lowest(ids: Iterable[str], count: int) -> tuple[str, ...]:
    """Return the lowest of some ids, each once: numbers first, by their value.

    >>> lowest(["b", "10", "9", "10"], 3)
    ('9', '10', 'b')
    """
    return tuple(nsmallest(count, dict.fromkeys(ids), key=natural_order))


# Sources --------------------------------------------------------------------------------------------------------------


def _found(source: Source, prediction_key: str) -> tuple[str, Iterable[Entry], bool]:
    """Return the name of a source, its entries, and whether they are in the order of the items."""
    if isinstance(source, Mapping):
        listed = next((source[key] for key in _DOCUMENTS if isinstance(source.get(key), Mapping | list)), source)
        if isinstance(listed, Mapping):
            return "", _by_id(listed.items(), prediction_key), False
        source = listed
    if not isinstance(source, str | PathLike | Remote):
        return "", ((record, PREDICTIONS.path(at), None) for at, record in enumerate(source)), False
    path = locate(source)
    if path.is_dir():
        raise PlaceError(f"predictions are a file, not a folder: {path}")
    if not path.is_file():
        raise PlaceError(f"predictions not found: {path}")
    return str(path), *_in_file(path, prediction_key)


def _in_file(path: Location, prediction_key: str) -> tuple[Iterable[Entry], bool]:
    """Return the entries of a file of any format; True beside them for lines of answers."""
    if holds_columns(path):
        return _in_records(path, prediction_key), False
    with open_bytes(path) as file:
        try:
            beginning = file.read(_LOOKED_AT)
        except DAMAGE as error:
            _reject(path, f"damaged or cut off: {error}")
    if beginning.startswith(ARCHIVE_BEGINNING):
        return log_samples(path, is_archive=True), False
    if b"\0" in beginning:
        _reject(path, how_to_unpack(path) or "not UTF-8 text")
    text = beginning.decode("utf-8-sig", "replace").lstrip()
    if not text:
        _reject(path, "the file is empty")
    if text[0] in "{[":
        return _in_json(path, prediction_key, text[0] == "{"), False
    name, line = unpacked_name(path.name).lower(), text.splitlines()[0]
    for format in SEPARATORS:
        columns = columns_of(line, format)
        if name.endswith(f".{format}") or (len(columns) > 1 and has_id(columns)):
            _check_columns(path, columns, prediction_key)
            return ((row, "", number) for row, number in rows_of_table(path, format)), False
    if not name.endswith(".txt"):
        _reject_unknown(path)
    return _in_order(path), True


def _in_json(path: Location, prediction_key: str, is_object: bool) -> Iterable[Entry]:
    keys = list[str]()
    for key in islice(first_keys(path), _MOST_KEYS):
        if key in PREDICTIONS.own_keys:
            return _in_records(path, prediction_key)
        if key in _DOCUMENTS:
            with reading(path) as reader:
                is_object = next(reader.peek() == b"{" for member in reader.members() if member == key)
            if not is_object:
                return _in_records(path, prediction_key, key)
            return _by_id(members_of(path, key), prediction_key, path)
        if key == "eval":
            return log_samples(path, is_archive=False)
        if key in _OTHER_FILES:
            _reject(path, f"holds {key}, not predictions; {_QUESTIONS_FIRST}")
        keys.append(key)
    if not is_object or not keys or any(map(is_known, keys)):
        _reject_unknown(path)
    return _by_id(members_of(path), prediction_key, path)


def _by_id(members: Iterable[tuple[Any, Any]], prediction_key: str, path: Location | None = None) -> Iterator[Entry]:
    """Yield a record for each id with its answer, or with an object that holds it.

    GQA's questions are such objects, each with its right answer.
    """
    for id, value in members:
        answered = value if isinstance(value, Mapping) and value else {"answer": value}
        if not prediction_key and (key := question_key(answered, "question")):
            _reject(path, f"holds questions, not predictions (their key {key!r}); {_QUESTIONS_FIRST}")
        yield {"id": id, **answered}, f"[{id!r}]", None


def _in_records(path: Location, prediction_key: str, key: str = PREDICTIONS.key) -> Iterable[Entry]:
    """Return the records of JSON or Parquet, those of a document under `key`. BadInput if the first is a question."""
    source = open_records(path, RecordKind(key, PREDICTIONS.own_keys))
    first = next((found.value for found in source.read(0, 1)), None)
    if isinstance(first, dict) and not prediction_key and (telling := question_key(first)):
        _reject(path, f"holds questions, not predictions (their key {telling!r}); {_QUESTIONS_FIRST}")
    if source.layout == "lines":
        return _in_lines(path)
    return ((value, source.kind.path(at), None) for at, value, _, _ in source.read())


def _in_order(path: Location) -> Iterator[Entry]:
    """Yield the lines of answers. BadInput if each begins with a number of its own, which is an id."""
    at, numbers = 0, set[str]()
    for at, line in enumerate(texts_of(path), 1):
        if found := _NUMBERED.match(line):
            numbers.add(found[1])
        yield {"id": at - 1, "answer": line.strip()}, "", at
    if len(numbers) == at > 1:
        _reject(path, "each line has an id and an answer: write their names in a first line, such as id,answer", 1)


def _in_lines(path: Location) -> Iterator[Entry]:
    """Yield the records of lines. `RecordSource` would need twice the time, and stop at the first broken line."""
    loads = orjson.loads
    for number, line in enumerate(lines_of(path), 1):
        try:
            yield loads(line), "", number
        except orjson.JSONDecodeError:
            if line.strip():
                message, (_, column) = mistake_in(line.rstrip(), "line")
                yield FieldFault("", message, column), "", number


def _check_columns(path: Location, columns: Sequence[str], prediction_key: str) -> None:
    """Raise BadInput for a table without a column of ids, or without one that must be the prediction."""
    if not has_id(columns):
        listed = ", ".join(map(repr, columns[:12])) or "no columns"
        _reject(path, f"expected {_EXPECTED_COLUMNS}; found {listed}", 1)
    try:
        prediction_key_of(dict.fromkeys(columns), prediction_key)
    except FieldFault as fault:
        _reject(path, str(fault), 1)


def _reject_unknown(path: Location) -> NoReturn:
    expected = f"JSON records with an id ({', '.join(QUESTION_KEYS)}) and an answer, a CSV or TSV table, an Inspect log"
    _reject(path, f"not predictions: expected {expected}, or a .txt file with one answer on each line")


def _reject(path: Location | None, message: str, line: int | None = None, column: int = 1) -> NoReturn:
    raise BadInput([Problem(message, str(path or ""), "", line, line and column)])
