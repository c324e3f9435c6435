"""The typed Python functions of each task: `write_…` make a file, the others yield records in this process."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from vqagen.errors import UsageError, unknown
from vqagen.files.locations import paths_of
from vqagen.files.records import RecordSource
from vqagen.language.domain_files import (
    DIALOGS,
    QUESTIONS,
    DomainFiles,
    LoadedDomain,
    PathLike,
    find_domain,
    load_catalogue,
)
from vqagen.language.question import Question
from vqagen.run.job import Job
from vqagen.run.options import RunOptions
from vqagen.run.runner import OnProgress, write_records
from vqagen.run.windows import Span, span_to_read, windows_of
from vqagen.tasks.contract import RunReport, Task
from vqagen.tasks.questions.exclusion import Exclusion, Screen
from vqagen.tasks.questions.family import QuestionTally
from vqagen.tasks.questions.generator import QuestionGenerator, load_families, warn_skipped
from vqagen.tasks.questions.settings import QuestionSettings, RecordForm
from vqagen.tasks.questions.task import QuestionReport, question_task, questions_about
from vqagen.tasks.settings import RunSettings, Setting, setting_of
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

if TYPE_CHECKING:  # a call loads its own task alone
    from vqagen.tasks.dialog.settings import DialogSettings
    from vqagen.tasks.dialog.task import DialogReport
    from vqagen.tasks.director.settings import DirectorSettings
    from vqagen.tasks.rendering.settings import PictureSettings
    from vqagen.tasks.sampling.settings import SamplingSettings

S = TypeVar("S", bound=RunSettings)
Scenes = SceneSource | Iterable[Mapping[str, Any]]
GivenScenes = PathLike | Scenes
"""A file or folder, what `find_scenes` found there, or scene records."""


# Settings as keyword arguments ------------------------------------------------------------------------------------


def show_settings(function: Callable[..., Any], kind: type[RunSettings]) -> None:
    """Let `help` and editors show the settings that a function takes as keywords: defaults, and what each does."""
    if "settings" not in (signature := inspect.signature(function)).parameters:
        return
    lines = [line for field in fields(kind) for line in _item(field.name, setting_of(field))]
    function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__ or ""), "", *lines])
    named = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    settings = [one.replace(kind=one.KEYWORD_ONLY) for one in inspect.signature(kind).parameters.values()]
    function.__signature__ = signature.replace(parameters=[*named, *settings])  # type: ignore[attr-defined]


def _item(name: str, described: Setting) -> list[str]:
    """Return the lines of a setting in a list, as `help` prints and Sphinx reads it."""
    from textwrap import wrap  # not needed to make questions

    choices = f" One of {', '.join(described.choices)}." if described.choices else ""
    return wrap(f"{name}: {described.help}{choices}", 100, initial_indent="* ", subsequent_indent="  ")


def make_settings(kind: type[S], given: Mapping[str, Any]) -> S:
    """Return settings from keyword arguments. An unknown name is a UsageError that gives the nearest one."""
    known = kind.names()
    wrong = [unknown("setting", name, known) for name in given if name not in known]
    if wrong:
        raise UsageError("\n".join(wrong))
    return kind(**given)


# Questions -------------------------------------------------------------------------------------------------------


def write_questions(
    scenes: GivenScenes,
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
    """Make questions about scenes, given as for `generate`, and write them to `out`; see `write_records`.

    Questions that share their text or program with a question in the files `disjoint_from` are rejected.
    """
    excluded = paths_of(disjoint_from)
    task = question_task(files or find_domain(), settings or QuestionSettings(), form or RecordForm(), excluded)
    given: dict[str, Any] = {"format": format, "options": options, "shard": shard, "report_to": report_to}
    with scene_file(scenes) as file:
        report = write_records(task, out, file, **given, on_progress=on_progress)
    assert isinstance(report, QuestionReport)
    return report


def generate(
    scenes: GivenScenes,
    *,
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    templates: PathLike | None = None,
    synonyms: PathLike | None = None,
    plugins: PathLike | Sequence[PathLike] = (),
    **settings: Any,
) -> Iterator[Question]:
    """Yield questions about the scenes of a file or folder, or about scene records, as `vqagen generate` makes them.

    Each is its record too: `verify`, `evaluate`, `audit` and `show_file` take them, and
    `datasets.Dataset.from_generator(vqagen.generate, gen_kwargs={"scenes": "scenes.json"})` makes rows of them.

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
    screen = Screen(chosen.dedupe if chosen.dedupe == "all" else "none")
    kept = (question for question in made if not screen.refusal(question))
    return (replace(question, question_index=index) for index, question in enumerate(kept))


