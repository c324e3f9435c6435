"""Runs from start to end: the output of any task, written under its name."""

from __future__ import annotations

import orjson

from vqagen.errors import Problem, warn
from vqagen.files.formats import choose_format
from vqagen.files.locations import locate
from vqagen.files.output import STDOUT, atomic_output, check_ending, check_output
from vqagen.language.domain_files import PathLike
from vqagen.run.job import make_job
from vqagen.run.options import RunOptions
from vqagen.run.output.claim import claimed
from vqagen.run.output.staging import Output, make_target
from vqagen.run.progress import OnProgress
from vqagen.run.runner import run
from vqagen.tasks.contract import RunReport, RunResult, Task
from vqagen.tasks.settings import flag


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
    with claimed(target, resume=options.resume, force=options.force, inputs=inputs) as claim:
        job = make_job(task, scenes, shard)
        info, report = job.info(), job.task.report()

        def finish(result: RunResult) -> None:
            report.finish(result)
            if report_to and result.is_known:
                _write_report(report, report_to)
            elif report_to:
                _warn_no_report(str(out), report_to)

        columns = task.columns(info) if form.is_binary else None
        output = Output(target, info, columns, task.selection(info))
        run(job, engine, output, claim, lambda block: report.add(block.tally), on_progress, finish)
    return report


def _why_one_window(task: Task) -> str:
    """Return the reason, for people, that all items are one window."""
    if not task.window_setting:
        return f"all {task.item}s are one window"
    return f"{flag(task.window_setting)} 0 makes one window of all {task.item}s"


def _write_report(report: RunReport, report_to: str) -> None:
    """Write the report in place of what the file holds."""
    with atomic_output(report_to) as file:
        file.write(orjson.dumps(report.to_record(), option=orjson.OPT_INDENT_2) + b"\n")


def _warn_no_report(target: str, report_to: str) -> None:
    """Warn that an output was complete long ago, unless a report is there: it may be that of the run that made it."""
    if not locate(report_to).exists():
        message = "was complete already, and what was tried for it is not known any more: no report is written"
        warn(Problem(message, target))
