"""By what means a run is done, none of which changes a byte of what it makes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vqagen.errors import Problem, UsageError, warn
from vqagen.run.engines.in_process import in_process
from vqagen.run.engines.processes import Processes, available_cores
from vqagen.run.work import Engine

AUTO = "auto"


@dataclass(frozen=True)
class RunOptions:
    """Where windows are done, and what becomes of what is there already."""

    workers: int | str = 1
    """Processes on this machine, as a number or its text; `auto` for one a core."""
    cluster: str = ""
    """The address of a Dask scheduler, or `local:N`."""
    resume: bool = False
    """Go on with an interrupted run, if there is one."""
    force: bool = False
    """Replace what is there."""

    def engine(self, window: int, why_one: str = "all is one window") -> Engine:
        """What does the windows of a run, which are of a size. UsageError for what cannot be.

        Of size 0, `why_one` is told: what makes all one window.
        """
        workers = _number(self.workers)
        if not window and (self.cluster or workers != 1):
            warn(Problem(f"{why_one}, which one process does alone"))
            return in_process
        if self.cluster:
            from vqagen.run.engines.cluster import Cluster

            if workers != 1:
                raise UsageError("--workers are of this machine; a cluster has its own (--cluster local:N starts N)")
            return Cluster(self.cluster)
        processes = workers or available_cores()
        return in_process if processes == 1 else Processes(processes)


def _number(workers: object) -> int:
    """The number that is meant; 0 for one a core. UsageError for what is no number of workers."""
    if workers == AUTO:
        return 0
    number = int(workers) if isinstance(workers, str) and re.fullmatch(r"\d{1,9}", workers) else workers
    if not isinstance(number, int) or number < 1:
        raise UsageError(f"--workers must be a number from 1 on, or {AUTO}; found {number!r}")
    return number
