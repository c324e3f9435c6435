"""The runner: makes the output of a job on any engine, from the first window to the last, or resumes it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

import orjson

from vqagen.errors import BadInput, Problem, UsageError, VqagenError, warn
from vqagen.files.formats import Checksum, choose_format
from vqagen.files.info import CHECKSUM, describe_output, differences, is_whole, listed_differences, version_of
from vqagen.files.locations import Location, locate
from vqagen.files.output import STDOUT, atomic_output, check_ending, check_output
from vqagen.files.parquet import checksums
from vqagen.files.records import Members, RecordKind, open_records
from vqagen.language.domain_files import PathLike
from vqagen.run.job import Job, make_job
from vqagen.run.journal import Entry, Journal, is_begun
from vqagen.run.options import RunOptions
from vqagen.run.output import Output, claimed, make_target, publish, temporary_journal, tidy_folder, write_blocks
from vqagen.run.work import Block, Engine
from vqagen.tasks.contract import RunReport, RunResult, Task
from vqagen.tasks.settings import flag


@dataclass
class Progress:
    """How far a run is, for a progress bar and for its report."""

    item: str = "scene"
    """One item, for people."""
    noun: str = "record"
    """One record, for people."""
    expected: int | None = None
    """Items of the whole run, as far as is known by now."""
    items: int = 0
    resumed_items: int = 0
    """Items that an earlier run had finished."""
    new_records: int = 0
    """Records that this run has made."""


OnProgress = Callable[[Progress], object]
OnBlock = Callable[[Block | Entry, Progress], object]
"""Called with each block that is kept: first with those that an earlier run made, then with new ones."""
OnResult = Callable[[RunResult], object]
"""Called with the result just before the output gets its name; if killed in between, the resumed run calls it again."""


def write_records(
    task: Task,
    out: PathLike,
    scenes: PathLike | None = None,
    *,
    format: str | None = None,
    options: RunOptions | None = None,
    shard: str | None = None,
    report_to: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> RunReport:
    """Make the records of a task, and write them to `out` with the `info` that made them.

    `scenes` are needed by tasks about scenes. `format` is the name of one of the task's formats; by default the name
    of `out` decides. Whatever ends the run early, `RunOptions(resume=True)` finishes it. The report is written to
    `report_to` too, as JSON, except for an output that was complete long ago. Raises VqagenError.
    """
    options = options or RunOptions()
    form = choose_format(STDOUT if task.makes_files else str(out), format, task.formats, task.key)
    target = make_target(str(out), form, task.key if task.makes_files else "")
    engine = options.engine(task.window, _why_one_window(task))
    inputs = [str(given) for given in (*([scenes] if scenes else []), *task.inputs)]
    if report_to:
        check_ending(report_to, [".json"], "reports of a run")
        check_output(report_to, options.resume or options.force, [*inputs, *target.names])
    with claimed(target, resume=options.resume, force=options.force, inputs=inputs) as journal:
        job = make_job(task, scenes, shard)
        info, report = job.info(), job.task.report()

        def add(block: Block | Entry, progress: Progress) -> None:
            report.add(block.tally)
            on_progress(progress)

        def finish(result: RunResult) -> None:
            report.finish(result)
            if report_to and not result.was_complete:
                with atomic_output(report_to) as file:
                    file.write(orjson.dumps(report.to_record(), option=orjson.OPT_INDENT_2) + b"\n")
            elif report_to and not locate(report_to).exists():
                message = "was complete already, and what was tried for it is not known any more: no report is written"
                warn(Problem(message, str(out)))

        columns = task.columns(info) if form.is_binary else None
        output = Output(target, info, columns, task.selection(info))
        run(job, engine, output, journal, options.resume, add, finish)
    return report


def _why_one_window(task: Task) -> str:
    """Return the reason, for people, that all items are one window."""
    if not task.window_setting:
        return f"all {task.item}s are one window"
    return f"{flag(task.window_setting)} 0 makes one window of all {task.item}s"


def run(
    job: Job,
    engine: Engine,
    output: Output,
    journal: Journal | None,
    resume: bool = False,
    on_block: OnBlock = lambda block, progress: None,
    on_result: OnResult = lambda _: None,
) -> RunResult:
    """Make the output under the name that is claimed for it; `journal` is None for a stream.

    Whatever ends the run early, the blocks that were made stay in the part beside the output, for `--resume`. Raises
    UsageError if a run is to be resumed and another run's output or part is there.
    """
    arrangement, start = output.arrangement, time.monotonic()
    progress = Progress(arrangement.item, arrangement.noun)
    result = RunResult()

    def keep(block: Block | Entry, is_resumed: bool = False) -> None:
        items = block.end - block.first
        progress.items += items
        if is_resumed:
            progress.resumed_items += items
        else:
            progress.new_records += block.records
        progress.expected = job.expected()
        on_block(block, progress)

    def finish(records: int = 0, selection: Mapping[str, Any] | None = None) -> None:
        nonlocal result
        was_complete, seconds = selection is None, time.monotonic() - start
        result = RunResult(records, selection, was_complete, progress.resumed_items, seconds)
        on_result(result)

    if journal and resume and _is_complete(output):
        finish()
        if output.target.is_folder:
            tidy_folder(output.target.place)
        journal.remove()
    elif journal:
        _in_stages(job, engine, output, journal, resume, keep, finish)
    elif output.selection is not None:  # it chooses when all records are there
        with temporary_journal() as staged:
            _in_stages(job, engine, output, staged, False, keep, finish)
    else:
        with _blocks(job, engine, output, job.first) as blocks:
            write_blocks(output, _kept_by(keep, blocks), finish)
    return result


Keep = Callable[..., None]
"""Takes a block that is kept, and whether it was made by the run that this one resumes."""


def _kept_by(keep: Keep, blocks: Iterator[Block]) -> Iterator[tuple[int, bytes]]:
    """Yield the blocks of a stream as they come."""
    for block in blocks:
        yield block.first, block.body
        keep(block)


def _in_stages(
    job: Job, engine: Engine, output: Output, journal: Journal, resume: bool, keep: Keep, finish: Callable[..., None]
) -> None:
    """Write blocks to the part, and make the output of it."""
    with _kept(journal, output):
        is_resumed = resume and _can_resume(output, journal)
        first = _resume(journal, keep, job.first) if is_resumed else job.first
        with _blocks(job, engine, output, first) as blocks:
            if not is_resumed:
                with _raise_write_errors(journal):
                    journal.begin(_header(output))
            for block in blocks:
                with _raise_write_errors(journal):
                    journal.add(block)
                keep(block)
        with _raise_write_errors(journal):
            publish(journal, output, finish)
        journal.remove()


def _resume(journal: Journal, keep: Keep, first: int) -> int:
    """Take over the blocks of the part; return the first item to be done."""
    try:
        for entry in journal.resume():
            keep(entry, is_resumed=True)
    except OSError as error:
        raise VqagenError(f"cannot resume {journal.part}: {error.strerror or error}") from error
    return first if journal.end is None else journal.end


def _can_resume(output: Output, journal: Journal) -> bool:
    """True if there is a part of the same run. UsageError if it is another run's."""
    ours, known = _header(output), journal.header()
    if known is None or not is_begun(journal.place):
        return False
    if not known:
        raise UsageError(f"{journal.path} is damaged; --force begins anew")
    _refuse_other_version(str(journal.path), output.info, known.get("info"))
    formats = differences(ours["format"], known.get("format"), path="format")
    _refuse_differing(str(journal.path), [*differences(ours["info"], known.get("info")), *formats])
    return True


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
    _refuse_differing(str(location), list(differences(output.info, there.info)))
    with suppress(BadInput):
        if is_whole(location, there) and _has_checksum(output, location, there.sums[1]):
            return True
    raise UsageError(f"{location} was changed or cut after it was made; --force makes it anew")


