"""Prediction records: under which keys they hold the id of an item and the answers to it.

    {"question_index": 17, "answer": "yes"}, or "candidates": ["yes", "no"], best first        vqagen
    {"dialog_index": 3, "round": 5, "answer": "yes"}                                           vqagen; rounds from 0 on
    {"qa_id": 17, "candidates": [{"answer": "red"}, {"answer": "blue"}]}                       Visual7W
    {"question_id": 17, "answer": "yes"}, {"questionId": "017", "prediction": "yes"}           VQAv2, GQA
    {"doc_id": 17, "filtered_resps": ["yes"]}                                                  lmms-eval

Any key of an id goes with any key of answers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

import orjson

from vqagen.errors import BadInput, FieldFault, Problem, counted, describe, warn
from vqagen.files.locations import Location, natural_order, open_as_it_is
from vqagen.files.packing import DAMAGE, unpacked
from vqagen.files.records import RecordKind, open_records
from vqagen.score.answers.kinds import text_of

QUESTION_KEYS = ("question_index", "question_id", "qa_id", "questionId", "trial_index", "id", "doc_id")
DIALOG_KEYS = ("dialog_index", "round")
_ANY_KIND = ("id", "doc_id")
_OF_KIND: Mapping[str, tuple[str, ...]] = {
    "trials": ("trial_index", *_ANY_KIND),
    "dialogs": _ANY_KIND,
    "questions": tuple(key for key in QUESTION_KEYS if key != "trial_index"),
}
"""Kind of a file -> the keys of ids of its records; rounds of dialogs have DIALOG_KEYS besides."""
LIST_KEYS = ("candidates", "filtered_resps")
"""Keys of lists of answers, best first."""
ANSWER_KEYS = (*LIST_KEYS, "prediction", "response", "answer")
"""Keys of answers; of several, the first counts: beside a prediction, an `answer` is the right one."""

Prediction = tuple[str, tuple[str, ...]]
"""The id of an item as text ("17"; of a round "3/5": dialog and round), and the answers, best first, as text."""
Entry = tuple[Any, str, int | None]
"""A record, or the FieldFault of an unreadable one; the JSON path of its place; its line."""


def prediction_of(record: Any, kind: str = "") -> Prediction:
    """Return the prediction that a record is.

    FieldFault if it is none, or if its id is not one of the `kind` of records that it is for: "questions", "dialogs"
    or "trials"; "" for any. A question and a trial may well have the same number.
    """
    if not isinstance(record, dict):
        fault = FieldFault("", f"expected an object, found {describe(record)}")
        raise record if isinstance(record, FieldFault) else fault
    id = _id(record, kind)
    found = record.get("answer")
    if type(found) is str and len(record) == 2:  # as in most files
        return id, (found,)
    return id, _candidates(record)


def _id(record: Mapping[str, Any], kind: str) -> str:
    keys = _OF_KIND.get(kind, QUESTION_KEYS)
    for key in keys:
        if key in record:
            value = record[key]
            return str(value) if type(value) is int else _id_of(value, key)
    has_rounds = kind in ("", "dialogs")
    if has_rounds and all(key in record for key in DIALOG_KEYS):
        dialog, number = (_id_of(record[key], key) for key in DIALOG_KEYS)
        if number.isascii() and number.isdecimal() and len(number) < 10:
            return f"{dialog}/{int(number)}"
        raise FieldFault("round", f"expected the number of a round, found {describe(record['round'])}")
    expected = ", ".join(keys) + (f", or {' and '.join(DIALOG_KEYS)}" if has_rounds else "")
    listed = ", ".join(map(repr, list(record)[:6])) or "an empty object"
    raise FieldFault("", f"no id{f' of {kind}' if kind else ''}: expected {expected}; found {listed}")


def _id_of(value: Any, key: str) -> str:
    """Return an id as text. Tables write 17 as "17.0" if another id is missing."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    id = str(value).strip() if isinstance(value, int | str) and not isinstance(value, bool) else ""
    if not id:
        raise FieldFault(key, f"expected a number or a text as id, found {describe(value)}")
    return id[:-2] if id.endswith(".0") and id[:-2].isdecimal() else id


def _candidates(record: Mapping[str, Any]) -> tuple[str, ...]:
    key = next((key for key in ANSWER_KEYS if key in record), None)
    if key is None:
        raise FieldFault("", "no answer: expected answer, candidates, prediction or response")
    value = record[key]
    if key not in LIST_KEYS:
        return (_text(value, key),)
    if not isinstance(value, list):
        raise FieldFault(key, f"expected a list of answers, best first, found {describe(value)}")
    return tuple(_text(_inside(each), f"{key}[{place}]") for place, each in enumerate(value)) or ("",)


