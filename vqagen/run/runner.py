"""The runner: makes the output of a job on any engine, from the first window to the last, or resumes it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from typing import Any, NoReturn, Protocol

import orjson

from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.files.formats import Encode, Layout
from vqagen.files.info import describe_output, differences, is_whole, version_of
from vqagen.files.locations import locate
from vqagen.files.output import atomic_output
from vqagen.run.output.claim import Claim, temporary_journal
from vqagen.run.output.journal import Conclusion, Entry, Journal, is_begun
from vqagen.run.output.publishing import publish, tidy_folder
from vqagen.run.output.staging import Output
from vqagen.run.progress import BlockWritten, OnBlockWritten, OnProgress, Progress
from vqagen.run.work import Block, Engine, Window, Work
from vqagen.tasks.contract import RunResult

SHOWN = 8
"""Differences from another run that are named."""
OnResult = Callable[[RunResult], object]
"""Called with the result just before the journal is deleted; if killed in between, the resumed run calls it."""


class Job(Protocol):
    """What is to be made; see `run.job`."""

    @property
    def first(self) -> int:
        """The absolute index of the first item that records are written about."""

    def expected(self) -> int | None:
        """Return the number of items of the whole run, as far as is known by now."""

    def located(self, error: VqagenError) -> VqagenError:
        """Return an error of a window with its place in the input."""

    def work(self, first: int, encode: Encode) -> Work:
        """Return what workers need, if records are written from item `first` on."""

    def windows(self, first: int) -> Iterator[Window]:
        """Yield the windows to be done for that; none if all is done."""


def run(
    job: Job,
    engine: Engine,
    output: Output,
    claim: Claim,
    on_block: OnBlockWritten = lambda _: None,
    on_progress: OnProgress = lambda _: None,
    on_result: OnResult = lambda _: None,
) -> RunResult:
    """Make the output under the name that is claimed for it.

    Whatever ends the run early, the blocks that were made stay in the part beside the output, for `--resume`. Raises
    UsageError if a run is to be resumed and another run's output or part is there.
    """
    listeners = _Listeners(job, output, on_block, on_progress, on_result)
    if claim.journal is None:
        return _into_stream(job, engine, output, listeners)
    if claim.resume and _is_complete(output):
        return _finish_complete(claim.journal, output, listeners)
    return _in_stages(job, engine, output, claim.journal, listeners, claim.resume)


class _Listeners:
    """The callbacks of a run, and the progress that they get."""

    def __init__(
        self, job: Job, output: Output, on_block: OnBlockWritten, on_progress: OnProgress, on_result: OnResult
    ) -> None:
        self._job, self._on_block, self._on_progress, self._on_result = job, on_block, on_progress, on_result
        self._progress = Progress(output.arrangement.item, output.arrangement.noun)
        self._start = time.monotonic()

    def block(self, block: Block | Entry, is_resumed: bool = False) -> None:
        """Report a block that is kept."""
        written = BlockWritten(block.first, block.end, block.records, block.tally, is_resumed)
        self._on_block(written)
        self._progress.add(written)
        self._progress.expected = self._job.expected()
        self._on_progress(self._progress)

    def result(self, conclusion: Conclusion | None, was_complete: bool = False) -> RunResult:
        """Report the result. The conclusion of a run that was complete long ago is unknown."""
        records, selection = conclusion or (0, None)
        seconds, resumed_items = time.monotonic() - self._start, self._progress.resumed_items
        result = RunResult(records, selection, was_complete, conclusion is not None, resumed_items, seconds)
        self._on_result(result)
        return result


def _is_complete(output: Output) -> bool:
    """True if the output is there, as a run would make it. UsageError if another run's is there."""
    location = locate(output.target.record_file)
    if is_begun(output.target.place) or not location.exists():
        return False
    there = describe_output(location)
    _refuse_other_version(str(location), output.info, there.info)
    if there.layout != output.form.name:
        other = f"{there.layout}, not {output.form.name}"
        raise UsageError(f"{location} is of another format ({other}); --force replaces it")
    differing = list(differences(output.info, there.info))
    if differing:
        _refuse(str(location), differing)
    if not is_whole(location, there):
        raise UsageError(f"{location} was changed or cut after it was made; --force makes it anew")
    return True


def _finish_complete(journal: Journal, output: Output, listeners: _Listeners) -> RunResult:
    """Report an output that is there. A run that was killed at its very end may have left the journal of it."""
    entries, conclusion = journal.left_behind(_header(output)) or ([], None)
    for entry in entries:
        listeners.block(entry, is_resumed=True)
    result = listeners.result(conclusion, was_complete=True)
    if output.target.is_folder:
        tidy_folder(output.target.place)
    journal.remove()
    return result


def _into_stream(job: Job, engine: Engine, output: Output, listeners: _Listeners) -> RunResult:
    if output.is_staged_as_it_is:
        return listeners.result(_as_it_comes(job, engine, output, listeners))
    with temporary_journal() as journal:
        return _in_stages(job, engine, output, journal, listeners, resume=False)


