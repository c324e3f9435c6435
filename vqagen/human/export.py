"""Writing an export: a folder whose bytes follow from the study and its answers alone."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin
from urllib.parse import quote

import orjson
from msgspec.structs import astuple, fields, replace

from vqagen import __version__
from vqagen.errors import UsageError, VqagenError
from vqagen.files.locations import natural_order
from vqagen.files.output import atomic_folder, names_in, sweep
from vqagen.human.answers import (
    ANSWERS_FILE,
    EVENTS_FILE,
    MILLISECONDS,
    AnswerRow,
    answer_rows,
    automated,
    row_lines,
    study_facts,
)
from vqagen.human.scores.flags import Flag, excluded_rows, find_flags
from vqagen.human.scores.samples import said
from vqagen.human.settings import ScoreSettings
from vqagen.human.store.facts import Claimed, Fact, Noted
from vqagen.human.store.study_state import StudyState
from vqagen.human.study.item import ANSWER, REAL
from vqagen.human.study.study import Study, load_study
from vqagen.report.writers import csv_text

MANIFEST, IMPORT_FILE = "manifest.json", "import.json"
"""Hashes and numbers of rows of the other files; what is wrong with imported answers."""
COMMENT, PROBLEM = "comment", "problem"
"""What raters write: at the end, and about a trial."""
_PAGES = ("dictionary.json", "dictionary.md")
"""Version 1.0 wrote the first one, too."""
_INDENTED = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
Cells = tuple[Any, ...]


def export_study(
    folder: str | Path,
    out: str | Path,
    store: str | Path | None = None,
    *,
    include_ids: bool = False,
    events: bool = False,
    force: bool = False,
) -> tuple[int, int, int]:
    """Write the answers of a study to the folder `out`, also while it is served. Equal answers give equal bytes.

    Return the numbers of answers, assignments and raters.
    `include_ids` adds who the raters are, and `events` everything that happened. The folder gets its name when it is
    complete.
    """
    study = load_study(folder)
    check_export(Path(out), force)
    facts = study_facts(study, store)
    study_state = StudyState(facts)
    write_export(Path(out), _contents(study, facts, study_state, include_ids, events))
    given = study_state.assignments.values()
    return (
        sum(len(assignment.answers) for assignment in given),
        len(given),
        len({assignment.rater for assignment in given}),
    )


def check_export(out: Path, force: bool) -> None:
    """Raise UsageError if an export cannot be written to `out`. Only an export is ever replaced."""
    present = names_in(out)
    if other := sorted({*present} - {*FILES, *_PAGES, MANIFEST, IMPORT_FILE, PREDICTIONS}):
        raise UsageError(f"output folder {out} holds other files than an export ({other[0]}); name a new folder")
    if present and not force:
        raise UsageError(f"export {out} exists already; give --force to replace it")


def write_export(out: Path, contents: Mapping[str, bytes]) -> None:
    """Write the files of an export, names -> contents, in the place of one that is there."""
    sweep(str(out))
    try:
        with atomic_folder(out) as beside:
            for name, content in contents.items():
                (beside / name).parent.mkdir(parents=True, exist_ok=True)
                (beside / name).write_bytes(content)
                if name == PEOPLE_FILE:
                    (beside / name).chmod(0o600)
    except OSError as error:
        raise VqagenError(f"cannot write {out}: {error.strerror or error}") from None


def _contents(
    study: Study, facts: Sequence[tuple[int, Fact]], study_state: StudyState, include_ids: bool, events: bool
) -> dict[str, bytes]:
    """Return the content of each file by its name."""
    rows = list(answer_rows(study, study_state))
    flags = find_flags(rows, automated(facts))
    tables: dict[str, Sequence[Cells]] = {
        "answers.csv": list(map(astuple, rows)),
        "assignments.csv": list(_assignments(study_state, flags)),
        COMMENTS_FILE: list(comments(study, study_state, facts)),
        PEOPLE_FILE: [(rater, *study_state.people[rater]) for rater in sorted(study_state.people)],
    }
    left_out = {PEOPLE_FILE: not include_ids, COMMENTS_FILE: not tables[COMMENTS_FILE]}
    files = {ANSWERS_FILE: row_lines(rows)}
    files |= {
        name: csv_text([[column for column, *_ in FILES[name][1]], *(map(_cell, row) for row in cells)]).encode()
        for name, cells in tables.items()
        if not left_out.get(name)
    }
    if events:
        files[EVENTS_FILE] = row_lines(
            replace(fact, platform="", person="") if isinstance(fact, Claimed) else fact for _, fact in facts
        )
    files["dictionary.md"] = dictionary_page(list(files)).encode()
    files |= people_predictions(excluded_rows(rows, flags, ScoreSettings().excluded))
    counts = {name: len(cells) for name, cells in tables.items()}
    counts |= {name: content.count(b"\n") for name, content in files.items() if name.endswith(".jsonl")}
    manifest = {
        "schema": "vqagen.human.export/2",
        "vqagen": __version__,
        "study": study.id,
        "info": study.info,
        "raters_per_item": study.slots,
        "has_ids": include_ids,
        "files": {
            name: {
                "sha256": hashlib.sha256(content).hexdigest(),
                "bytes": len(content),
                "rows": counts.get(name),
            }
            for name, content in sorted(files.items())
        },
    }
    return {**files, MANIFEST: orjson.dumps(manifest, option=_INDENTED)}


def _cell(value: object) -> object:
    """Return a value as a cell; None is an empty one."""
    return orjson.dumps(value).decode() if isinstance(value, bool | dict) else value


def _assignments(study_state: StudyState, flags: Iterable[Flag]) -> Iterator[Cells]:
    kinds: dict[str, set[str]] = {}
    for flag in flags:
        kinds.setdefault(flag.assignment or flag.rater, set()).add(flag.kind)
    for id, assignment in sorted(study_state.assignments.items()):
        raised = sorted(kinds.get(id, set()) | kinds.get(assignment.rater, set()))
        yield (
            *(id, assignment.task, assignment.slot, assignment.rater, assignment.state, assignment.consent),
            *(
                assignment.claimed,
                assignment.expires,
                assignment.ended,
                assignment.trials,
                len(assignment.answers),
                " ".join(raised),
            ),
        )


def comments(study: Study, study_state: StudyState, facts: Iterable[tuple[int, Fact]]) -> Iterator[Cells]:
    """Yield what raters wrote: kind, assignment, rater, trial, item, text and time."""
    for _, fact in facts:
        if isinstance(fact, Noted) and fact.kind in (COMMENT, PROBLEM):
            given = study_state.assignments[fact.assignment]
            trials = study.trials(given.task, given.slot)
            item = trials[fact.trial - 1].item.id if 0 < fact.trial <= len(trials) else ""
            yield fact.kind, fact.assignment, given.rater, fact.trial, item, fact.detail, fact.time


# Predictions ---------------------------------------------------------------------------------------------------------
#
# Answers of people, which `vqagen evaluate` and `vqagen compare` take like those of a model.

PREDICTIONS, PEOPLE = "predictions", "people"
"""The folder of the files; the name of all raters together."""


def people_predictions(rows: Iterable[AnswerRow]) -> dict[str, bytes]:
    """Return the files of predictions by their names: DIMENSION/people.jsonl, DIMENSION/RATER.jsonl.

    Of all raters, the prediction for a question is their commonest answer; of equally common ones it is the smallest
    number, or the first by the alphabet. Questions, dialogs and trials are dimensions of their own. Only answers to
    scored questions that a file of questions knows, by their `record`, are predictions.
    """
    answers: dict[str, dict[str, list[AnswerRow]]] = {}
    for row in rows:
        if row.kind == ANSWER and row.use == REAL and row.record:
            folder, question = quote(row.dimension).replace(".", "%2E"), orjson.dumps(row.record).decode()
            for name in (PEOPLE, row.rater):
                answers.setdefault(f"{PREDICTIONS}/{folder}/{name}.jsonl", {}).setdefault(question, []).append(row)
    return {
        name: b"".join(
            orjson.dumps({**questions[question][0].record, "answer": commonest(questions[question])}) + b"\n"
            for question in sorted(questions, key=natural_order)
        )
        for name, questions in answers.items()
    }


def commonest(rows: Sequence[AnswerRow]) -> int | str:
    """Return the commonest answer to a question; case and outer space do not count."""
    counts = Counter(said(row.value) for row in rows)
    best = min(counts, key=lambda answer: (-counts[answer], natural_order(answer)))
    return next(row.value for row in rows if said(row.value) == best)


# The data dictionary: every file, every column, its type and its meaning ----------------------------------------------


ExportColumn = tuple[str, str, str]
"""Name, type and meaning."""
_ABOUT = (
    "Texts are UTF-8. In CSV files, an empty cell is no value, and a text that begins as a formula does has a ' before."
    " Where raters answered questions, files in the folder `predictions` are for `vqagen evaluate` and `compare`:"
    " questions/people.jsonl has the commonest answer of all who are scored, questions/RATER.jsonl those of one."
)
_NAMES = {str: "text", int: "integer", bool: "boolean", float: "number", dict: "object", NoneType: "empty"}


def _columns_of_rows() -> Iterator[ExportColumn]:
    for field in fields(AnswerRow):
        base, meta = get_args(field.type)
        kinds = get_args(base) if get_origin(base) is UnionType else (base,)
        yield field.name, " or ".join(_NAMES.get(get_origin(kind) or kind, "text") for kind in kinds), meta.description


_ANSWERS = tuple(_columns_of_rows())
_AS_IN_ANSWERS: Mapping[str, ExportColumn] = {column[0]: (*column[:2], "As in the answers.") for column in _ANSWERS}
_TIME = ("time", "integer", f"When it happened. {MILLISECONDS}.")
COMMENTS_FILE, PEOPLE_FILE = "comments.csv", "people.csv"
FILES: Mapping[str, tuple[str, tuple[ExportColumn, ...]]] = {
    ANSWERS_FILE: ("One line for each stored answer; the source of all scores.", _ANSWERS),
    "answers.csv": ("The same as a table.", _ANSWERS),
    "assignments.csv": (
        "One line for each time that a rater was given a task.",
        (
            *(_AS_IN_ANSWERS[name] for name in ("assignment", "task", "slot", "rater", "state")),
            ("consent", "text", "Hash of the texts that the rater consented to."),
            ("claimed", "integer", f"When the rater consented. {MILLISECONDS}."),
            ("expires", "integer", f"When the slot is free for another rater, unless complete. {MILLISECONDS}."),
            (
                "ended",
                "integer or empty",
                f"When it was completed, withdrawn or lost to another rater. {MILLISECONDS}.",
            ),
            ("trials", "integer", "Trials of the task."),
            ("answers", "integer", "Stored answers."),
            ("flags", "text", "Reasons to doubt the answers, by the default settings of `vqagen human score`."),
        ),
    ),
    COMMENTS_FILE: (
        "What raters wrote to you, if there is something.",
        (
            ("kind", "text", "comment, or problem: something is wrong with the trial."),
            *(_AS_IN_ANSWERS[name] for name in ("assignment", "rater")),
            ("trial", "integer", "As in the answers; 0 for none."),
            ("item", "text", "As in the answers; empty for none."),
            ("text", "text", "What the rater wrote."),
            _TIME,
        ),
    ),
    PEOPLE_FILE: (
        "Who the raters are (--include-ids).",
        (
            _AS_IN_ANSWERS["rater"],
            ("platform", "text", "Where the rater comes from, such as prolific."),
            ("person", "text", "The rater's id on the platform. Personal data: keep this file apart."),
        ),
    ),
    EVENTS_FILE: (
        "Everything that happened, in order (--events). Each line has those of the columns that its type needs.",
        (
            ("type", "text", "claim, resume, answer, end, note (something that a page reports) or forget."),
            _TIME,
            *(_AS_IN_ANSWERS[name] for name in ("assignment", "rater")),
            ("trials", "integer", "As in the assignments."),
            ("consent", "text", "As in the assignments."),
            ("expires", "integer", "When the slot is free for another rater, unless there is a further answer."),
            *(_AS_IN_ANSWERS[name] for name in ("trial", "value", "rt_ms", "shown_ms", "server_ms", "blur")),
            ("state", "text", "How an assignment ended: withdrawn or expired."),
            ("kept", "boolean", "The answers of an assignment that ended were not erased."),
            ("kind", "text", "What a page reports: webdriver, reload, comment or problem."),
            ("detail", "text", "More about it."),
            ("deleted", "integer", "Events that were erased with a forgotten rater."),
            ("attempts", "object", "How often the slots of a forgotten rater were given."),
        ),
    ),
}
"""Name of each file with data -> what it holds, and its columns."""


def dictionary_page(names: list[str]) -> str:
    """Return the dictionary as a page of Markdown."""
    lines = ["# Data dictionary", "", _ABOUT]
    for name in names:
        about, columns = FILES[name]
        lines += ["", f"## {name}", "", about, "", "| column | type | meaning |", "|---|---|---|"]
        lines += [f"| {' | '.join(column)} |" for column in columns]
    return "\n".join(lines) + "\n"
