"""Questions about scenes as typed calls: written to files, or one after the other in this process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vqagen.calls.keyword_settings import make_settings, shows_settings
from vqagen.errors import UsageError
from vqagen.files.locations import paths_of
from vqagen.files.source import RecordSource
from vqagen.language.domain_files import QUESTIONS, DomainFiles, LoadedDomain, PathLike, find_domain
from vqagen.language.question import Question
from vqagen.run.options import RunOptions
from vqagen.run.progress import OnProgress
from vqagen.run.windows import Span, span_to_read, windows_of
from vqagen.run.writing import write_records
from vqagen.tasks.questions.exclusion import Exclusion, QuestionSelection
from vqagen.tasks.questions.generator import QuestionGenerator
from vqagen.tasks.questions.report import QuestionReport, Tally
from vqagen.tasks.questions.settings import QuestionSettings, RecordForm, load_families, warn_skipped
from vqagen.tasks.questions.task import question_task, questions_about
from vqagen.world.loading import (
    SceneSource,
    SceneText,
    UnreadableScene,
    find_scenes,
    given_scene_texts,
    scene_texts,
    warn_repeats,
)
from vqagen.world.scene import Scene


def write_questions(
    scenes: PathLike,
    out: PathLike,
    files: DomainFiles | None = None,
    settings: QuestionSettings | None = None,
    form: RecordForm | None = None,
    *,
    format: str | None = None,
    options: RunOptions | None = None,
    shard: str | None = None,
    disjoint_from: PathLike | Sequence[PathLike] = (),
    report_to: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> QuestionReport:
    """Make questions about the scenes of a file or folder, and write them to `out`; see `write_records`.

    Nothing is asked that has its text or its program in common with the questions of `disjoint_from`.
    """
    excluded = paths_of(disjoint_from)
    task = question_task(files or find_domain(), settings or QuestionSettings(), form or RecordForm(), excluded)
    report = write_records(
        task, out, scenes, format=format, options=options, shard=shard, report_to=report_to, on_progress=on_progress
    )
    assert isinstance(report, QuestionReport)
    return report


@shows_settings(QuestionSettings)
def generate(
    scenes: PathLike | Iterable[Mapping[str, Any]],
    *,
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    templates: PathLike | None = None,
    synonyms: PathLike | None = None,
    plugins: PathLike | Sequence[PathLike] = (),
    **settings: Any,
) -> Iterator[Question]:
    """Yield questions about the scenes of a file or folder, or about scene records, as `vqagen generate` makes them.

    `settings` are the fields of `QuestionSettings`, such as seed, count or templates_per_image. Raises VqagenError
    before the first question for anything that is wrong with what was given, and while reading for a scene that is.
    """
    chosen = make_settings(QuestionSettings, settings)
    files = find_domain(
        domain, metadata=metadata, templates=templates, synonyms=synonyms, plugins=plugins, task=QUESTIONS
    )
    loaded = load_families(files, chosen)
    warn_skipped(loaded.skipped)
    run = Generation(scenes_of(scenes), loaded, chosen)
    made = (question for _, questions in run.by_scene() for question in questions)
    return filter(QuestionSelection().keeps_question, made) if chosen.dedupe == "all" else made


class Generation:
    """A run of the question generator in this process: `by_scene` makes the questions, `tally` counts what happens."""

    def __init__(
        self,
        scenes: SceneSource | Iterable[Mapping[str, Any]],
        loaded: LoadedDomain,
        settings: QuestionSettings,
        exclusion: Exclusion | None = None,
    ) -> None:
        """Load nothing yet. `scenes`: of a file, or records. `exclusion`: what must not be asked."""
        self.scenes, self.loaded, self.settings = scenes, loaded, settings
        self.generator = QuestionGenerator(loaded.templates, loaded.synonyms, settings, exclusion=exclusion)
        self.tally = Tally()

    def by_scene(self) -> Iterator[tuple[Scene, list[Question]]]:
        """Yield each scene of the run, in order, with its questions."""
        settings, domain = self.settings, self.loaded.domain
        first, size = settings.start_index, settings.reset_counts_every
        texts = texts_of(self.scenes, span_to_read(first, settings.count, size, settings.reads_ahead))
        with unreadable_located(self.scenes):
            for window in windows_of(texts, size):
                yield from questions_about(window, domain, self.generator, self.tally, first)


def texts_of(scenes: SceneSource | Iterable[Mapping[str, Any]], span: Span) -> Iterator[SceneText]:
    """Yield the scenes of a file, or given records, as texts."""
    if not isinstance(scenes, RecordSource):
        return given_scene_texts(scenes, *span)
    return warn_repeats(scene_texts(scenes, *span), scenes, span.first)


@contextmanager
def unreadable_located(scenes: SceneSource | Iterable[Mapping[str, Any]]) -> Iterator[None]:
    """Say of a scene that cannot be read where in its file it is."""
    try:
        yield
    except UnreadableScene as unreadable:
        assert isinstance(scenes, RecordSource)  # a record that was given can be read
        scenes.raise_unreadable(unreadable.index)


def scenes_of(scenes: PathLike | Iterable[Mapping[str, Any]]) -> SceneSource | Iterable[Mapping[str, Any]]:
    """Return scenes to read from a file or folder, or the records that are given. UsageError for anything else."""
    if isinstance(scenes, str | Path):
        return find_scenes(scenes)
    if isinstance(scenes, Mapping) or not isinstance(scenes, Iterable):
        raise UsageError("scenes must be a file, a folder or a list of scene records, such as document['scenes']")
    return scenes
