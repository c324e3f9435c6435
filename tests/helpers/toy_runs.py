"""Runs of toys: an output's name is claimed, and the runner makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

from toy_work import ToyJob

from vqagen.run import runner
from vqagen.run.output import Output, claimed
from vqagen.run.runner import OnResult, Progress, RunResult
from vqagen.run.windows import Engine


class Killed(BaseException):
    """Ends a run."""


def run(
    job: ToyJob,
    engine: Engine,
    output: Output,
    on_progress: Callable[[Progress], object] = lambda _: None,
    *,
    resume: bool = False,
    force: bool = False,
    on_came: OnResult = lambda _: None,
    add_tally: Callable[[Mapping[str, Any]], object] = lambda _: None,
) -> RunResult:
    """Make an output, from the claim to what came of it. Each run has a selection of its own."""
    output = deepcopy(output)
    with claimed(output.destination, resume=resume, force=force) as folder:
        tell = lambda progress: on_progress(replace(progress))  # noqa: E731
        return runner.run(job, engine, output, folder, resume, add_tally, tell, on_came)


def stop_after(items: int, error: BaseException) -> Callable[[Progress], None]:
    """Ends a run with an error when so many items are done."""

    def stop(progress: Progress) -> None:
        if progress.items == items:
            raise error

    return stop
