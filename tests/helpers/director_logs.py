"""Logs of evaluations of director trials, made in this process by policies and scripted models."""

from __future__ import annotations

import gc
import warnings
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.log import EvalLog
from inspect_ai.model import Model
from inspect_ai.solver import Solver


def evaluated(
    tasks: Task | list[Task], folder: Path, solver: Solver | None = None, model: Model | str = "none/none"
) -> list[EvalLog]:
    """Return the logs of evaluations, which are written into a folder."""
    with warnings.catch_warnings():
        # Inspect leaves streams of its event loop to the garbage collector, and uses an old parameter of tenacity.
        warnings.filterwarnings("ignore", "Unclosed <MemoryObject", ResourceWarning)
        warnings.filterwarnings("ignore", "The 'initial' parameter is deprecated", DeprecationWarning)
        logs = eval(tasks, model=model, solver=solver, log_dir=str(folder), display="none")
        gc.collect()
    assert [log.error for log in logs if log.status != "success"] == []
    return list(logs)