class Generation:
    """A run of the question generator in this process: `by_scene` makes the questions, `tally` counts what happens."""

    def __init__(
        self,
        scenes: Scenes,
        loaded: LoadedDomain,
        settings: QuestionSettings,
        exclusion: Exclusion | None = None,
    ) -> None:
        """`scenes`: a file's, or records; read by `by_scene`. `exclusion`: the questions to reject."""
        self.scenes, self.loaded, self.settings = scenes, loaded, settings
        self.generator = QuestionGenerator(loaded.templates, loaded.synonyms, settings, exclusion=exclusion)
        self.tally = QuestionTally()

    def by_scene(self) -> Iterator[tuple[Scene, list[Question]]]:
        """Yield each scene of the run, in order, with its questions."""
        settings, domain = self.settings, self.loaded.domain
        first, size = settings.start_index, settings.reset_counts_every
        texts = texts_of(self.scenes, span_to_read(first, settings.count, size, settings.reads_ahead))
        with _located_unreadable(self.scenes):
            for window in windows_of(texts, size):
                yield from questions_about(window, domain, self.generator, self.tally, first)


# Dialogs ---------------------------------------------------------------------------------------------------------


def write_dialogs(
    scenes: GivenScenes,
    out: PathLike,
    files: DomainFiles | None = None,
    settings: DialogSettings | None = None,
    *,
    format: str | None = None,
    options: RunOptions | None = None,
    shard: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> DialogReport:
    """Make dialogs about scenes, given as for `generate`, and write them to `out`; see `write_records`."""
    from vqagen.tasks.dialog.settings import DialogSettings
    from vqagen.tasks.dialog.task import DialogReport, dialog_task

    task = dialog_task(files or find_domain(task=DIALOGS), settings or DialogSettings())
    given: dict[str, Any] = {"format": format, "options": options, "shard": shard}
    with scene_file(scenes) as file:
        report = write_records(task, out, file, **given, on_progress=on_progress)
    assert isinstance(report, DialogReport)
    return report


def dialogs(
    scenes: GivenScenes,
    *,
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    templates: PathLike | None = None,
    synonyms: PathLike | None = None,
    plugins: PathLike | Sequence[PathLike] = (),
    **settings: Any,
) -> Iterator[dict[str, Any]]:
    """Yield the records of dialogs about scenes, given as for `generate`, as `vqagen dialog` writes them.

    `settings` are the fields of `DialogSettings`, such as seed, rounds or dialogs_per_image. A scene that has fewer
    dialogs than asked for yields fewer; `write_dialogs` reports why. Raises VqagenError as `generate` does.
    """
    from vqagen.tasks.dialog.settings import DialogSettings
    from vqagen.tasks.dialog.task import dialog_task

    chosen = make_settings(DialogSettings, settings)
    files = find_domain(
        domain, metadata=metadata, templates=templates, synonyms=synonyms, plugins=plugins, task=DIALOGS
    )
    return records_of(dialog_task(files, chosen), scenes_of(scenes))


# Scenes ----------------------------------------------------------------------------------------------------------


def write_scenes(
    out: PathLike,
    settings: SamplingSettings,
    files: DomainFiles | None = None,
    *,
    format: str | None = None,
    options: RunOptions | None = None,
    shard: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> RunReport:
    """Draw scenes by the rules in a domain's metadata, and write them to `out`; see `write_records`."""
    from vqagen.tasks.sampling.task import SamplingTask  # loads numpy, which questions do not need

    task = SamplingTask(settings, files or find_domain())
    return write_records(task, out, format=format, options=options, shard=shard, on_progress=on_progress)


def sample_scenes(
    count: int,
    *,
    seed: int = 0,
    start_index: int = 0,
    split: str = "sample",
    condition: str = "",
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    plugins: PathLike | Sequence[PathLike] = (),
) -> Iterable[dict[str, Any]]:
    """Return scene records drawn by the rules in a domain's metadata (default: CLEVR's), without pictures.

    `condition` names one of the domain's sampling conditions, which restricts values that go together.
    """
    from vqagen.world.sampler import sample_scenes as sample_scene_records
    from vqagen.world.sampling_rules import SamplingRules

    catalogue, _ = load_catalogue(find_domain(domain, metadata=metadata, plugins=plugins))
    return sample_scene_records(SamplingRules.from_domain(catalogue.domain, condition), seed, start_index, count, split)


# Pictures --------------------------------------------------------------------------------------------------------


def write_pictures(
    scenes: PathLike,
    out: PathLike,
    files: DomainFiles | None = None,
    settings: PictureSettings | None = None,
    *,
    format: str | None = None,
    options: RunOptions | None = None,
    shard: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> RunReport:
    """Make the pictures of the scenes of a file or folder, and write them to the folder `out`; see `write_records`.

    `scenes.json` there holds the scenes again, each with its camera and, for each object, its box and mask; `images`
    has the pictures.
    """
    from vqagen.tasks.rendering.settings import PictureSettings
    from vqagen.tasks.rendering.task import picture_task  # loads numpy

    task = picture_task(str(scenes), settings or PictureSettings(), files or find_domain())
    return write_records(task, out, scenes, format=format, options=options, shard=shard, on_progress=on_progress)


# Trials ----------------------------------------------------------------------------------------------------------


def write_trials(
    out: PathLike,
    settings: DirectorSettings,
    *,
    catalogue: PathLike | None = None,
    templates: PathLike | None = None,
    format: str | None = None,
    options: RunOptions | None = None,
    shard: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> RunReport:
    """Make director trials with items of a catalogue, and write them to the folder `out`; see `write_records`."""
    from vqagen.tasks.director.task import director_task  # loads numpy

    task = director_task(settings, catalogue, templates)
    return write_records(task, out, format=format, options=options, shard=shard, on_progress=on_progress)


def trials(
    *, catalogue: PathLike | None = None, templates: PathLike | None = None, **settings: Any
) -> Iterator[dict[str, Any]]:
    """Yield the records of director trials as `vqagen director generate` makes them, without pictures.

    `settings` are the fields of `DirectorSettings`: count, and others such as seed, width or paired. Raises VqagenError
    before the first trial for a design that cannot be made.
    """
    from vqagen.tasks.director.settings import DirectorSettings
    from vqagen.tasks.director.task import director_task

    chosen = make_settings(DirectorSettings, {"render": ("none",), **settings})
    return records_of(director_task(chosen, catalogue, templates))


# In this process -------------------------------------------------------------------------------------------------


def records_of(task: Task, scenes: Scenes = ()) -> Iterator[dict[str, Any]]:
    """Yield the records of a task, numbered as its output numbers them. `scenes` are for a task that reads scenes."""
    make, span = task.load(task.hashes()), Span(task.settings.start_index, task.settings.count)
    if task.reads_scenes:
        windows = windows_of(texts_of(scenes, span_to_read(*span, task.window, task.reads_ahead)), task.window)
    else:
        windows = Job(task, span).windows(span.first)
    made = (of_item for window in windows for of_item in make(window, span.first, task.tally()))
    with _located_unreadable(scenes):
        for number, record in enumerate(record for of_item in made for record in of_item.records):
            yield {**record, task.number_key: number} if task.number_key else dict(record)


def texts_of(scenes: Scenes, span: Span) -> Iterator[SceneText]:
    """Yield the scenes of a file, or given records, as texts."""
    if not isinstance(scenes, RecordSource):
        return given_scene_texts(scenes, *span)
    return warn_repeats(scene_texts(scenes, *span), scenes, span.first)


@contextmanager
def _located_unreadable(scenes: Scenes) -> Iterator[None]:
    """Raise the error of a scene that cannot be read with its place in the file."""
    try:
        yield
    except UnreadableScene as unreadable:
        assert isinstance(scenes, RecordSource)  # a record that was given can be read
        scenes.raise_unreadable(unreadable.index)


@contextmanager
def scene_file(scenes: GivenScenes) -> Iterator[PathLike]:
    """Yield a file of scenes; for records, a temporary one: `info` names scenes by the content of their file."""
    given = scenes if isinstance(scenes, str | Path) else scenes_of(scenes)
    if isinstance(given, str | Path | RecordSource):
        yield str(given.path) if isinstance(given, RecordSource) else given
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "scenes.jsonl"
        path.write_bytes(b"".join(scene.text + b"\n" for scene in given_scene_texts(given)))
        yield path


def scenes_of(scenes: GivenScenes) -> Scenes:
    """Return scenes to read from a file or folder, or the records that are given. UsageError for anything else."""
    if isinstance(scenes, str | Path):
        return find_scenes(scenes)
    if isinstance(scenes, RecordSource):
        return scenes
    if isinstance(scenes, Mapping) or not isinstance(scenes, Iterable):
        raise UsageError("scenes must be a file, a folder or a list of scene records, such as document['scenes']")
    return scenes
