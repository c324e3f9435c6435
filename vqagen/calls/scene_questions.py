"""Questions about scenes as typed calls: written to files, one after the other, or as a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from vqagen.calls.keyword_settings import make_settings, shows_settings
from vqagen.calls.question_dataset import Generation, QuestionDataset, scenes_of
from vqagen.files.locations import paths_of
from vqagen.language.domain_files import DomainFiles, PathLike, find_domain
from vqagen.language.question import Question
from vqagen.language.shipped_domains import QUESTIONS
from vqagen.run.options import RunOptions
from vqagen.run.progress import OnProgress
from vqagen.run.writing import write_records
from vqagen.tasks.questions.family_choice import load_families, warn_skipped
from vqagen.tasks.questions.report import QuestionReport
from vqagen.tasks.questions.selection import QuestionSelection
from vqagen.tasks.questions.settings import QuestionSettings, RecordForm
from vqagen.tasks.questions.task import question_task


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


@shows_settings(QuestionSettings)
def dataset(
    scenes: PathLike | Iterable[Mapping[str, Any]],
    *,
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    templates: PathLike | None = None,
    synonyms: PathLike | None = None,
    plugins: PathLike | Sequence[PathLike] = (),
    marks: bool = False,
    **settings: Any,
) -> QuestionDataset:
    """Return a map-style dataset: item i is the list of questions about the i-th scene, in any order of access.

    It can be pickled, so that a PyTorch DataLoader with workers can use it; `dataset(...).questions` has the questions
    one by one. The questions are those of `generate` with the same arguments; with `marks`, they say where their text
    mentions objects.
    """
    chosen = make_settings(QuestionSettings, settings)
    files = find_domain(
        domain, metadata=metadata, templates=templates, synonyms=synonyms, plugins=plugins, task=QUESTIONS
    )
    return QuestionDataset(scenes_of(scenes), files, chosen, marks)
