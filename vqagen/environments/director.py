"""Trials of the director task without end: the picture of a shelf, an instruction, and the cell that is meant."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from vqagen.run.job import Job
from vqagen.run.windows import Span
from vqagen.tasks.contract import Make
from vqagen.tasks.director.settings import DirectorSettings
from vqagen.tasks.director.task import DirectorTask, director_task
from vqagen.tasks.prompts import DIRECTOR, rules

RULES = rules(DIRECTOR, 1, is_picture=True)
"""What is told before the instruction."""


def shelves(seed: int = 0, start: int = 0, **settings: Any) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield trials from index `start` on, without end: the record of each, and the shelf as a PNG file.

    `settings` are further fields of `DirectorSettings`.

    A trial depends on the seed, the settings and its window of 960. Raises VqagenError for settings that are wrong.
    """
    task, make = _loaded(DirectorSettings(count=2, seed=seed, render=("png",), **settings))
    first = start
    while True:
        size = task.window - first % task.window
        for window in Job(task.cut_to(first, size), Span(first, size)).windows(first):
            for made in make(window, first, task.tally()):
                record = dict(next(iter(made.records)))
                yield record, made.files[record["image"]]
        first += size


@lru_cache(maxsize=4)
def _loaded(settings: DirectorSettings) -> tuple[DirectorTask, Make]:
    task = director_task(settings)
    return task, task.load(task.hashes())


def trial_at(seed: int, index: int) -> tuple[dict[str, Any], bytes]:
    """Return the trial of an index alone: the first one of a window of its own, so that no other has to be made."""
    return next(shelves(seed, index * DirectorTask.WINDOW))
