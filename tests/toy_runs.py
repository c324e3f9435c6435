"""Runs of toys: an output's name is claimed, and the runner makes it."""

from __future__ import annotations

from copy import deepcopy

from toy_work import ToyJob

from vqagen.run import runner
from vqagen.run.output.claim import claimed
from vqagen.run.output.staging import Output
from vqagen.run.progress import OnBlockWritten
from vqagen.run.runner import OnResult, RunResult
from vqagen.run.work import Engine


def run(
    job: ToyJob,
    engine: Engine,
    output: Output,
    on_made: OnBlockWritten = lambda _: None,
    *,
    resume: bool = False,
    force: bool = False,
    on_came: OnResult = lambda _: None,
) -> RunResult:
    """Make an output, from the claim to what came of it. Each run has a selection of its own."""
    output = deepcopy(output)
    with claimed(output.target, resume=resume, force=force) as claim:
        return runner.run(job, engine, output, claim, on_made, on_result=on_came)
