"""Runs of toys: an output's name is claimed, and the runner makes it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

from toy_work import ToyJob

from vqagen.run import runner
from vqagen.run.journal import Entry
from vqagen.run.output import Output, claimed
from vqagen.run.runner import OnResult, Progress, RunResult
from vqagen.run.work import Block, Engine


class BlockWritten(NamedTuple):
    """A block that is kept, made by this run or by the earlier one that it resumes."""

    first: int
    end: int
    records: int
    is_resumed: bool


def run(
    job: ToyJob,
    engine: Engine,
    output: Output,
    on_made: Callable[[BlockWritten], object] = lambda _: None,
    *,
    resume: bool = False,
    force: bool = False,
    on_came: OnResult = lambda _: None,
) -> RunResult:
    """Make an output, from the claim to what came of it. Each run has a selection of its own."""
    output = deepcopy(output)

    def tell(block: Block | Entry, progress: Progress) -> None:
        on_made(BlockWritten(block.first, block.end, block.records, progress.items == progress.resumed_items))

    with claimed(output.target, resume=resume, force=force) as journal:
        return runner.run(job, engine, output, journal, resume, tell, on_came)
