"""Tasks: the kinds of records that vqagen makes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from vqagen.errors import UsageError, unknown

if TYPE_CHECKING:
    from vqagen.tasks.contract import Task

TASKS = {
    "questions": "vqagen.tasks.questions.task:QuestionTask",
    "scenes": "vqagen.tasks.sampling.task:SamplingTask",
}
"""The key of a task's records -> the module and the name of its class, which loads when it is needed."""


def task_named(key: str) -> type[Task]:
    """Return the task that makes records of this key. Raises UsageError for a key that no task has."""
    if key not in TASKS:
        raise UsageError(unknown("kind of records", key, list(TASKS)))
    module, _, name = TASKS[key].partition(":")
    found: type[Task] = getattr(import_module(module), name)
    return found
