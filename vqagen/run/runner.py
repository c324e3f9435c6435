"""The runner: makes the output of a job with any engine, or finishes one that an earlier run began."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from vqagen.errors import BadInput, Problem, UsageError, VqagenError, warn
from vqagen.files.formats import Checksum, choose_format
from vqagen.files.info import CHECKSUM, describe_output, differences, is_whole, listed_differences, version_of
from vqagen.files.locations import Location, locate
from vqagen.files.output import STDOUT, atomic_output, check_ending, check_output
from vqagen.files.records import Members, RecordKind, open_records
from vqagen.language.domain_files import PathLike
from vqagen.run.blocks import Block, BlockFolder, held, in_order, is_begun
from vqagen.run.job import Job, make_job
from vqagen.run.options import RunOptions
from vqagen.run.output import Output, claimed, drop_replaced, make_destination, publish, write_blocks
from vqagen.run.windows import Engine, Window, window_of
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
"""Called for each block that is kept: first for those that an earlier run made, then for new ones as they are made."""
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
    of `out` decides. Whatever ends the run early, `RunOptions(resume=True)` finishes it. `report_to`: a JSON file for
    the report; it is not written if the output was complete already. Raises VqagenError.
    """
    options = options or RunOptions()
    form = choose_format(STDOUT if task.makes_files else str(out), format, task.formats, task.key)
    destination = make_destination(str(out), form, task.key if task.makes_files else "")
    engine = options.engine(task.window, _why_one_window(task))
    inputs = [str(given) for given in (*([scenes] if scenes else []), *task.inputs)]
    if report_to:
        check_ending(report_to, [".json"], "reports of a run")
        check_output(report_to, options.resume or options.force, [*inputs, *destination.names])
    with claimed(destination, resume=options.resume, force=options.force, inputs=inputs) as folder:
        job = make_job(task, scenes, shard)
        info, report = job.info(), job.task.report()

        def finish(result: RunResult) -> None:
            report.finish(result)
            if report_to and not result.was_complete:
                with atomic_output(report_to) as file:
                    file.write(orjson.dumps(report.to_record(), option=orjson.OPT_INDENT_2) + b"\n")
            elif report_to and not locate(report_to).exists():
                message = "was complete already, and what was tried for it is not known any more: no report is written"
                warn(Problem(message, str(out)))

        columns = task.columns(info) if form.is_binary else None
        output = Output(destination, info, columns, task.selection(info))
        run(job, engine, output, folder, options.resume, report.add, on_progress, finish)
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
    folder: BlockFolder | None,
    resume: bool = False,
    add_tally: Callable[[Mapping[str, Any]], object] = lambda _: None,
    on_progress: OnProgress = lambda _: None,
    on_result: OnResult = lambda _: None,
) -> RunResult:
    """Make the output under the name that is claimed for it; `folder` is None for a stream.

    Whatever ends the run early, its finished blocks stay in the folder, for `--resume`. `add_tally` gets the tally of
    each block, in order, when the block is copied to the output. Raises UsageError if `resume` is set and the output or
    the blocks are those of another run.
    """
    arrangement, start = output.arrangement, time.monotonic()
    progress, result = Progress(arrangement.item, arrangement.noun), RunResult()

    def count(block: Block, is_resumed: bool = False) -> None:
        items = block.end - block.first
        progress.items += items
        if is_resumed:
            progress.resumed_items += items
        else:
            progress.new_records += block.records
        progress.expected = job.expected()
        on_progress(progress)

    def tallied(blocks: Iterable[Block]) -> Iterator[tuple[int, bytes]]:
        for block in in_order(blocks, job.first):
            add_tally(block.tally)
            yield block.first, block.body

    def finish(records: int = 0, selection: Mapping[str, Any] | None = None) -> None:
        nonlocal result
        was_complete, seconds = selection is None, time.monotonic() - start  # a finished pass gives {} for no selection
        result = RunResult(records, selection, was_complete, progress.resumed_items, seconds)
        on_result(result)

    if folder is None and output.selection is None:  # a stream: blocks are written as they are made
        with _started(job, engine, output, {}) as blocks:
            write_blocks(output, tallied(_counted(blocks, count)), finish)
    elif folder and resume and _is_complete(output):  # nothing to make: delete what a kill may have left
        finish()
        drop_replaced(folder.place)
        folder.remove()
    else:  # blocks are kept in the folder until all are there
        with nullcontext(folder) if folder else _temporary_folder() as folder, _noted_on_errors(folder, output):
            _make_missing(job, engine, output, folder, resume, count)
            with _raise_write_errors(folder):
                publish(tallied(folder.blocks()), folder.files, output, finish)
                folder.remove()
    return result


Count = Callable[..., None]
"""Takes a block that is kept, and whether it was made by the run that this one resumes."""


def _counted(blocks: Iterable[Block], count: Count) -> Iterator[Block]:
    """Yield the blocks of a stream as they come."""
    for block in blocks:
        yield block
        count(block)


@contextmanager
def _temporary_folder() -> Iterator[BlockFolder]:
    """Yield the block folder of a stream with a selection, which needs all records before it writes any."""
    with TemporaryDirectory(prefix="vqagen-") as name, held(Path(name, "output")) as folder:
        yield folder


def _make_missing(job: Job, engine: Engine, output: Output, folder: BlockFolder, resume: bool, count: Count) -> None:
    """Add all blocks to the folder that are not there."""
    ends: dict[int, int] = {}
    if resume and _can_resume(output, folder):
        for block in _resumed(folder):
            ends[block.first] = block.end
            count(block, is_resumed=True)
    with _started(job, engine, output, ends) as blocks:
        if not ends:
            with _raise_write_errors(folder):
                folder.begin(_run_record(output))
        for block in blocks:
            if block.first not in ends:  # those behind a damaged block of their window are made again too
                with _raise_write_errors(folder):
                    folder.add(block)
                count(block)


