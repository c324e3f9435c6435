"""The runner: takes a job from its first window to its complete output, on any engine, or goes on with one."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any, NoReturn, Protocol

import orjson

from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.files.locations import locate
from vqagen.files.output import atomic_output
from vqagen.records.info import Difference, differences, is_whole, layout_in, read_info
from vqagen.records.layouts import Encode
from vqagen.run.output.claim import Claim, temporary_journal
from vqagen.run.output.journal import Conclusion, Entry, Journal, is_begun
from vqagen.run.output.publishing import publish
from vqagen.run.output.staging import Output
from vqagen.run.progress import BlockWritten, OnBlockWritten, OnProgress, Progress
from vqagen.run.work import Block, Engine, Window, WindowFailed, Work

SHOWN = 8
"""Differences told of another run."""


class Job(Protocol):
    """What is to be made: any task with its settings and inputs."""

    @property
    def first(self) -> int:
        """Absolute index of the first item that records are written of."""

    def info(self) -> dict[str, Any]:
        """The `info` of the output, with a `generator` (see `provenance`). May take long: inputs are hashed."""

    def expected(self) -> int | None:
        """Items of the whole run, as far as can be told by now."""

    def errors_told(self) -> AbstractContextManager[None]:
        """Adds to errors that come up inside what only the process knows that reads the input."""

    def work(self, first: int, encode: Encode) -> Work:
        """What workers need, if records are written from item `first` on."""

    def windows(self, first: int) -> Iterator[Window]:
        """The windows to be done for that; none if all is done."""


@dataclass(frozen=True)
class RunResult:
    """What a run came to."""

    records: int = 0
    """In the output. Not known of one that was complete long ago, nor is `choice`."""
    choice: Any = None
    """What the choice from all records says of itself (see `Output.choose`)."""
    was_complete: bool = False
    """Whether there was nothing to do."""
    is_known: bool = True
    """Whether it could be told what the output came to, and of what blocks it is."""
    resumed_items: int = 0
    """Items that an earlier run had done."""
    seconds: float = 0.0


OnResult = Callable[[RunResult], object]
"""Told what a run came to, before its journal goes: killed meanwhile, it is told when the run is resumed."""


def run(
    job: Job,
    engine: Engine,
    output: Output,
    claim: Claim,
    on_made: OnBlockWritten = lambda _: None,
    on_progress: OnProgress = lambda _: None,
    on_came: OnResult = lambda _: None,
) -> RunResult:
    """Make the output under the name that was claimed for it, and say what it came to.

    Whatever ends it early, the blocks that were made stay in the part beside the output, to go on with. UsageError,
    where it should go on, if what is there is of another run.
    """
    telling = _Telling(job, on_made, on_progress, on_came)
    if claim.journal is None:
        return _into_stream(job, engine, output, telling)
    if claim.resume and _is_complete(output):
        return _tell_of_complete(claim.journal, output, telling)
    return _in_stages(job, engine, output, claim.journal, telling, claim.resume)


class _Telling:
    """Those that want to know of a run, and what they are told."""

    def __init__(self, job: Job, on_made: OnBlockWritten, on_progress: OnProgress, on_came: OnResult) -> None:
        self._job, self._on_made, self._on_progress, self._on_came = job, on_made, on_progress, on_came
        self._progress, self._begun = Progress(), time.monotonic()

    def made(self, block: Block | Entry, is_resumed: bool = False) -> None:
        """A block is kept."""
        made = BlockWritten(block.first, block.end, block.records, block.tally, is_resumed)
        self._on_made(made)
        self._progress.add(made)
        self._progress.expected = self._job.expected()
        self._on_progress(self._progress)

    def came(self, conclusion: Conclusion | None, was_complete: bool = False) -> RunResult:
        """The run is over; of one that was complete long ago, it is not known with what conclusion."""
        records, choice = conclusion or (0, None)
        seconds, resumed_items = time.monotonic() - self._begun, self._progress.resumed_items
        came = RunResult(records, choice, was_complete, conclusion is not None, resumed_items, seconds)
        self._on_came(came)
        return came


def _is_complete(output: Output) -> bool:
    """Whether the output is there, as a run would make it. UsageError if another run's is there."""
    location = locate(output.target)
    if is_begun(output.place) or not location.exists():
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


