"""Writing an export: a folder whose bytes follow from the study and the stored answers alone."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from vqagen import __version__
from vqagen.errors import PlaceError, UsageError, VqagenError
from vqagen.files.output import atomic_folder, sweep
from vqagen.human.answers import AnswerRow
from vqagen.human.export.dictionary import (
    ANSWERS,
    ASSIGNMENTS,
    FILES,
    PEOPLE,
    Column,
    dictionary_page,
    dictionary_record,
)
from vqagen.human.export.rows import ANSWERS_FILE, answer_rows, row_line
from vqagen.human.scores.flags import Flag, find_flags
from vqagen.human.scores.settings import WEBDRIVER, ScoreSettings
from vqagen.human.store.roster import Assignment
from vqagen.human.study.study import Study

MANIFEST = "manifest.json"
_PAGES = ("dictionary.json", "dictionary.md")
_INDENTED = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


class ExportReport(NamedTuple):
    """How much was exported."""

    answers: int
    assignments: int
    raters: int


def check_export(out: Path, force: bool) -> None:
    """Raise UsageError if an export cannot be written to `out`. Only an export is ever replaced."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise PlaceError(f"output {out} is no folder; name a new folder")
    if not out.absolute().parent.is_dir():
        raise PlaceError(f"folder {out.absolute().parent} does not exist; create it first")
    if not out.is_dir() or not (present := set(os.listdir(out))):
        return
    if other := sorted(present - {*FILES, *_PAGES, MANIFEST}):
        raise UsageError(f"output folder {out} holds other files than an export ({other[0]}); name a new folder")
    if not force:
        raise UsageError(f"export {out} exists already; give --force to replace it")


def write_export(
    study: Study, store: Store, out: Path, *, include_ids: bool = False, events: bool = False, force: bool = False
) -> ExportReport:
    """Write all answers of a study. The folder gets its name when it is complete."""
    check_export(out, force)
    sweep(str(out))
    contents, report = _contents(study, store, include_ids, events)
    try:
        with atomic_folder(out) as beside:
            for name, content in contents.items():
                _write(beside / name, content, is_private=name == "people.csv")
    except OSError as error:
        raise VqagenError(f"cannot write {out}: {error.strerror or error}") from None
    return report


def _write(path: Path, content: bytes, *, is_private: bool) -> None:
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600 if is_private else 0o666), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _contents(study: Study, store: Store, include_ids: bool, events: bool) -> tuple[dict[str, bytes], ExportReport]:
    """Return the content of each file by its name, and the report."""
    rows, assignments, log = list(answer_rows(study, store)), list(store.assignments()), list(store.events())
    automated = [event.assignment for event in log if event.kind == WEBDRIVER]
    flags = find_flags(rows, ScoreSettings(), automated)
    files = {
        ANSWERS_FILE: b"".join(map(row_line, rows)),
        "answers.csv": _table(ANSWERS, (_cells(row) for row in rows)),
        "assignments.csv": _table(ASSIGNMENTS, _assignment_cells(study, assignments, rows, flags)),
    }
    counts = {ANSWERS_FILE: len(rows), "answers.csv": len(rows), "assignments.csv": len(assignments)}
    if include_ids:
        people = list(store.people())
        files["people.csv"], counts["people.csv"] = _table(PEOPLE, map(astuple, people)), len(people)
    if events:
        lines = (orjson.dumps(asdict(event), option=orjson.OPT_APPEND_NEWLINE) for event in log)
        files["events.jsonl"], counts["events.jsonl"] = b"".join(lines), len(log)
    names = list(files)
    files["dictionary.json"] = orjson.dumps(dictionary_record(names), option=_INDENTED)
    files["dictionary.md"] = dictionary_page(names).encode()
    manifest = {
        "schema": "vqagen.human.export/1",
        "vqagen": __version__,
        "study": study.id,
        "info": study.info,
        "raters_per_item": study.slots,
        "has_ids": include_ids,
        "files": {name: _described(content, counts.get(name)) for name, content in sorted(files.items())},
    }
    files[MANIFEST] = orjson.dumps(manifest, option=_INDENTED)
    return files, ExportReport(len(rows), len(assignments), len({each.rater for each in assignments}))


def _described(content: bytes, rows: int | None) -> dict[str, Any]:
    described = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    return described if rows is None else {**described, "rows": rows}


def _table(columns: Sequence[Column], rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.name for column in columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue().encode()


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return orjson.dumps(value).decode()
    return "" if value is None else value


def _cells(row: AnswerRow) -> list[object]:
    return [getattr(row, column.name) for column in ANSWERS]


def _assignment_cells(
    study: Study, assignments: Iterable[Assignment], rows: Iterable[AnswerRow], flags: Iterable[Flag]
) -> Iterable[Iterable[object]]:
    answers = Counter(row.assignment for row in rows)
    of_assignment: dict[str, set[str]] = defaultdict(set)
    of_rater: dict[str, set[str]] = defaultdict(set)
    for flag in flags:
        (of_assignment[flag.assignment] if flag.assignment else of_rater[flag.rater]).add(flag.kind)
    for each in assignments:
        kinds = sorted(of_assignment[each.id] | of_rater[each.rater])
        more = (len(study.tasks[each.task].trials), answers[each.id], " ".join(kinds))
        yield *astuple(each), *more
