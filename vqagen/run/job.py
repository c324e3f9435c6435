"""A job of the runner: a task and the items of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from vqagen.errors import UsageError, VqagenError
from vqagen.files.formats import Arrangement, Encode
from vqagen.files.info import VERSION
from vqagen.language.domain_files import PathLike
from vqagen.run.blocks import TrackedItems, blocks_of
from vqagen.run.items import Items, number_items
from vqagen.run.provenance import generator_info
from vqagen.run.scene_items import find_scene_items
from vqagen.run.shards import parse_shard
from vqagen.run.windows import Span
from vqagen.run.work import Block, Window, WindowTask
from vqagen.tasks.contract import Make, Task


@dataclass(frozen=True)
class Job:
    """A run of a task, or a shard of one. The settings of `task` are those of the shard."""

    task: Task
    items: Items

    @property
    def first(self) -> int:
        """The absolute index of the first item that records are written about."""
        return self.items.own.first

    @cached_property
    def _hashes(self) -> dict[str, str]:
        return self.task.hashes()

    def info(self) -> dict[str, Any]:
        """Return the `info` of the output. Nothing in it names a host or path. May take long: inputs are hashed."""
        task = self.task
        arrangement = Arrangement(task.key, task.number_key, task.item, task.window)
        generator = generator_info(
            task.settings.to_record(),
            {**self.items.hashes(), **self._hashes},
            arrangement,
            self.items.shard_plan,
            task.generator_info(),
        )
        return {**self.items.info(), "format": VERSION, **task.info(generator)}

    def work(self, first: int, encode: Encode) -> TaskWork:
        """Return what workers need if records are written from item `first` on; reads what the task needs."""
        return TaskWork(self.task, self._hashes, encode, first, self.task.load(self._hashes))

    def expected(self) -> int | None:
        """Return the number of items of the run, as far as is known by now."""
        return self.items.expected()

    def located(self, error: VqagenError) -> VqagenError:
        """Return an error of a window with its place in the input."""
        return self.items.located(error)

    def windows(self, first: int) -> Iterator[Window]:
        """Yield the windows to be done for that; none if all is done."""
        return self.items.windows(first)


@dataclass(frozen=True)
class TaskWork:
    """Everything that a process needs in order to do windows of a run."""

    task: Task
    hashes: Mapping[str, str]
    """The content hashes of the inputs, by role: every process must read the same."""
    encode: Encode
    first: int
    """The first item that records are written about."""
    loaded: Make | None = field(default=None, compare=False)
    """What this process has loaded; it stays in this process."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "loaded": None}

    def load(self) -> WindowTask:
        """Load what the task needs."""
        task = self.task
        make = self.loaded or task.load(self.hashes)

        def blocks(window: Window) -> Iterator[Block]:
            items, tally = TrackedItems(window), task.tally()
            made = blocks_of(make(items, self.first, tally), task.window, self.encode, tally.take)
            return items.attribute_errors(made)  # records are made while a block is encoded

        return blocks


def make_job(task: Task, scenes: PathLike | None = None, shard: str | None = None) -> Job:
    """Find the items of a run. The settings of `task` are those of the whole run; `shard` is written K/N.

    Raises VqagenError for scenes that cannot be found and for a shard that there cannot be.
    """
    whole, one = Span(task.settings.start_index, task.settings.count), parse_shard(shard) if shard else None
    items: Items
    if task.reads_scenes:
        if scenes is None:
            raise UsageError(f"{task.key} are made about scenes: name them")
        items = find_scene_items(scenes, whole, task.window, one, task.reads_ahead)
    elif not whole.length:
        raise UsageError(f"say how many {task.key} to make: the count must be at least 1")
    else:
        items = number_items(task.item, whole, task.window, one)
    return Job(task.cut_to(*items.own), items)
