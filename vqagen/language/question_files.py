"""Question files, read as records; `files.records` shows the layouts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vqagen.files.locations import Location
from vqagen.files.records import RecordKind, open_records

QUESTIONS = RecordKind("questions", own_keys=("program", "question", "answer"), json_columns=("trace",))
OPTION_KEYS = ("options", "choices", "multiple_choices")
"""Keys under which a question lists the options of multiple choice, in the order that a model sees."""


def read_questions(path: Location) -> Iterator[dict[str, Any]]:
    """Yield every question of a file, in order. BadInput for what is not a question."""
    return open_records(path, QUESTIONS).records()
