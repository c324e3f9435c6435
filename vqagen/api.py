"""The Python API: the commands as typed calls, and the types that they take and return."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vqagen.auditing import audit, write_audit_page
from vqagen.baselines import BaselineFiles, baseline, baseline_ladder
from vqagen.comparison import compare
from vqagen.director_trials import export_trials, trial_design, trials, write_trials
from vqagen.draw.scene_pictures import draw_scenes
from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.evaluation import evaluate, score_report, write_item_scores
from vqagen.human.export.folder import ExportReport
from vqagen.human.links.settings import LinkSettings
from vqagen.human.scores.settings import ScoreSettings
from vqagen.human.scores.study_scores import StudyScores
from vqagen.human.server.settings import ServeSettings
from vqagen.human.simulation.raters import RaterSettings
from vqagen.human.simulation.visit import RehearsalSettings
from vqagen.human.status import StudyStatus
from vqagen.human.study.settings import PlanSettings
from vqagen.human.study.study import Study, load_study
from vqagen.human_answers import Forgotten, back_up_study, copy_store, export_study, forget, reclaim, study_status
from vqagen.human_rehearsal import rehearse_study
from vqagen.human_scoring import (
    import_humanr,
    rater_report,
    score_study,
    simulate_study,
    write_score_plots,
    write_simulated_answers,
)
from vqagen.human_serving import serve, verify_codes, write_links
from vqagen.human_studies import PlannedStudy, check_study, make_caption_tasks, make_item_tasks
from vqagen.inspect_tasks.logs import read_runs
from vqagen.inspect_tasks.report import EvaluationReport
from vqagen.judge.audit.audit import Audit
from vqagen.judge.audit.settings import AuditSettings
from vqagen.judge.baselines.settings import BaselineSettings
from vqagen.judge.comparison.comparison import Comparison
from vqagen.judge.dialogs.report import DialogVerificationReport
from vqagen.judge.stats.dialog_statistics import DialogStatistics
from vqagen.judge.stats.question_statistics import QuestionStatistics
from vqagen.judge.verification_report import Mismatch, VerificationReport
from vqagen.keyword_settings import make_settings, shows_settings
from vqagen.language.catalogue import Catalogue
from vqagen.language.domain_files import (
    DomainFiles,
    LoadedDomain,
    PathLike,
    find_domain,
    load_catalogue,
    load_domain_files,
)
from vqagen.language.loading import load_templates
from vqagen.language.program import Program
from vqagen.language.question import Question
from vqagen.language.shipped_domains import DIALOGS, QUESTIONS
from vqagen.plugin import Undefined
from vqagen.question_dataset import Generation, QuestionDataset, texts_of, unreadable_located
from vqagen.run.merging.convert import convert
from vqagen.run.merging.merge import MergeResult, merge
from vqagen.run.options import RunOptions
from vqagen.run.progress import OnProgress
from vqagen.run.windows import span_to_read, windows_of
from vqagen.run.writing import write_records
from vqagen.statistics import stats, write_stats_page
from vqagen.tasks.contract import Report, Task
from vqagen.tasks.dialog.report import DialogReport
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.dialog.task import dialog_task
from vqagen.tasks.director.settings import DirectorSettings
from vqagen.tasks.questions.family_choice import load_families, skipped_templates, warn_skipped
from vqagen.tasks.questions.report import QuestionReport
from vqagen.tasks.questions.selection import QuestionSelection
from vqagen.tasks.questions.settings import QuestionSettings, RecordForm
from vqagen.tasks.questions.task import question_task
from vqagen.tasks.sampling.settings import SamplingSettings
from vqagen.tasks.sampling.task import SamplingTask
from vqagen.verification import verify
from vqagen.world.domain import Domain, load_domain
from vqagen.world.loading import SceneSource, find_scenes, load_scenes
from vqagen.world.sampler import sample_scenes as sample_scene_records
from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.scene import Scene, compile_scene

__all__ = [
    "Audit",
    "AuditSettings",
    "BadInput",
    "BaselineFiles",
    "BaselineSettings",
    "Catalogue",
    "Comparison",
    "DialogReport",
    "DialogSettings",
    "DialogStatistics",
    "DialogVerificationReport",
    "DirectorSettings",
    "Domain",
    "DomainFiles",
    "EvaluationReport",
    "ExportReport",
    "Forgotten",
    "Generation",
    "LinkSettings",
    "LoadedDomain",
    "MergeResult",
    "Mismatch",
    "PlanSettings",
    "PlannedStudy",
    "Program",
    "Question",
    "QuestionDataset",
    "QuestionReport",
    "QuestionSettings",
    "QuestionStatistics",
    "RaterSettings",
    "RecordForm",
    "RehearsalSettings",
    "Report",
    "RunOptions",
    "SamplingSettings",
    "Scene",
    "SceneSource",
    "ScoreSettings",
    "ServeSettings",
    "Study",
    "StudyScores",
    "StudyStatus",
    "Undefined",
    "UsageError",
    "VerificationReport",
    "VqagenError",
    "audit",
    "back_up_study",
    "baseline",
    "baseline_ladder",
    "check_study",
    "compare",
    "compile_scene",
    "convert",
    "copy_store",
    "dataset",
    "dialogs",
    "draw_scenes",
    "evaluate",
    "export_study",
    "export_trials",
    "find_domain",
    "find_scenes",
    "forget",
    "generate",
    "import_humanr",
    "load_domain",
    "load_domain_files",
    "load_scenes",
    "load_study",
    "load_templates",
    "make_caption_tasks",
    "make_item_tasks",
    "merge",
    "rater_report",
    "reclaim",
    "rehearse_study",
    "report_evaluations",
    "sample_scenes",
    "score_report",
    "score_study",
    "serve",
    "simulate_study",
    "stats",
    "study_status",
    "trial_design",
    "trials",
    "verify",
    "verify_codes",
    "write_audit_page",
    "write_dialogs",
    "write_item_scores",
    "write_links",
    "write_questions",
    "write_records",
    "write_scenes",
    "write_score_plots",
    "write_simulated_answers",
    "write_stats_page",
    "write_trials",
]


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
    disjoint_from: Sequence[PathLike] = (),
    report_to: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> QuestionReport:
    """Make questions about the scenes of a file or folder, and write them to `out`; see `write_records`.

    Nothing is asked that has its text or its program in common with the questions of `disjoint_from`.
    """
    task = question_task(files or find_domain(), settings or QuestionSettings(), form or RecordForm(), disjoint_from)
    report = write_records(
        task, out, scenes, format=format, options=options, shard=shard, report_to=report_to, on_progress=on_progress
    )
    assert isinstance(report, QuestionReport)
    return report


def write_dialogs(
    scenes: PathLike,
    out: PathLike,
    files: DomainFiles | None = None,
    settings: DialogSettings | None = None,
    *,
    format: str | None = None,
    options: RunOptions | None = None,
    shard: str | None = None,
    report_to: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> DialogReport:
    """Make dialogs about the scenes of a file or folder, and write them to `out`; see `write_records`."""
    task = dialog_task(files or find_domain(task=DIALOGS), settings or DialogSettings())
    report = write_records(
        task, out, scenes, format=format, options=options, shard=shard, report_to=report_to, on_progress=on_progress
    )
    assert isinstance(report, DialogReport)
    return report


def write_scenes(
    out: PathLike,
    settings: SamplingSettings,
    files: DomainFiles | None = None,
    *,
    format: str | None = None,
    options: RunOptions | None = None,
    shard: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> Report:
    """Draw scenes by the rules in a domain's metadata, and write them to `out`; see `write_records`."""
    task = SamplingTask(settings, files or find_domain())
    return write_records(task, out, format=format, options=options, shard=shard, on_progress=on_progress)


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
    warn_skipped(skipped_templates(loaded, chosen))
    run = Generation(_scenes_of(scenes), loaded, chosen)
    made = (question for _, questions in run.by_scene() for question in questions)
    return filter(QuestionSelection(chosen).keeps_question, made)


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
    return QuestionDataset(_scenes_of(scenes), files, chosen, marks)


