"""Question files from start to end: what `vqagen generate` and `vqagen merge` do."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import orjson

from vqagen.errors import Problem, UsageError, counted, warn
from vqagen.exchange.clevr import RecordForm
from vqagen.exchange.columns import Columns
from vqagen.exchange.question_files import read_questions
from vqagen.files import atomic_output, check_output, require
from vqagen.generation import Part, QuestionJob, generation_info, telling_places
from vqagen.language.template import Template
from vqagen.locations import Location, locate
from vqagen.materials import DomainFiles, PathLike, find_domain, load_materials
from vqagen.run.journal import left_behind
from vqagen.run.means import Means
from vqagen.run.merge import Merged
from vqagen.run.merge import merge as merge_shards
from vqagen.run.output import Keep, Output, check_record_file, chosen_layout, names_of
from vqagen.run.progress import OnProgress, Progress
from vqagen.run.runner import Made, check_place, is_complete, run
from vqagen.run.shards import cut, parse_shard
from vqagen.run.windows import Span
from vqagen.tasks.exclusion import Exclusion
from vqagen.tasks.selection import Selection, TemplateKey, is_needed, must_know_of_shards
from vqagen.tasks.settings import Settings
from vqagen.tasks.tally import Tally
from vqagen.world.loading import SceneSource, find_scenes


@dataclass
class Report:
    """What a run came to."""

    settings: Settings
    tally: Tally = field(default_factory=Tally)
    """Of what was made, before anything was left out of the whole."""
    questions: int = 0
    """In the output."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Family -> questions that were made and are not in the output."""
    emptied_scenes: int = 0
    """Scenes that lost all their questions so."""
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
            "emptied_scenes": self.emptied_scenes,
            "families": {
                family: {
                    "questions": tally.questions[family] - self.left_out[family],
                    "left_out": self.left_out[family],
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
    JSON, but for a run that had nothing to do. Raises VqagenError.
    """
    files, settings, form = files or find_domain(), settings or Settings(), form or RecordForm()
    out, means = str(out), means or Means()
    layout, replaces = chosen_layout(out, layout), means.force or means.resume
    engine = means.engine(settings.reset_counts_every)
    inputs = (scenes, *files.inputs, *disjoint_from)
    check_record_file(out, layout, replaces, inputs)
    check_place(out, means.resume, means.force)
    if report_to:
        check_output(report_to, replaces, (*inputs, *names_of(out, layout)))
    materials = load_materials(files)
    source = find_scenes(scenes)
    excluded = [require(locate(path), "questions") for path in disjoint_from]
    part = _part(shard, source, settings) if shard else None
    settings = part.of(settings) if part else settings
    stamp = source.stamp()
    info = generation_info(source, materials, settings, form, part, excluded)
    selecting = _Selecting(settings, bool(part), form.dialect, materials.templates) if is_needed(settings) else None
    output = Output(out, layout, info, Columns(**vars(form)), selecting)
    report = Report(settings)
    if means.resume and is_complete(output):
        return _of_complete(report, output, report_to)
    job = QuestionJob(source, files, materials, settings, form, output.encode, _exclusion(excluded), stamp)
    begun, progress = time.monotonic(), Progress()

    def count(made: Made) -> None:
        report.tally.add(Tally.from_record(made.tally))
        progress.add(made)
        progress.expected = job.expected_scenes()
        on_progress(progress)

    def complete(questions: int) -> None:
        report.questions, report.resumed_scenes = questions, progress.resumed_items
        report.seconds = time.monotonic() - begun
        if selecting:
            report.left_out, report.emptied_scenes = selecting.left_out(report.tally), selecting.emptied_scenes()
        if report_to:
            report.write(report_to)

    run(job, telling_places(engine, source), output, count, means.resume, complete)
    return report


def _part(text: str, source: SceneSource, settings: Settings) -> Part:
    shard, whole = parse_shard(text), Span(settings.start_index, settings.count)
    there = source.count(whole.first, whole.length)
    return Part(shard, whole, cut(shard, whole, there, settings.reset_counts_every))


def _exclusion(paths: Sequence[Location]) -> Exclusion | None:
    sets = [_read_exclusion(path) for path in paths]
    return reduce(Exclusion.joined, sets) if sets else None


def _read_exclusion(path: Location) -> Exclusion:
    hidden = 0

    def records() -> Iterator[Mapping[str, Any]]:
        nonlocal hidden
        for record in read_questions(path):
            hidden += "program" not in record
            yield record

    exclusion = Exclusion.from_records(records(), str(path))
    if hidden:
        questions = counted(hidden, "question")
        warn(Problem(f"{questions} without a program: only the text of such a question is not asked again", str(path)))
    return exclusion


class _Selecting:
    """Makes the selection of a run's whole output, and tells afterwards what it left out."""

    def __init__(self, settings: Settings, is_shard: bool, dialect: str, templates: Sequence[Template]) -> None:
        self._settings, self._is_shard = settings, is_shard
        self._key_of = {template.id: _template_key(template, dialect) for template in templates}
        self._last = Selection(settings, is_shard)

    def __call__(self) -> Keep:
        """What to ask of each record, from the first on."""
        self._last = Selection(self._settings, self._is_shard)
        return self._last.keeps

    def left_out(self, made: Tally) -> Counter[str]:
        """Family -> questions that were made and did not stay."""
        kept = self._last.kept
        return Counter({family: count - kept[self._key_of[family]] for family, count in made.questions.items()})

    def emptied_scenes(self) -> int:
        """Scenes of which no question stayed."""
        return self._last.scenes - self._last.scenes_left


def _template_key(template: Template, dialect: str) -> TemplateKey:
    return ("", template.family) if dialect == "release" else (template.file, template.index)


def _of_complete(report: Report, output: Output, report_to: str | None) -> Report:
    """Of an output that is there already, which cannot be counted again, unless the run was killed at its very end."""
    entries = left_behind(output.place)
    for entry in entries:
        report.tally.add(Tally.from_record(entry.tally))
        report.questions += entry.records
    report.was_complete = True
    if report_to and entries and output.select is None:
        report.write(report_to)
    elif report_to and not locate(report_to).exists():
        said = "was complete already, and what was tried for it is not known any more: no report is written"
        warn(Problem(said, output.target))
    return report


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
