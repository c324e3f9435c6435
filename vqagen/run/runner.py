"""The runner: takes a job from its first window to its complete output, on any engine, or goes on with one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NoReturn, Protocol

from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.files import atomic_output
from vqagen.locations import locate
from vqagen.run.info import Difference, differences, is_whole, layout_in, read_info
from vqagen.run.journal import Entry, Journal, is_begun, journal_of, part_of
from vqagen.run.output import Output, is_stream, place_of
from vqagen.run.publishing import publish
from vqagen.run.work import Block, Engine, Window, Work

Made = Block | Entry
OnMade = Callable[[Made], None]
"""Told of each block: first of those that an earlier run made, then of new ones."""
OnComplete = Callable[[int], object]
SHOWN = 8
"""Differences told of another run."""


class Job(Protocol):
    """What is to be made: any task with its settings and inputs."""

    @property
    def first(self) -> int:
        """Absolute index of the first item that records are written of."""

    def work(self, first: int) -> Work:
        """What workers need, if records are written from item `first` on."""

    def windows(self, first: int) -> Iterator[Window]:
        """The windows to be done for that; none if all is done."""


def check_place(target: str, resume: bool, force: bool) -> None:
    """Find out what an earlier run left, before any work is done. UsageError if it is not said what to do with it."""
    if resume and force:
        raise UsageError("--resume goes on with what is there and --force replaces it; choose one")
    if is_stream(target):
        if resume:
            raise UsageError("--resume needs a file to go on with, and the output is a stream")
        return
    place = place_of(target)
    if not is_begun(place) or force:
        return
    if not journal_of(place).exists():
        raise UsageError(f"{part_of(place)} has lost its journal, {journal_of(place).name}; --force replaces it")
    if not resume:
        choice = "give --resume to go on with it, or --force to begin anew"
        raise UsageError(f"{part_of(place)} holds an unfinished run; {choice}")


def is_complete(output: Output) -> bool:
    """Whether the output is there, as a run would make it. UsageError if another run's is there."""
    location = locate(output.target)
    if output.is_stream or is_begun(output.place) or not location.exists():
        return False
    layout = layout_in(location)
    if layout != output.layout:
        raise UsageError(f"{location} is of another format ({layout}, not {output.layout}); --force replaces it")
    differing = list(differences(output.info, read_info(location, layout)))
    if differing:
        _refuse(str(location), differing)
    if not is_whole(location, layout):
        raise UsageError(f"{location} was changed or cut after it was made; --force makes it anew")
    return True


def run(
    job: Job,
    engine: Engine,
    output: Output,
    on_made: OnMade,
    resume: bool = False,
    on_complete: OnComplete = lambda records: None,
) -> int:
    """Make the output; says how many records it holds, and tells it `on_complete` before the journal goes.

    Whatever ends it early, the blocks that were made stay in the part beside the output; `resume` goes on with them.
    """
    if not output.is_stream:
        return _run_in_stages(job, engine, output, Journal(output.place), on_made, resume, on_complete)
    if not output.is_staged_as_it_is:
        with tempfile.TemporaryDirectory(prefix="vqagen-") as folder:
            return _run_in_stages(job, engine, output, Journal(Path(folder, "output")), on_made, False, on_complete)
    records = _run_into_stream(job, engine, output, on_made)
    on_complete(records)
    return records


def _run_into_stream(job: Job, engine: Engine, output: Output, on_made: OnMade) -> int:
    layout, records = output.staged, 0
    with atomic_output(output.target) as file, _blocks(job, engine, job.first) as blocks:
        file.write(layout.head(output.info))
        for block in blocks:
            file.write(layout.placed(block.body, records))
            records += block.records
            on_made(block)
        file.write(layout.tail)
    return records


def _run_in_stages(
    job: Job,
    engine: Engine,
    output: Output,
    journal: Journal,
    on_made: OnMade,
    resume: bool,
    on_complete: OnComplete,
) -> int:
    layout = output.staged
    with closing(journal):
        with _write_errors_told(journal):
            first = _begin(job, output, journal, on_made, resume)
        with _kept(journal, output), _blocks(job, engine, first) as blocks:
            for block in blocks:
                with _write_errors_told(journal):
                    journal.add(block, layout.placed(block.body, journal.records))
                on_made(block)
            with _write_errors_told(journal):
                records = publish(journal, output)
            on_complete(records)
            journal.remove()
    return records


def _begin(job: Job, output: Output, journal: Journal, on_made: OnMade, resume: bool) -> int:
    """Open a new part, or one that is there; the first item to be done."""
    header = {**output.info, "format": output.layout}
    known, head, first = journal.header() if resume else None, output.staged.head(output.info), job.first
    if known is None:
        journal.begin(header, head)
        return first
    if not known:
        raise UsageError(f"{journal.path} is damaged; --force begins anew")
    differing = list(differences(header, known))
    if differing:
        _refuse(str(journal.path), differing)
    for entry in journal.go_on(head):
        first = entry.end
        on_made(entry)
    return first


def _blocks(job: Job, engine: Engine, first: int) -> closing[Generator[Block]]:
    """Closed, they leave nothing running."""
    return closing(engine(job.work(first), job.windows(first)))


@contextmanager
def _kept(journal: Journal, output: Output) -> Iterator[None]:
    """Whatever ends a run early: say where its blocks are, or clear up if there are none."""
    try:
        yield
    except BaseException as stop:
        if journal.end is None:
            journal.remove()
        elif not output.is_stream:  # its part is temporary
            stop.add_note(f"what was made is kept in {journal.part}; {_how_to_go_on(stop)}")
        raise


def _how_to_go_on(stop: BaseException) -> str:
    if isinstance(stop, BadInput):  # nothing can be known of what a mended file would have given
        return "--resume goes on with the same input only, and --force begins anew with another"
    return "the same command with --resume goes on with it"


@contextmanager
def _write_errors_told(journal: Journal) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        name = error.filename or journal.part
        raise VqagenError(f"cannot write {name}: {error.strerror or error}") from error


def _refuse(name: str, differing: Sequence[Difference]) -> NoReturn:
    told = [f"  {each}" for each in differing[:SHOWN]]
    if len(differing) > SHOWN:
        told.append(f"  … and {len(differing) - SHOWN:,} more")
    raise UsageError("\n".join([f"{name} is of another run; --force replaces it. There:", *told]))
