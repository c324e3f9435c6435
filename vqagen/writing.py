"""Outputs from start to end: what `vqagen generate`, `vqagen scenes sample` and `vqagen merge` do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from vqagen.errors import UsageError
from vqagen.exchange.clevr import RecordForm
from vqagen.exchange.columns import Columns
from vqagen.files import check_output
from vqagen.jobs.questions import question_job
from vqagen.jobs.report import Report, tell_that_nothing_is_known
from vqagen.jobs.sampling import WINDOW, sampling_job
from vqagen.materials import DomainFiles, PathLike, find_domain
from vqagen.run.claim import claimed
from vqagen.run.means import Means
from vqagen.run.merge import Merged
from vqagen.run.merge import merge as merge_shards
from vqagen.run.output import Keep, Output, chosen_layout, names_of
from vqagen.run.progress import OnProgress
from vqagen.run.runner import Came, run
from vqagen.run.shards import parse_shard
from vqagen.tasks.selection import Selection, is_needed, must_know_of_shards
from vqagen.tasks.settings import SamplingSettings, Settings


def write_questions(
    scenes: PathLike,
    out: PathLike,
    files: DomainFiles | None = None,
    settings: Settings | None = None,
    form: RecordForm | None = None,
    *,
    layout: str | None = None,
    means: Means | None = None,
    shard: str | None = None,
    disjoint_from: Sequence[PathLike] = (),
    report_to: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> Report:
    """Make questions about the scenes of a file or folder, and write them to `out` with the `info` that made them.

    Whatever ends it early, `Means(resume=True)` goes on with what was made. The report goes to `report_to` too, as
    JSON, but for an output that was complete long ago. Raises VqagenError.
    """
    files, settings, form = files or find_domain(), settings or Settings(), form or RecordForm()
    out, layout, means = str(out), chosen_layout(str(out), layout), means or Means()
    engine = means.engine(settings.reset_counts_every, "--reset-counts-every 0 makes one window of all scenes")
    one_of = parse_shard(shard) if shard else None
    inputs = (scenes, *files.inputs, *disjoint_from)
    if report_to:
        check_output(report_to, means.resume or means.force, (*inputs, *names_of(out, layout)))
    with claimed(out, layout, resume=means.resume, force=means.force, inputs=inputs) as claim:
        job = question_job(scenes, files, settings, form, one_of, disjoint_from)
        report = Report(job.settings)

        def finish(came: Came) -> None:
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
    means: Means | None = None,
    shard: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> Came:
    """Draw scenes by the rules in a domain's metadata, and write them to `out`. Raises VqagenError."""
    files, means, out = files or find_domain(), means or Means(), str(out)
    layout, engine = chosen_layout(out, None), means.engine(WINDOW)
    job = sampling_job(files, settings, parse_shard(shard) if shard else None)
    with claimed(out, layout, resume=means.resume, force=means.force, inputs=files.inputs) as claim:
        return run(job, engine, Output(out, layout, job.info()), claim, on_progress=on_progress)


def merge(
    shards: Sequence[PathLike],
    out: PathLike,
    *,
    layout: str | None = None,
    force: bool = False,
    on_merged: Callable[[int], object] = lambda _: None,
) -> Merged:
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