def _as_it_comes(job: Job, engine: Engine, output: Output, listeners: _Listeners) -> Conclusion:
    placing = output.staged
    with atomic_output(output.target.name) as file, _blocks(job, engine, output, job.first) as blocks:
        first = next(blocks, None)  # what cannot be loaded leaves no half of a document
        file.write(output.staged.head(output.info))
        for block in chain([first] if first else [], blocks):
            file.write(placing.place(block.body, block.records))
            listeners.block(block)
        file.write(placing.tail(placing.checksum))
    return Conclusion(placing.records, {})


def _in_stages(
    job: Job, engine: Engine, output: Output, journal: Journal, listeners: _Listeners, resume: bool
) -> RunResult:
    placing = output.staged
    with _kept(journal, output):
        first = _begin(job, output, journal, placing, listeners, resume)
        with _blocks(job, engine, output, first) as blocks:
            for block in blocks:
                with _raise_write_errors(journal):
                    journal.add(block, placing.place(block.body, block.records))
                listeners.block(block)
        with _raise_write_errors(journal):
            conclusion = publish(journal, output, placing)
        result = listeners.result(conclusion)
        journal.remove()
    return result


def _begin(job: Job, output: Output, journal: Journal, placing: Layout, listeners: _Listeners, resume: bool) -> int:
    """Prepare a new part, or resume the one that is there; return the first item to be done."""
    header, head = _header(output), output.staged.head(output.info)
    known = journal.header() if resume else None
    if known is None or not is_begun(journal.place):
        journal.begin(header, head)
        return job.first
    if not known:
        raise UsageError(f"{journal.path} is damaged; --force begins anew")
    _refuse_other_version(str(journal.path), output.info, known.get("info"))
    formats = differences(header["format"], known.get("format"), path="format")
    differing = [*differences(header["info"], known.get("info")), *formats]
    if differing:
        _refuse(str(journal.path), differing)
    first = job.first
    try:
        for entry, body in journal.resume(head):
            first = entry.end
            placing.skip(body, entry.records)
            listeners.block(entry, is_resumed=True)
    except OSError as error:
        raise VqagenError(f"cannot resume {journal.part}: {error.strerror or error}") from error
    return first


def _header(output: Output) -> dict[str, Any]:
    """Return the header of the journal, as JSON returns it, so that it can be compared."""
    header: dict[str, Any] = orjson.loads(orjson.dumps({"info": output.info, "format": output.form.name}))
    return header


@contextmanager
def _blocks(job: Job, engine: Engine, output: Output, first: int) -> Iterator[Iterator[Block]]:
    """Yield the blocks; when the context ends, nothing is left running. Errors of the input get their place here."""
    try:
        with closing(engine(job.work(first, output.encode), job.windows(first))) as blocks:
            yield blocks
    except VqagenError as error:
        located = job.located(error)
        if located is error:
            raise
        raise located from None


@contextmanager
def _kept(journal: Journal, output: Output) -> Iterator[None]:
    """Note on an error where the blocks are kept; if there are none, clear up."""
    try:
        yield
    except BaseException as stop:
        if journal.is_begun_anew and journal.end is None and not journal.is_concluded:
            journal.remove()
        elif not output.target.is_stream:  # its part is temporary
            _note_what_is_kept(journal, stop)
        raise


def _note_what_is_kept(journal: Journal, stop: BaseException) -> None:
    if journal.is_concluded and not is_begun(journal.place):
        stop.add_note(f"{journal.place} is complete; the same command with --resume writes what is missing beside it")
    elif journal.end is not None:
        stop.add_note(f"what was made is kept in {journal.part}; {_how_to_resume(stop)}")


def _how_to_resume(stop: BaseException) -> str:
    if isinstance(stop, BadInput):  # a mended input could have given other records before
        return "--resume finishes it with the same input only, and --force begins anew with another"
    return "the same command with --resume finishes it"


@contextmanager
def _raise_write_errors(journal: Journal) -> Iterator[None]:
    """Raise an error of the system while writing as a VqagenError that names the file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        name = error.filename or journal.part
        raise VqagenError(f"cannot write {name}: {error.strerror or error}") from error


def _refuse_other_version(name: str, ours: object, theirs: object) -> None:
    if version_of(theirs) != version_of(ours):
        formats = f"{name} is of format {version_of(theirs)}, and this vqagen writes format {version_of(ours)}"
        raise UsageError(f"{formats}: finish it with the vqagen that began it, or give --force to begin anew")


def _refuse(name: str, differing: Sequence[str]) -> NoReturn:
    shown = [f"  {each}" for each in differing[:SHOWN]]
    if len(differing) > SHOWN:
        shown.append(f"  … and {len(differing) - SHOWN:,} more")
    raise UsageError("\n".join([f"{name} is of another run; --force replaces it. There:", *shown]))
