"""Trials of the director task without end: the picture of a shelf, an instruction, and the cell that is meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from vqagen.run.job import Job
from vqagen.run.windows import Span
from vqagen.tasks.director.settings import DirectorSettings
from vqagen.tasks.director.task import director_task
from vqagen.tasks.prompts import DIRECTOR, request, rules


@dataclass(frozen=True, eq=False)
class ShelfSample:
    """A trial as one that is asked."""

    index: int
    story: str = field(repr=False)
    """Who sees what, and how cells are named."""
    question: str
    answer: str
    """The label of the cell."""
    record: dict[str, Any] = field(repr=False)
    """The trial as `vqagen director generate` writes it."""
    picture: bytes = field(repr=False)
    """The shelf as the participant sees it, as a PNG file."""

    def png(self) -> bytes:
        """Return the picture as a PNG file."""
        return self.picture


def shelves(seed: int = 0, start: int = 0, **settings: Any) -> Iterator[ShelfSample]:
    """Yield trials from index `start` on, without end. `settings` are further fields of `DirectorSettings`.

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
                picture = made.files[record["image"]]
                words = request(DIRECTOR, record["instruction"])
                yield ShelfSample(made.item, rules(DIRECTOR, 1, True), words, record["answer"], record, picture)
        first += size