@shows_settings(DialogSettings)
def dialogs(
    scenes: PathLike | Iterable[Mapping[str, Any]],
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
    chosen = make_settings(DialogSettings, settings)
    files = find_domain(
        domain, metadata=metadata, templates=templates, synonyms=synonyms, plugins=plugins, task=DIALOGS
    )
    return _records_about(_scenes_of(scenes), dialog_task(files, chosen))


def _records_about(scenes: SceneSource | Iterable[Mapping[str, Any]], task: Task) -> Iterator[dict[str, Any]]:
    """Yield the records of a task about scenes, made in this process and numbered as its output numbers them."""
    make, first = task.load(task.hashes()), task.settings.start_index
    span = span_to_read(first, task.settings.count, task.window, task.reads_ahead)
    windows = windows_of(texts_of(scenes, span), task.window)
    made = (record for window in windows for about in make(window, first, task.tally()) for record in about.records)
    with unreadable_located(scenes):
        for number, record in enumerate(made):
            yield {**record, task.number_key: number}


def _scenes_of(scenes: PathLike | Iterable[Mapping[str, Any]]) -> SceneSource | Iterable[Mapping[str, Any]]:
    if isinstance(scenes, str | Path):
        return find_scenes(scenes)
    if isinstance(scenes, Mapping) or not isinstance(scenes, Iterable):
        raise UsageError("scenes must be a file, a folder or a list of scene records, such as document['scenes']")
    return scenes


def report_evaluations(*logs: PathLike) -> EvaluationReport:
    """Report how models answered director trials, by logs of Inspect AI and folders of them. Needs the extra `inspect`.

    Raises BadInput that names every log of another task.
    """
    return EvaluationReport.of(read_runs(map(str, logs)))


def sample_scenes(
    count: int,
    *,
    seed: int = 0,
    start_index: int = 0,
    split: str = "sample",
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    plugins: PathLike | Sequence[PathLike] = (),
) -> Iterable[dict[str, Any]]:
    """Return scene records drawn by the rules in a domain's metadata (default: CLEVR's), without pictures."""
    catalogue, _ = load_catalogue(find_domain(domain, metadata=metadata, plugins=plugins))
    return sample_scene_records(SamplingRules.from_domain(catalogue.domain), seed, start_index, count, split)
