"""An output in another format or dialect: the bytes that its run would have written so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vqagen.errors import UsageError
from vqagen.files.locations import locate
from vqagen.records.formats import JSON, Format
from vqagen.run.merging.merge import MergeResult, OnMerged, check_names, write_merged
from vqagen.run.merging.shard_files import ShardFile, open_shard
from vqagen.tasks import task_named
from vqagen.tasks.contract import Rewrite, Task


@dataclass(frozen=True)
class RewrittenFile(ShardFile):
    """An output whose records are rewritten as they are read. Its info is that of the rewritten records."""

    source: ShardFile
    rewrite: Rewrite

    def records(self, task: type[Task]) -> Iterator[dict[str, Any]]:
        """Yield the rewritten records; see `ShardFile.records`."""
        return map(self.rewrite, self.source.records(task))

    @property
    def form(self) -> Format:
        """The format of records as they are."""
        return JSON

    @property
    def names(self) -> list[str]:
        """The names that are read."""
        return self.source.names


def convert(
    source: os.PathLike[str] | str,
    out: os.PathLike[str] | str,
    *,
    format: str | None = None,
    dialect: str | None = None,
    force: bool = False,
    on_converted: OnMerged = lambda _: None,
) -> MergeResult:
    """Write an output of vqagen in another format, or in another dialect of its task.

    `format` is the name of a format of the task; by default the name of `out` decides. `on_converted` is called now
    and then with the number of records converted since. Raises VqagenError before anything is written for what cannot
    be converted, and while writing, which then leaves no file, for an output that was changed.
    """
    path = locate(source)
    check_names([path])
    file = open_shard(path)
    if dialect is not None:
        task = task_named(file.arrangement.key)
        if task.dialects and dialect not in task.dialects:
            known = ", ".join(task.dialects)
            raise UsageError(f"--dialect {dialect}: not a dialect of {task.key}; choose one of {known}")
        info, rewrite = task.rewritten(file.info, dialect)
        file = RewrittenFile(path, file.record_file, "rewritten", info, file.sums, file, rewrite)
    return write_merged([file], out, file.info, format=format, force=force, on_merged=on_converted)
