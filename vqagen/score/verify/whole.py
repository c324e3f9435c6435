"""Whether a file is whole: the records that its run wrote, each with its number, about all scenes at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from vqagen.errors import as_written, counted
from vqagen.files.formats import Checksum
from vqagen.files.info import CHANGED, CHECKSUM, NO_CHECKSUM, sums_beside
from vqagen.files.parquet import checksums
from vqagen.files.records import Members, RecordSource
from vqagen.score.record_files import generator_of, settings_of
from vqagen.score.verify.report import Mismatch, VerificationReport
from vqagen.world.loading import SceneSource

CHANGED_FILE = "changed file"
"""The kind of a fault of the whole file."""


def whole_records(source: RecordSource, report: VerificationReport) -> Iterator[dict[str, Any]]:
    """Yield the records; behind the last, add a fault to the report if they are not those that the run wrote.

    Files of other programs, and records in memory, have no sums. Records that were written anew with other spaces are
    the same.
    """
    behind, found = Members(), Checksum()
    for index, value, place, _ in source.read(behind=behind):
        record = source.object_of(value, index, place)
        found = found.add(orjson.dumps(record, default=repr) + b"\n", 1)  # the text as the run wrote it: 2 µs
        yield record
    lines, given = (None, None) if source.layout in ("given", "files") else sums_beside(source.path)
    there = str(found)
    if source.layout == "parquet" and generator_of(source):
        given, there = checksums(source.path)
        report.unproven[f"file: {NO_CHECKSUM}"] += given is None
    given = behind.get(CHECKSUM, given)
    if lines not in (None, found.lines):
        why = f"{counted(found.lines, source.kind.noun)}, not {lines:,}: {CHANGED}"
        report.add(Mismatch(None, CHANGED_FILE, why))
    elif given not in (None, there):
        why = f"the records have the checksum {there}, not {as_written(given)}: {CHANGED}"
        report.add(Mismatch(None, CHANGED_FILE, why))


class RecordNumbers:
    """The numbers of a file's records, which are their places in an output of vqagen, and different in any file."""

    def __init__(self, source: RecordSource, key: str) -> None:
        arrangement = generator_of(source).get("arrangement")
        self._is_placed = isinstance(arrangement, Mapping) and arrangement.get("number_key") == key
        self._key, self._known = key, dict[str, int]()

    def fault(self, position: int, record: Mapping[str, Any]) -> str:
        """Return what is wrong with the number of the next record; "" for a right one, and for none at all."""
        number = record.get(self._key)
        if self._is_placed and (type(number) is not int or number != position):
            return f"{self._key}: expected {position}, its place in the file, found {as_written(number)}"
        first = position if self._is_placed or number is None else self._known.setdefault(repr(number), position)
        return f"{self._key}: {as_written(number)} is the number of record {first} too" if first != position else ""


def missing_ends(source: RecordSource, scenes: SceneSource) -> Iterator[str]:
    """Yield a remark if a run took a part of the scenes that are at hand, such as shards without the last one."""
    settings, inputs = settings_of(source), generator_of(source).get("inputs") or {}
    first, count = settings.get("start_index"), settings.get("count")
    if not (type(first) is type(count) is int and first + count and "scenes" in inputs):
        return
    total = scenes.count()
    end = min(first + count, total) if count else total
    parts = [f"{low:,} to {high - 1:,}" for low, high in ((0, min(first, total)), (end, total)) if low < high]
    if parts:
        named = f"--start-index {first} --count {count}"
        yield f"scenes {' and '.join(parts)} of {total:,} are not in the file, whose run took {named}"
