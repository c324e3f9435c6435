"""The options of a run that change no byte of its output. Light to import: the help of a command needs them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vqagen.errors import Problem, warn
from vqagen.tasks.settings import CheckedSettings, setting

if TYPE_CHECKING:
    from vqagen.run.windows import Engine

AUTO = "auto"


@dataclass(frozen=True)
class RunOptions(CheckedSettings):
    """Where the windows of a run are done, and whether an output that exists is finished or replaced."""

    workers: int | str = setting(
        1, "Processes on this machine; auto for one per core.", metavar="N|auto", types=(), group="running"
    )
    cluster: str = setting(
        "", "Dask scheduler, such as tcp://host:8786; local:N for N workers here.", metavar="ADDRESS", group="running"
    )
    resume: bool = setting(
        False, "Finish an interrupted run of the same settings; start one if there is none.", group="running"
    )
    force: bool = setting(False, "Replace the output if it exists.", group="running")

    def _faults(self) -> Iterator[str]:
        if not self._processes():
            yield f"--workers must be a number from 1 on, or {AUTO}; found {self.workers!r}"
        elif self.cluster and str(self.workers) != "1":
            yield "--workers are of this machine; a cluster has its own; choose one"

    def engine(self, window: int, why_one: str = "all is one window") -> Engine:
        """Return the engine for windows of `window` items.

        Size 0 makes all items one window, which one process does; the user is warned of it with `why_one`.
        """
        from vqagen.run.windows import in_process

        workers = self._processes()
        if not window and (self.cluster or workers > 1):
            warn(Problem(f"{why_one}, which one process does alone"))
            return in_process
        if self.cluster:
            from vqagen.run.cluster import Cluster

            return Cluster(self.cluster)
        if workers == 1:
            return in_process
        from vqagen.run.engines import Processes  # sockets, threads and more, which one process does not need

        return Processes(workers)

    def _processes(self) -> int:
        """Return the number of processes; 0 for a value that is no number of workers."""
        if self.workers == AUTO:
            return available_cores()
        return int(self.workers) if re.fullmatch(r"\d{1,9}", str(self.workers)) else 0


def available_cores() -> int:
    """Return the number of cores that this process may use. A batch system may allow fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
