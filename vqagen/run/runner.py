"""The runner: takes a job from its first window to its complete output, on any engine, or goes on with one."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.files import atomic_output
from vqagen.locations import locate
from vqagen.run.claim import Claim, temporary_journal
from vqagen.run.info import Difference, differences, is_whole, layout_in, read_info
from vqagen.run.journal import Conclusion, Entry, Journal, is_begun
from vqagen.run.layouts import Encode
from vqagen.run.output import Output
from vqagen.run.progress import Made, OnMade, OnProgress, Progress
from vqagen.run.publishing import publish
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

    def work(self, first: int, encode: Encode) -> Work:
        """What workers need, if records are written from item `first` on."""

    def windows(self, first: int) -> Iterator[Window]:
        """The windows to be done for that; none if all is done."""


@dataclass(frozen=True)
class Came:
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


OnCame = Callable[[Came], object]
"""Told what a run came to, before its journal goes: killed meanwhile, it is told when the run is resumed."""


def run(
    job: Job,
    engine: Engine,
    output: Output,
    claim: Claim,
    on_made: OnMade = lambda _: None,
    on_progress: OnProgress = lambda _: None,
    on_came: OnCame = lambda _: None,
) -> Came:
    """Make the output under the name that was claimed for it, and say what it came to.

    Whatever ends it early, the blocks that were made stay in the part beside the output, to go on with. UsageError,
    where it should go on, if what is there is of another run.
    """
    telling = _Telling(job, on_made, on_progress, on_came)
    if claim.journal is None:
        return _into_stream(job, engine, output, telling)
    if claim.resume and _is_complete(output):
        return _tell_of_complete(claim.journal, telling)
    conclusion = _in_stages(job, engine, output, claim.journal, telling, claim.resume)
    return telling.came(conclusion)


class _Telling:
    """Those that want to know of a run, and what they are told."""

    def __init__(self, job: Job, on_made: OnMade, on_progress: OnProgress, on_came: OnCame) -> None:
        self._job, self._on_made, self._on_progress, self.on_came = job, on_made, on_progress, on_came
        self._progress, self._begun = Progress(), time.monotonic()

    def made(self, block: Block | Entry, is_resumed: bool = False) -> None:
        """A block is kept."""
        made = Made(block.first, block.end, block.records, block.tally, is_resumed)
        self._on_made(made)
        self._progress.add(made)
        self._progress.expected = self._job.expected()
        self._on_progress(self._progress)

    def came(self, conclusion: Conclusion) -> Came:
        """What the run came to."""
        seconds = time.monotonic() - self._begun
        return Came(*conclusion, resumed_items=self._progress.resumed_items, seconds=seconds)


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


def _tell_of_complete(journal: Journal, telling: _Telling) -> Came:
    """Of an output that is there; a run that was killed at its very end may have left the journal of it."""
    entries, conclusion = journal.left_behind()
    if conclusion is None:
        came = Came(was_complete=True, is_known=False)
    else:
        for entry in entries:
            telling.made(entry, is_resumed=True)
        came = Came(*conclusion, was_complete=True)
    telling.on_came(came)
    journal.remove()
    return came


def _into_stream(job: Job, engine: Engine, output: Output, telling: _Telling) -> Came:
    if output.is_staged_as_it_is:
        conclusion = _as_it_comes(job, engine, output, telling)
        telling.on_came(telling.came(conclusion))
    else:
        with temporary_journal() as journal:
            conclusion = _in_stages(job, engine, output, journal, telling, resume=False)
    return telling.came(conclusion)


def _as_it_comes(job: Job, engine: Engine, output: Output, telling: _Telling) -> Conclusion:
    layout, records = output.staged, 0
    with atomic_output(output.target) as file, _blocks(job, engine, output, job.first) as blocks:
        file.write(layout.head(output.info))
        for block in blocks:
            file.write(layout.placed(block.body, records))
            records += block.records
            telling.made(block)
        file.write(layout.tail)
    return Conclusion(records, {})


def _in_stages(
    job: Job, engine: Engine, output: Output, journal: Journal, telling: _Telling, resume: bool
) -> Conclusion:
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
        telling.on_came(telling.came(conclusion))
        journal.remove()
    return conclusion


def _begin(job: Job, output: Output, journal: Journal, telling: _Telling, resume: bool) -> int:
    """Make ready a new part, or one that is there; the first item to be done."""
    header, head = {**output.info, "format": output.layout}, output.staged.head(output.info)
    known = journal.header() if resume else None
    if known is None or not is_begun(journal.place):
        journal.begin(header, head)
        return job.first
    if not known:
        raise UsageError(f"{journal.path} is damaged; --force begins anew")
    differing = list(differences(header, known))
    if differing:
        _refuse(str(journal.path), differing)
    first = job.first
    for entry in journal.go_on(head):
        first = entry.end
        telling.made(entry, is_resumed=True)
    return first


@contextmanager
def _blocks(job: Job, engine: Engine, output: Output, first: int) -> Iterator[Iterator[Block]]:
    """When the block ends, nothing is left running."""
    with closing(engine(job.work(first, output.encode), job.windows(first))) as blocks:
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
        if journal.end is None:
            if journal.was_touched:
                journal.remove()
        elif not output.is_stream:  # its part is temporary
            stop.add_note(_what_is_kept(journal, stop))
        raise


def _what_is_kept(journal: Journal, stop: BaseException) -> str:
    if not is_begun(journal.place):
        return f"{journal.place} is complete; the same command with --resume writes what is missing beside it"
    kept = f"what was made is kept in {journal.part}"
    if isinstance(stop, BadInput):  # nothing can be known of what a mended file would have given
        return f"{kept}; --resume goes on with the same input only, and --force begins anew with another"
    return f"{kept}; the same command with --resume goes on with it"


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