def _tell_of_complete(journal: Journal, output: Output, telling: _Telling) -> RunResult:
    """Of an output that is there; a run that was killed at its very end may have left the journal of it."""
    entries, conclusion = journal.left_behind(_header(output)) or ([], None)
    for entry in entries:
        telling.made(entry, is_resumed=True)
    came = telling.came(conclusion, was_complete=True)
    journal.remove()
    return came


def _into_stream(job: Job, engine: Engine, output: Output, telling: _Telling) -> RunResult:
    if output.is_staged_as_it_is:
        return telling.came(_as_it_comes(job, engine, output, telling))
    with temporary_journal() as journal:
        return _in_stages(job, engine, output, journal, telling, resume=False)


def _as_it_comes(job: Job, engine: Engine, output: Output, telling: _Telling) -> Conclusion:
    layout, records = output.staged, 0
    with atomic_output(output.target) as file, _blocks(job, engine, output, job.first) as blocks:
        first = next(blocks, None)  # what cannot be loaded leaves no half of a document
        file.write(layout.head(output.info))
        for block in chain([first] if first else [], blocks):
            file.write(layout.placed(block.body, records))
            records += block.records
            telling.made(block)
        file.write(layout.tail)
    return Conclusion(records, {})


def _in_stages(
    job: Job, engine: Engine, output: Output, journal: Journal, telling: _Telling, resume: bool
) -> RunResult:
    layout = output.staged
    with _kept(journal, output):
        first = _begin(job, output, journal, telling, resume)
        with _blocks(job, engine, output, first) as blocks:
            for block in blocks:
                with _write_errors_told(journal):
                    journal.add(block, layout.placed(block.body, journal.records))
                telling.made(block)
        with _write_errors_told(journal):
            conclusion = publish(journal, output)
        came = telling.came(conclusion)
        journal.remove()
    return came


def _begin(job: Job, output: Output, journal: Journal, telling: _Telling, resume: bool) -> int:
    """Make ready a new part, or one that is there; the first item to be done."""
    header, head = _header(output), output.staged.head(output.info)
    known = journal.header() if resume else None
    if known is None or not is_begun(journal.place):
        journal.begin(header, head)
        return job.first
    if not known:
        raise UsageError(f"{journal.path} is damaged; --force begins anew")
    formats = differences(header["format"], known.get("format"), path="format")
    differing = [*differences(header["info"], known.get("info")), *formats]
    if differing:
        _refuse(str(journal.path), differing)
    first = job.first
    for entry in _read_errors_told(journal, journal.go_on(head)):
        first = entry.end
        telling.made(entry, is_resumed=True)
    return first


def _header(output: Output) -> dict[str, Any]:
    """What a journal says of its run. As it comes back of JSON, so that it can be compared."""
    header: dict[str, Any] = orjson.loads(orjson.dumps({"info": output.info, "format": output.layout}))
    return header


def _read_errors_told(journal: Journal, entries: Iterator[Entry]) -> Iterator[Entry]:
    try:
        yield from entries
    except OSError as error:
        raise VqagenError(f"cannot go on with {journal.part}: {error.strerror or error}") from error


@contextmanager
def _blocks(job: Job, engine: Engine, output: Output, first: int) -> Iterator[Iterator[Block]]:
    """When the block ends, nothing is left running."""
    with job.errors_told(), closing(engine(job.work(first, output.encode), job.windows(first))) as blocks:
        yield _not_taken_for_writing(blocks)


def _not_taken_for_writing(blocks: Generator[Block]) -> Iterator[Block]:
    """An error of the system that a task comes upon, such as a plug-in's time-out, is not one of writing the output."""
    try:
        yield from blocks
    except OSError as error:
        if error.filename is not None:  # of reading an input, which it names
            raise
        raise WindowFailed(f"{type(error).__name__}: {error}") from error


@contextmanager
def _kept(journal: Journal, output: Output) -> Iterator[None]:
    """Whatever ends a run early: say where its blocks are, or clear up if there are none."""
    try:
        yield
    except BaseException as stop:
        if journal.is_begun_anew and journal.end is None and not journal.is_concluded:
            journal.remove()
        elif not output.is_stream:  # its part is temporary
            _note_what_is_kept(journal, stop)
        raise


def _note_what_is_kept(journal: Journal, stop: BaseException) -> None:
    if journal.is_concluded and not is_begun(journal.place):
        stop.add_note(f"{journal.place} is complete; the same command with --resume writes what is missing beside it")
    elif journal.end is not None:
        stop.add_note(f"what was made is kept in {journal.part}; {_how_to_go_on(stop)}")


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
