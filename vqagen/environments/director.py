"""Trials of the director task without end: the picture of a shelf, an instruction, and the cell that is meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vqagen.run.job import Job
from vqagen.run.windows import Span
from vqagen.tasks.director.settings import DirectorSettings
from vqagen.tasks.director.task import director_task


def shelves(seed: int = 0, start: int = 0, **settings: Any) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield trials from index `start` on, without end: the record of each, and the shelf as a PNG file.

    `settings` are further fields of `DirectorSettings`.

    A trial depends on the seed, the settings and its window of 960. Raises VqagenError for settings that are wrong.
    """
    first, size = start, 0
    task = director_task(DirectorSettings(start_index=start, count=2, seed=seed, render=("png",), **settings))
    make = task.load(task.hashes())
    while True:
        size = task.window - first % task.window
        for window in Job(task.cut_to(first, size), Span(first, size)).windows(first):
            for made in make(window, first, task.tally()):
                record = dict(next(iter(made.records)))
                yield record, made.files[record["image"]]
        first += size