def _resumed(folder: BlockFolder) -> Iterator[Block]:
    try:
        yield from folder.blocks()
    except OSError as error:
        raise VqagenError(f"cannot resume {folder.path}: {error.strerror or error}") from error


def _unfinished(job: Job, ends: Mapping[int, int]) -> Iterator[tuple[int, Window]]:
    """Yield each window in which blocks are missing, and its first item that has none.

    `ends` are those of the blocks that are there, by the first item of each. A window's blocks are made in order:

        window of 250, blocks 0-50, 50-100       -> begin at 100: the items before are replayed
        window of 250, blocks 0-50, 100-150      -> begin at 50: a block in between was damaged
    """
    for window in job.windows(_first_missing(job.first, ends)):
        items = iter(window)
        head = next(items)
        first = _first_missing(max(head.index, job.first), ends)
        if window_of(first, job.window) == window_of(head.index, job.window):
            yield first, chain([head], items)


def _first_missing(index: int, ends: Mapping[int, int]) -> int:
    """Return the first item from `index` on of which there is no block."""
    while index in ends:
        index = ends[index]
    return index


def _can_resume(output: Output, folder: BlockFolder) -> bool:
    """True if the folder holds blocks of the same run. Raises UsageError if they are another run's."""
    ours, known = _run_record(output), folder.run_record()
    if not is_begun(folder.place):
        return False
    if not known:
        raise UsageError(f"{folder.path} does not say any more which run it is of; --force begins anew")
    formats = differences(ours["format"], known.get("format"), path="format")
    _refuse_other_run(str(folder.path), ours["info"], known.get("info"), formats)
    return True


def _is_complete(output: Output) -> bool:
    """True if the output of this run is complete. Raises UsageError for another output that no blocks will replace."""
    location = locate(output.destination.record_file)
    if not location.exists():
        return False
    try:
        _check_complete(output, location)
    except VqagenError:
        if is_begun(output.destination.place):  # the output is about to be replaced
            return False
        raise
    return True


def _check_complete(output: Output, location: Location) -> None:
    """Raise VqagenError if an output is another run's, or was changed or cut since."""
    there = describe_output(location)
    if there.layout != output.form.name:
        other = f"{there.layout}, not {output.form.name}"
        raise UsageError(f"{location} is of another format ({other}); --force replaces it")
    _refuse_other_run(str(location), output.info, there.info)
    with suppress(BadInput):
        if is_whole(location, there) and _has_checksum(output, location, there.sums[1]):
            return
    raise UsageError(f"{location} was changed or cut after it was made; --force makes it anew")


def _has_checksum(output: Output, location: Location, beside: str | None) -> bool:
    """True if the records of an output have its checksum, which stands in the file or in the info `beside` it.

    Raises BadInput for broken records.
    """
    if output.form.is_binary:
        from vqagen.files.parquet import checksums

        given, found = checksums(location)
        return given == found
    behind, total = Members({CHECKSUM: beside}), Checksum()
    source = open_records(location, RecordKind(output.arrangement.key))
    for _, _, _, text in source.read(behind=behind, is_read=False):
        total = total.add(text + b"\n", 1)
    return behind[CHECKSUM] in (None, str(total))


def _run_record(output: Output) -> dict[str, Any]:
    """Return which run this is, as it is read back from JSON, so that it can be compared with what a folder holds."""
    return dict(orjson.loads(orjson.dumps({"info": output.info, "format": output.form.name})))


@contextmanager
def _started(job: Job, engine: Engine, output: Output, ends: Mapping[int, int]) -> Iterator[Iterator[Block]]:
    """Start the engine, and yield the missing blocks once the first is made: a run that fails before changes no file.

    When the context ends, nothing is left running. An error of the input gets its place in the input.
    """
    try:
        with closing(engine(job.work(output.encode), _unfinished(job, ends))) as blocks:
            first = next(blocks, None)
            yield chain([first] if first else [], blocks)
    except VqagenError as error:
        located = job.located(error)
        if located is error:
            raise
        raise located from None


@contextmanager
def _noted_on_errors(folder: BlockFolder, output: Output) -> Iterator[None]:
    """Add to an error a note that says where the blocks are kept; delete the folder if it has none."""
    try:
        yield
    except BaseException as stop:
        if not is_begun(folder.place):
            folder.remove()
        elif not output.destination.is_stream and folder.run_record() == _run_record(output):  # else an earlier run's
            how = "the same command with --resume finishes it"
            if isinstance(stop, BadInput):  # a mended input could have given other records before
                how = "--resume finishes it with the same input only, and --force begins anew with another"
            stop.add_note(f"what was made is kept in {folder.path}; {how}")
        raise


@contextmanager
def _raise_write_errors(folder: BlockFolder) -> Iterator[None]:
    """Raise an OSError of writing as a VqagenError that names the folder."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise VqagenError(f"cannot write {folder.path}: {error.strerror or error}") from error


def _refuse_other_run(name: str, ours: object, theirs: object, more: Iterable[str] = ()) -> None:
    """Raise UsageError if the `info` of what is there (`theirs`) is of another version or run; list the differences."""
    if version_of(theirs) != version_of(ours):
        formats = f"{name} is of format {version_of(theirs)}, and this vqagen writes format {version_of(ours)}"
        raise UsageError(f"{formats}: finish it with the vqagen that began it, or give --force to begin anew")
    if differing := [*differences(ours, theirs), *more]:
        raise UsageError(f"{name} is of another run; --force replaces it. There:\n{listed_differences(differing)}")