def _has_checksum(output: Output, location: Location, beside: str | None) -> bool:
    """True if an output has the checksum that stands in it, or in the info beside it. BadInput for broken records."""
    if output.form.is_binary:
        given, found = checksums(location)
        return given == found
    behind, total = Members({CHECKSUM: beside}), Checksum()
    source = open_records(location, RecordKind(output.arrangement.key))
    for _, _, _, text in source.read(behind=behind, is_read=False):
        total = total.add(text + b"\n", 1)
    return behind[CHECKSUM] in (None, str(total))


def _header(output: Output) -> dict[str, Any]:
    """Return the header of the journal, as JSON returns it, so that it can be compared."""
    return dict(orjson.loads(orjson.dumps({"info": output.info, "format": output.form.name})))


@contextmanager
def _blocks(job: Job, engine: Engine, output: Output, first: int) -> Iterator[Iterator[Block]]:
    """Yield the blocks when the first one is made: what cannot begin leaves nothing, and replaces nothing.

    When the context ends, nothing is left running. Errors of the input get their place here.
    """
    try:
        with closing(engine(job.work(first, output.encode), job.windows(first))) as blocks:
            begun = next(blocks, None)
            yield chain([begun] if begun else [], blocks)
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
        if journal.is_begun_anew and journal.end is None:
            journal.remove()
        elif journal.end is not None and not output.target.is_stream:  # the part of a stream is temporary
            how = "the same command with --resume finishes it"
            if isinstance(stop, BadInput):  # a mended input could have given other records before
                how = "--resume finishes it with the same input only, and --force begins anew with another"
            stop.add_note(f"what was made is kept in {journal.part}; {how}")
        raise


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


def _refuse_differing(name: str, differing: Sequence[str]) -> None:
    if differing:
        raise UsageError(f"{name} is of another run; --force replaces it. There:\n{listed_differences(differing)}")
