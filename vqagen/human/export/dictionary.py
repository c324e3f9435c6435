"""The data dictionary of an export: every file, every column, its type and its meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from msgspec.structs import fields

from vqagen.human.answers import ANSWERS_FILE, EVENTS_FILE, MILLISECONDS, AnswerRow

ExportColumn = tuple[str, str, str]
"""Name, type and meaning."""
_ABOUT = (
    "Texts are UTF-8. In CSV files, an empty cell is no value, and a text that begins as a formula does has a ' before."
    " Where raters answered questions, files in the folder `predictions` are for `vqagen evaluate` and `compare`:"
    " questions/people.jsonl has the commonest answer of all who are scored, questions/RATER.jsonl those of one."
)
_NAMES = {str: "text", int: "integer", bool: "boolean", float: "number", dict: "object", NoneType: "empty"}


def _columns_of_rows() -> Iterator[ExportColumn]:
    for each in fields(AnswerRow):
        base, meta = get_args(each.type)
        kinds = get_args(base) if get_origin(base) is UnionType else (base,)
        yield each.name, " or ".join(_NAMES.get(get_origin(kind) or kind, "text") for kind in kinds), meta.description


_ANSWERS = tuple(_columns_of_rows())
_AS_IN_ANSWERS: Mapping[str, ExportColumn] = {each[0]: (*each[:2], "As in the answers.") for each in _ANSWERS}
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


def dictionary_record(names: list[str]) -> dict[str, Any]:
    """Return the dictionary of the files of these names."""
    keys = ("name", "type", "meaning")
    described = {
        name: {"about": FILES[name][0], "columns": [dict(zip(keys, each, strict=True)) for each in FILES[name][1]]}
        for name in names
    }
    return {"schema": "vqagen.human.dictionary/2", "files": described}


def dictionary_page(names: list[str]) -> str:
    """Return the dictionary as a page of Markdown."""
    lines = ["# Data dictionary", "", _ABOUT]
    for name in names:
        about, columns = FILES[name]
        lines += ["", f"## {name}", "", about, "", "| column | type | meaning |", "|---|---|---|"]
        lines += [f"| {' | '.join(column)} |" for column in columns]
    return "\n".join(lines) + "\n"
