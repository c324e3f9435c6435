"""Outputs from start to end: what `vqagen generate`, `vqagen scenes sample` and `vqagen merge` do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from vqagen.errors import UsageError
from vqagen.files.output import check_output
from vqagen.language.domain_files import DomainFiles, PathLike, find_domain
from vqagen.records.writer import chosen_layout
from vqagen.run.merging.merge import MergeResult
from vqagen.run.merging.merge import merge as merge_shards
from vqagen.run.options import RunOptions
from vqagen.run.output.claim import claimed
from vqagen.run.output.staging import Keep, Output, names_of
from vqagen.run.progress import OnProgress
from vqagen.run.runner import RunResult, run
from vqagen.run.shards import parse_shard
from vqagen.tasks.questions.columns import Columns
from vqagen.tasks.questions.family_choice import skipped_templates, warn_skipped
from vqagen.tasks.questions.job import question_job
from vqagen.tasks.questions.report import Report, tell_that_nothing_is_known
from vqagen.tasks.questions.selection import Selection, is_needed, must_know_of_shards
from vqagen.tasks.questions.settings import RecordForm, Settings
from vqagen.tasks.sampling.job import WINDOW, sampling_job
from vqagen.tasks.sampling.settings import SamplingSettings


def write_questions(
    scenes: PathLike,
    out: PathLike,
    files: DomainFiles | None = None,
    settings: Settings | None = None,
    form: RecordForm | None = None,
    *,
    layout: str | None = None,
    options: RunOptions | None = None,
    shard: str | None = None,
    disjoint_from: Sequence[PathLike] = (),
    report_to: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> Report:
    """Make questions about the scenes of a file or folder, and write them to `out` with the `info` that made them.

    Whatever ends it early, `RunOptions(resume=True)` goes on with what was made. The report goes to `report_to` too, as
    JSON, but for an output that was complete long ago. Raises VqagenError.
    """
    files, settings, form = files or find_domain(), settings or Settings(), form or RecordForm()
    out, layout, options = str(out), chosen_layout(str(out), layout), options or RunOptions()
    engine = options.engine(settings.reset_counts_every, "--reset-counts-every 0 makes one window of all scenes")
    one_of = parse_shard(shard) if shard else None
    inputs = (scenes, *files.inputs, *disjoint_from)
    if report_to:
        check_output(report_to, options.resume or options.force, (*inputs, *names_of(out, layout)))
    with claimed(out, layout, resume=options.resume, force=options.force, inputs=inputs) as claim:
        job = question_job(scenes, files, settings, form, one_of, disjoint_from)
        skipped = skipped_templates(job.materials, job.settings)
        warn_skipped(skipped)
        report = Report(job.settings, [bad.id for bad in skipped])

        def finish(came: RunResult) -> None:
            report.finish(came, job.materials.templates, form.dialect)
            if report_to and came.is_known:
                report.write(report_to)
            elif report_to:
                tell_that_nothing_is_known(out, report_to)

        choose = partial(Selection, job.settings, bool(job.share)) if is_needed(job.settings) else None
        output = Output(out, layout, job.info(), Columns(form), choose)
        run(job, engine, output, claim, report.add, on_progress, finish)
    return report


def write_scenes(
    out: PathLike,
    settings: SamplingSettings,
    files: DomainFiles | None = None,
    *,
    options: RunOptions | None = None,
    shard: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> RunResult:
    """Draw scenes by the rules in a domain's metadata, and write them to `out`. Raises VqagenError."""
    files, options, out = files or find_domain(), options or RunOptions(), str(out)
    layout, engine = chosen_layout(out, None), options.engine(WINDOW)
    job = sampling_job(files, settings, parse_shard(shard) if shard else None)
    with claimed(out, layout, resume=options.resume, force=options.force, inputs=files.inputs) as claim:
        return run(job, engine, Output(out, layout, job.info()), claim, on_progress=on_progress)


def merge(
    shards: Sequence[PathLike],
    out: PathLike,
    *,
    layout: str | None = None,
    force: bool = False,
    on_merged: Callable[[int], object] = lambda _: None,
) -> MergeResult:
    """Write what one run would have written in place of its shards; see `run.merge`."""
    return merge_shards(shards, str(out), layout=layout, force=force, select=_select_again, on_merged=on_merged)


def _select_again(generator: Mapping[str, Any], are_shards: bool) -> Keep | None:
    """The selection that the settings in an `info` ask for. No task but the question generator selects."""
    if generator["arrangement"]["key"] != "questions":
        return None
    recorded = generator["settings"]
    settings = Settings(**{name: recorded[name] for name in Settings.names() if name in recorded})
    if not is_needed(settings):
        return None
    if must_know_of_shards(settings) and not are_shards:
        raise UsageError(
            "--dedupe all and --max-per-template together choose from the whole output: make shards with --shard K/N"
        )
    return Selection(settings).keeps
