"""Tasks: the kinds of records that vqagen makes.

This module is light to import: the help of the commands needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from vqagen.errors import UsageError, unknown

if TYPE_CHECKING:
    from vqagen.tasks.contract import Task


class TaskEntry(NamedTuple):
    """A task in the list: where it is, and the choices that commands offer before it loads."""

    place: str
    """The module and the name of its class, which loads when it is needed."""
    formats: tuple[str, ...] = ("json", "jsonl")
    """The names of the class's `formats`."""
    foreign: Mapping[str, str] = {}
    """Name of a format of another tool -> the module and the name of its class, a `foreign.ForeignFormat`."""
    makes_files: bool = False
    """True if the class makes folders with files beside the records."""


TASKS = {
    "questions": TaskEntry(
        "vqagen.tasks.questions.task:QuestionTask",
        ("json", "jsonl", "parquet"),
        {"visual7w": "vqagen.tasks.questions.visual7w:Visual7W"},
    ),
    "dialogs": TaskEntry(
        "vqagen.tasks.dialog.task:DialogTask",
        ("json", "jsonl", "parquet"),
        {
            "clevr-dialog": "vqagen.tasks.dialog.formats:ClevrDialog",
            "visdial": "vqagen.tasks.dialog.formats:VisDial",
        },
    ),
    "trials": TaskEntry(
        "vqagen.tasks.director.task:DirectorTask",
        ("jsonl", "json"),
        {"reference": "vqagen.tasks.director.formats:Reference"},
        makes_files=True,
    ),
    # Pictures (`rendering`) are folders of scenes; merge and convert read them as any scenes.
    "scenes": TaskEntry("vqagen.tasks.sampling.task:SamplingTask"),
}
"""The key of a task's records -> the task."""


def task_named(key: str) -> type[Task]:
    """Return the task that makes records of this key. Raises UsageError for a key that no task has."""
    if key not in TASKS:
        raise UsageError(unknown("kind of records", key, list(TASKS)))
    module, _, name = TASKS[key].place.partition(":")
    found: type[Task] = getattr(import_module(module), name)
    return found
