"""The data dictionary of an export: every file, every column, its type and its meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Column(NamedTuple):
    """A column of a file."""

    name: str
    type: str
    meaning: str


_TIME = "integer"
_MS = "Milliseconds since 1970-01-01 UTC"

ANSWERS = (
    Column("assignment", "text", "One rater's work on one task: task-slot-attempt."),
    Column("rater", "text", "Pseudonym of the rater: the same person has the same one in one study."),
    Column("task", "text", "Trials that are done in a row; an id of the study."),
    Column("slot", "integer", "Which of the task's raters, from 0. Sides alternate from slot to slot."),
    Column("state", "text", "Of the assignment: complete, claimed (unfinished), expired (time ran out) or withdrawn."),
    Column("trial", "integer", "Number of the trial in the order that the rater saw, from 1."),
    Column("item", "text", "What was judged: `item_id` in items.jsonl of the study."),
    Column("image", "text", "Id of the image; empty for none."),
    Column("kind", "text", "compare: two texts on one scale. rate: one text."),
    Column("use", "text", "real: scored. check: one text is known to be wrong. instructed: the value is asked for."),
    Column("dimension", "text", "What was judged, such as fit; scores of different dimensions are never mixed."),
    Column("value", "integer", "The value as chosen, from the left end of the scale to its right end."),
    Column("second_on_right", "boolean", "The second text stood on the right."),
    Column("toward_second", "integer", "The value turned so that larger is better for the second text."),
    Column("least", "integer", "The smallest value of the scale."),
    Column("largest", "integer", "The largest value of the scale."),
    Column("first_source", "text", "Where the first text is from, such as human or the name of a model."),
    Column("first_role", "text", "reference: what people wrote. system: what is measured."),
    Column("second_source", "text", "Where the second text is from; empty if one text was rated."),
    Column("second_role", "text", "As first_role; empty if one text was rated."),
    Column("gold_is_second", "boolean or empty", "Of attention checks: the second text is the right one."),
    Column("gold_value", "integer or empty", "Of instructed trials: the value that was asked for."),
    Column("rt_ms", "integer", "Milliseconds from the image being shown to the choice, by the rater's browser."),
    Column("shown_ms", "integer", "Milliseconds from the image being shown to the submission."),
    Column("blur", "integer", "How often the page was hidden meanwhile."),
    Column("stored", _TIME, f"When the answer was stored. {_MS}."),
    Column("strata", "object", "Fields to group scores by, such as template; JSON in the CSV file."),
    Column("weight", "number", "Weight of the item."),
)
ASSIGNMENTS = (
    Column("assignment", "text", "As in the answers."),
    Column("task", "text", "As in the answers."),
    Column("slot", "integer", "As in the answers."),
    Column("rater", "text", "As in the answers."),
    Column("state", "text", "As in the answers."),
    Column("consent", "text", "Hash of the texts that the rater consented to."),
    Column("claimed", _TIME, f"When the rater consented. {_MS}."),
    Column("expires", _TIME, f"When the slot became free for another rater, unless complete. {_MS}."),
    Column("ended", f"{_TIME} or empty", f"When it was completed, withdrawn or found expired. {_MS}."),
    Column("trials", "integer", "Trials of the task."),
    Column("answers", "integer", "Stored answers."),
    Column("flags", "text", "Reasons to doubt the answers, by the default settings of `vqagen human score`."),
)
PEOPLE = (
    Column("rater", "text", "As in the answers."),
    Column("platform", "text", "Where the rater comes from, such as prolific."),
    Column("person", "text", "The rater's id on the platform. Personal data: keep this file apart."),
)
EVENTS = (
    Column("number", "integer", "Order of the events. Gaps are events of forgotten raters."),
    Column("assignment", "text", "As in the answers; empty for events of the whole study."),
    Column("kind", "text", "claim, answer_new (stored), answer_same, answer_different, complete, focus, …"),
    Column("detail", "text", "More about it; for attempts to answer, JSON."),
    Column("time", _TIME, f"When it happened. {_MS}."),
)

FILES: Mapping[str, tuple[str, tuple[Column, ...]]] = {
    "answers.jsonl": ("One line for each stored answer; the source of all scores.", ANSWERS),
    "answers.csv": ("The same as a table.", ANSWERS),
    "assignments.csv": ("One line for each time that a rater took a task.", ASSIGNMENTS),
    "people.csv": ("Who the raters are (--include-ids).", PEOPLE),
    "events.jsonl": ("Everything that happened, in order (--events).", EVENTS),
}
"""Name of each file with data -> what it holds, and its columns."""


def dictionary_record(names: list[str]) -> dict[str, Any]:
    """Return the dictionary of the files of these names."""
    return {
        "schema": "vqagen.human.dictionary/1",
        "files": {
            name: {"about": FILES[name][0], "columns": [column._asdict() for column in FILES[name][1]]}
            for name in names
        },
    }


def dictionary_page(names: list[str]) -> str:
    """Return the dictionary as a page of Markdown."""
    lines = ["# Data dictionary", "", "Texts are UTF-8. In CSV files, an empty cell is no value."]
    for name in names:
        about, columns = FILES[name]
        lines += ["", f"## {name}", "", about, "", "| column | type | meaning |", "|---|---|---|"]
        lines += [f"| {column.name} | {column.type} | {column.meaning} |" for column in columns]
    return "\n".join(lines) + "\n"
