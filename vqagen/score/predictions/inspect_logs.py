"""Predictions in logs of Inspect AI: the completion of each sample, whose id is that of the question.

A log is a JSON document, or a zip archive (`.eval`) with a file for each sample. Both are read without Inspect, whose
import takes two seconds. Of several epochs the first counts.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

import orjson

from vqagen.errors import BadInput, Problem, counted, warn
from vqagen.files.locations import Location, natural_order, open_as_it_is
from vqagen.files.packing import DAMAGE, unpacked
from vqagen.files.records import RecordKind, open_records
from vqagen.score.predictions.records import Entry

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
