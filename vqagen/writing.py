"""Question files from start to end: what `vqagen generate` and `vqagen merge` do."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import orjson

from vqagen.errors import UsageError
from vqagen.exchange.clevr import RecordForm
from vqagen.exchange.columns import Columns
from vqagen.exchange.question_files import read_questions
from vqagen.files import atomic_output, require
from vqagen.generation import Part, QuestionJob, generation_info, telling_places
from vqagen.locations import Location, locate
from vqagen.materials import DomainFiles, PathLike, find_domain, load_materials
from vqagen.run.means import Means
from vqagen.run.merge import Merged
from vqagen.run.merge import merge as merge_shards
from vqagen.run.output import Keep, Output, check_record_file, layout_of
from vqagen.run.progress import OnProgress, Progress
from vqagen.run.runner import Made, check_place, is_complete, run
from vqagen.run.shards import cut, parse_shard
from vqagen.run.windows import Span
from vqagen.run.work import Engine
from vqagen.tasks.exclusion import Exclusion
from vqagen.tasks.selection import Selection, is_needed, must_know_of_shards
from vqagen.tasks.settings import Settings
from vqagen.tasks.tally import Tally
from vqagen.world.loading import SceneSource, find_scenes


@dataclass
class Report:
    """What a run came to."""

    settings: Settings
    tally: Tally = field(default_factory=Tally)
    questions: int = 0
    """In the output; those that a selection left out do not count."""
    was_complete: bool = False
    """Whether there was nothing to do."""
    resumed_scenes: int = 0
    """Scenes that an earlier run had done."""
    seconds: float = 0.0

    def to_record(self) -> dict[str, Any]:
        """For JSON. All but `run` is the same for the same settings and inputs."""
        tally = self.tally
        return {
            "questions": self.questions,
            "scenes": tally.scenes,
            "short_scenes": tally.short_scenes,
            "families": {
                family: {
                    "questions": tally.questions[family],
                    "tries": tries,
                    "failures": dict(tally.failures_of(family)),
                }
                for family, tries in tally.tries.items()
            },
            "settings": self.settings.to_record(),
            "run": {
                "was_complete": self.was_complete,
                "resumed_scenes": self.resumed_scenes,
                "seconds": round(self.seconds, 3),
            },
        }

    def write(self, out: str) -> None:
        """Into a file, in place of what it holds."""
        with atomic_output(out) as file:
            file.write(orjson.dumps(self.to_record(), option=orjson.OPT_INDENT_2) + b"\n")


def write_questions(
    scenes: PathLike,
    out: str,
    files: DomainFiles | None = None,
    settings: Settings | None = None,
    form: RecordForm | None = None,
    *,
    layout: str | None = None,
    means: Means | None = None,
    shard: str | None = None,
    disjoint_from: Sequence[PathLike] = (),
    on_made: OnProgress = lambda _: None,
) -> Report:
    """Make questions about the scenes of a file or folder, and write them to `out` with the `info` that made them.

    Whatever ends it early, `Means(resume=True)` goes on with what was made. Raises VqagenError.
    """
    files, settings, form = files or find_domain(), settings or Settings(), form or RecordForm()
    means, layout = means or Means(), layout or layout_of(out)
    form.writer()
    engine = means.engine(settings.reset_counts_every)
    check_record_file(out, layout, means.force or means.resume, (scenes, *files.inputs, *disjoint_from))
    check_place(out, means.resume, means.force)
    materials = load_materials(files)
    source = find_scenes(scenes)
    excluded = [require(locate(path), "questions") for path in disjoint_from]
    part = _part(shard, source, settings) if shard else None
    settings = part.of(settings) if part else settings
    stamp = source.stamp()
    info = generation_info(source, materials, settings, form, part, excluded)
    output = Output(out, layout, info, Columns(**vars(form)), _selection(settings, bool(part)))
    report = Report(settings)
    if means.resume and is_complete(output):
        return replace(report, was_complete=True)
    job = QuestionJob(source, files, materials, settings, form, output.encode, _exclusion(excluded), stamp)
    return _run(job, telling_places(engine, source), output, report, means.resume, on_made)


def _part(text: str, source: SceneSource, settings: Settings) -> Part:
    shard, whole = parse_shard(text), Span(settings.start_index, settings.count)
    there = source.count(whole.first, whole.length)
    return Part(shard, whole, cut(shard, whole, there, settings.reset_counts_every))


def _exclusion(paths: Sequence[Location]) -> Exclusion | None:
    sets = [Exclusion.from_records(read_questions(path), str(path)) for path in paths]
    return reduce(Exclusion.joined, sets) if sets else None


def _selection(settings: Settings, is_shard: bool) -> Callable[[], Keep] | None:
    return (lambda: Selection(settings, is_shard).keeps) if is_needed(settings) else None


def _run(job: QuestionJob, engine: Engine, output: Output, report: Report, resume: bool, on_made: OnProgress) -> Report:
    begun, progress = time.monotonic(), Progress()

    def count(made: Made) -> None:
        report.tally.add(Tally.from_record(made.tally))
        progress.add(made)
        progress.expected = job.expected_scenes()
        on_made(progress)

    questions = run(job, engine, output, count, resume)
    seconds = time.monotonic() - begun
    return replace(report, questions=questions, resumed_scenes=progress.resumed_items, seconds=seconds)


def merge(
    shards: Sequence[PathLike],
    out: str,
    *,
    layout: str | None = None,
    force: bool = False,
    on_merged: Callable[[int], object] = lambda _: None,
) -> Merged:
    """Write what one run would have written in place of its shards; see `run.merge`."""
    return merge_shards(shards, out, layout=layout, force=force, select=_select_again, on_merged=on_merged)


def _select_again(recorded: Mapping[str, Any], are_shards: bool) -> Keep | None:
    """The selection that the settings in an `info` ask for."""
    settings = Settings(**{name: recorded[name] for name in Settings.names() if name in recorded})
    if not is_needed(settings):
        return None
    if must_know_of_shards(settings) and not are_shards:
        raise UsageError(
            "--dedupe all and --max-per-template together choose from the whole output: make shards with --shard K/N"
        )
    return Selection(settings).keeps