def _inside(candidate: Any) -> Any:
    """Return the answer in Visual7W's `{"answer": …}`, or in a list of one."""
    if isinstance(candidate, list) and len(candidate) == 1:
        return candidate[0]
    return candidate["answer"] if isinstance(candidate, dict) and "answer" in candidate else candidate


def _text(value: Any, key: str) -> str:
    """Return an answer as text: truth values as yes and no, lists with commas; nothing for null."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return f"[{', '.join(_text(each, key) for each in value)}]"
    if isinstance(value, str | int):
        return text_of(value)
    if isinstance(value, float):
        return str(value).removesuffix(".0")
    raise FieldFault(key, f"expected an answer (a text, a number, true or false, or a list), found {describe(value)}")


# Logs of Inspect AI ---------------------------------------------------------------------------------------------------
#
# Predictions in logs of Inspect AI: the completion of each sample, whose id is that of the question.
#
# A log is a JSON document, or a zip archive (`.eval`) with a file for each sample. Both are read without Inspect, whose
# import takes two seconds. Of several epochs the first counts.


ARCHIVE_BEGINNING = b"PK\x03\x04"
SAMPLES = RecordKind("samples", ("epoch",))
_FOLDER = "samples/"
_HEADERS = frozenset(("header.json", "_journal/start.json"))
_NO_LOG = "a zip archive that is no log of Inspect AI: unpack it, or save a spreadsheet as CSV"
_ZSTD = 93
"""A method of compression that `zipfile` knows from Python 3.14 on."""
_LENGTHS = struct.Struct("<26xHH")
"""The lengths of the name and of the extra field at the end of a local header."""


def log_samples(path: Location, is_archive: bool) -> Iterator[Entry]:
    """Yield the samples of a log as records. BadInput for a log without samples."""
    number, left_out = 0, 0
    samples = _in_archive(path) if is_archive else open_records(path, SAMPLES).records()
    for number, sample in enumerate(samples, 1):
        if sample.get("epoch", 1) == 1:
            yield {_id_key(sample): sample.get("id"), "answer": _answer(sample)}, SAMPLES.path(number - 1), None
        else:
            left_out += 1
    if not number:
        raise BadInput([Problem("no samples in this log: was the evaluation interrupted?", str(path))])
    if left_out:
        warn(Problem(f"{counted(left_out, 'sample')} of later epochs left out: the first epoch counts", str(path)))


def _id_key(sample: Mapping[str, Any]) -> str:
    """Return the key of a sample's id: of a trial, if it was evaluated as one."""
    metadata = sample.get("metadata")
    return "trial_index" if isinstance(metadata, Mapping) and "trial_type" in metadata else "id"


def _answer(sample: Mapping[str, Any]) -> str:
    """Return the completion; without one, the answer that a scorer found. Empty after an error."""
    output = sample.get("output")
    completion = output.get("completion") if isinstance(output, Mapping) else None
    if isinstance(completion, str) and completion.strip():
        return completion
    scores = sample.get("scores")
    found = [score.get("answer") for score in scores.values()] if isinstance(scores, Mapping) else []
    return next((answer for answer in found if isinstance(answer, str)), "")


def _in_archive(path: Location) -> Iterator[Mapping[str, Any]]:
    with open_as_it_is(path) as file:
        try:
            with ZipFile(file) as archive:
                if _HEADERS.isdisjoint(archive.namelist()):
                    raise BadInput([Problem(_NO_LOG, str(path))])
                entries = [each for each in archive.infolist() if each.filename.startswith(_FOLDER)]
                for entry in sorted(entries, key=lambda each: natural_order(each.filename)):
                    yield orjson.loads(_content(archive, file, entry))
        except (*DAMAGE, BadZipFile, RuntimeError, struct.error, orjson.JSONDecodeError) as error:
            raise BadInput([Problem(f"damaged or cut off: {error}", str(path))]) from None


def _content(archive: ZipFile, file: BinaryIO, entry: ZipInfo) -> bytes:
    if entry.compress_type != _ZSTD:
        return archive.read(entry)
    file.seek(entry.header_offset)
    name, extra = _LENGTHS.unpack(file.read(_LENGTHS.size))
    file.seek(name + extra, 1)
    with unpacked(BytesIO(file.read(entry.compress_size)), ".zst") as content:
        return content.read()
