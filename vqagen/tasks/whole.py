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
from vqagen.report.verification import Mismatch, VerificationReport
from vqagen.tasks.record_files import generator_of, settings_of
from vqagen.tasks.settings import CheckedSettings
from vqagen.world.loading import SceneSource

CHANGED_FILE, WRONG_ID = "changed file", "wrong id"
"""The kinds of faults of files of any records."""
UNREAD_FILE = "unread"
"""The kind of a fault of texts of vqagen that could not be read, and so are not proved."""


def whole_records(source: RecordSource, report: VerificationReport, number_key: str = "") -> Iterator[dict[str, Any]]:
    """Yield the records; behind the last, add a fault to the report if they are not those that the run wrote.

    Their numbers are their places in an output of vqagen, and different in any file. Images with a list of dialogs, as
    in CLEVR-Dialog's own files, have no numbers.
    Files of other programs, and records in memory, have no sums. Records that were written anew with other spaces are
    the same.
    """
    behind, checksum, known = Members(), Checksum(), dict[str, int]()
    arrangement = generator_of(source).get("arrangement")
    is_placed = isinstance(arrangement, Mapping) and arrangement.get("number_key") == number_key
    for index, value, place, _ in source.read(behind=behind):
        record = source.object_of(value, index, place)
        checksum = checksum.add(orjson.dumps(record, default=repr) + b"\n", 1)  # the text as the run wrote it: 2 µs
        number = record.get(number_key)
        is_named = number is not None or (is_placed and number_key and source.kind.key not in record)
        if is_named and (number != index if is_placed else known.setdefault(repr(number), index) != index):
            why = f"{as_written(number)} is not its place in the file" if is_placed else "another record has it"
            report.add(Mismatch(None, WRONG_ID, f"{number_key} {number}: {why}", source.kind.path(index)))
        yield record
    lines, given = (None, None) if source.layout in ("given", "files") else sums_beside(source.path)
    there = str(checksum)
    if source.layout == "parquet" and generator_of(source):
        given, there = checksums(source.path)
    given = behind.get(CHECKSUM, given)
    if generator_of(source) and source.layout in ("parquet", *(("document", "lines") if arrangement else ())):
        report.unproven[f"file: {NO_CHECKSUM}"] += given is None
    if lines not in (None, checksum.lines):
        why = f"{counted(checksum.lines, source.kind.noun)}, not {lines:,}: {CHANGED}"
        report.add(Mismatch(None, CHANGED_FILE, why))
    elif given not in (None, there):
        why = f"the records have the checksum {there}, not {as_written(given)}: {CHANGED}"
        report.add(Mismatch(None, CHANGED_FILE, why))


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


def unknown_settings(source: RecordSource, settings: type[CheckedSettings]) -> Iterator[str]:
    """Yield a remark for each setting in the info that no version has: nothing is checked by it."""
    for fault in settings.name_faults(settings_of(source)):
        yield f"info.generator.settings: {fault} (not checked)"


def unread(source: RecordSource, templates: str) -> VerificationReport | None:
    """Return the report of dialogs or trials that other templates worded, such as those of vqagen 0.1; else None.

    They are judged from their sentences, so each of these would be reported as one that cannot be understood.
    """
    made_from = (generator_of(source).get("inputs") or {}).get("templates", templates)
    if made_from == templates:
        return None
    report = VerificationReport(source.kind.key, checked=source.count())
    message = "worded by other templates than are at hand, by which the sentences are read; give --templates"
    report.add(Mismatch(None, UNREAD_FILE, f"{source.path}: {message}"))
    return report
