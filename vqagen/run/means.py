"""By what means a run is done, none of which changes a byte of what it makes."""

from __future__ import annotations

from dataclasses import dataclass

from vqagen.errors import Problem, UsageError, warn
from vqagen.run.in_process import in_process
from vqagen.run.processes import Processes, available_cores
from vqagen.run.work import Engine

AUTO = "auto"


@dataclass(frozen=True)
class Means:
    """Where windows are done, and what becomes of what is there already."""

    workers: int | str = 1
    """Processes on this machine; `auto` for one a core."""
    cluster: str = ""
    """The address of a Dask scheduler, or `local:N`."""
    resume: bool = False
    """Go on with an interrupted run, if there is one."""
    force: bool = False
    """Replace what is there."""

    def engine(self, window: int) -> Engine:
        """What does the windows of a run, which are of a size (0: all is one window). UsageError for what cannot be."""
        if not window and (self.cluster or self.workers != 1):
            warn(Problem("--reset-counts-every 0 makes one window of all scenes, which one process does alone"))
            return in_process
        if self.cluster:
            from vqagen.run.cluster import Cluster

            if self.workers != 1:
                raise UsageError("--workers are of this machine; a cluster has its own (--cluster local:N starts N)")
            return Cluster(self.cluster)
        workers = available_cores() if self.workers == AUTO else self.workers
        if not isinstance(workers, int) or workers < 1:
            raise UsageError(f"--workers must be a number from 1 on, or {AUTO}; found {self.workers!r}")
        return in_process if workers == 1 else Processes(workers)
