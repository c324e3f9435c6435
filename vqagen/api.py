"""The Python API: the commands as typed calls, and the types that they take and return."""

from __future__ import annotations

from vqagen.calls.director_trials import export_trials, trials, write_trials
from vqagen.calls.sampled_scenes import sample_scenes, write_scenes
from vqagen.calls.scene_dialogs import dialogs, write_dialogs
from vqagen.calls.scene_questions import Generation, generate, write_questions
from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.human.export.folder import ExportReport, export_study
from vqagen.human.export.humanr_answers import import_humanr
from vqagen.human.items.making import make_items, write_items
from vqagen.human.items.settings import ItemSettings
from vqagen.human.links.settings import LinkSettings
from vqagen.human.links.study_links import verify_codes, write_links
from vqagen.human.scores.report import rater_report
from vqagen.human.scores.settings import ScoreSettings
from vqagen.human.scores.study_scores import StudyScores, score_study
from vqagen.human.server.process import serve
from vqagen.human.server.settings import ServeSettings
from vqagen.human.simulation.power import simulate_study
from vqagen.human.simulation.settings import RaterSettings
from vqagen.human.status import study_status
from vqagen.human.store.care import ForgetReport, back_up_study, forget
from vqagen.human.study.making import PlannedStudy, check_study, extend_study, make_caption_tasks, make_item_tasks
from vqagen.human.study.settings import PlanSettings
from vqagen.human.study.study import Study, load_study
from vqagen.language.catalogue import Catalogue
from vqagen.language.domain_files import (
    DomainFiles,
    LoadedDomain,
    find_domain,
    load_domain_files,
)
from vqagen.language.loading import load_templates
from vqagen.language.program import Program
from vqagen.language.question import Question
from vqagen.pictures.scene_pictures import draw_scenes
from vqagen.plugin import Undefined
from vqagen.run.merging.convert import convert
from vqagen.run.merging.merge import MergeResult, merge
from vqagen.run.options import RunOptions
from vqagen.run.writing import write_records
from vqagen.score.compare import Comparison, compare
from vqagen.score.evaluate.evaluation import Evaluation
from vqagen.score.report.writers import write_report
from vqagen.score.verify.report import Mismatch, VerificationReport
from vqagen.score.verify.verification import verify
from vqagen.shortcuts.audit import Audit, audit
from vqagen.shortcuts.audit_report import audit_report
from vqagen.shortcuts.baseline import BaselineFiles, baseline, baseline_ladder
from vqagen.shortcuts.evaluation import evaluate, score_report, write_item_scores
from vqagen.shortcuts.settings import AuditSettings, BaselineSettings
from vqagen.shortcuts.statistics import stats
from vqagen.tasks.contract import RunReport
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.dialog.task import DialogReport
from vqagen.tasks.director.settings import DirectorSettings
from vqagen.tasks.questions.report import QuestionReport
from vqagen.tasks.questions.settings import QuestionSettings, RecordForm
from vqagen.tasks.sampling.settings import SamplingSettings
from vqagen.world.domain import Domain, load_domain
from vqagen.world.loading import SceneSource, find_scenes, load_scenes
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
    "DirectorSettings",
    "Domain",
    "DomainFiles",
    "Evaluation",
    "ExportReport",
    "ForgetReport",
    "Generation",
    "ItemSettings",
    "LinkSettings",
    "LoadedDomain",
    "MergeResult",
    "Mismatch",
    "PlanSettings",
    "PlannedStudy",
    "Program",
    "Question",
    "QuestionReport",
    "QuestionSettings",
    "RaterSettings",
    "RecordForm",
    "RunOptions",
    "RunReport",
    "SamplingSettings",
    "Scene",
    "SceneSource",
    "ScoreSettings",
    "ServeSettings",
    "Study",
    "StudyScores",
    "Undefined",
    "UsageError",
    "VerificationReport",
    "VqagenError",
    "audit",
    "audit_report",
    "back_up_study",
    "baseline",
    "baseline_ladder",
    "check_study",
    "compare",
    "compile_scene",
    "convert",
    "dialogs",
    "draw_scenes",
    "evaluate",
    "export_study",
    "export_trials",
    "extend_study",
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
    "make_items",
    "merge",
    "rater_report",
    "sample_scenes",
    "score_report",
    "score_study",
    "serve",
    "simulate_study",
    "stats",
    "study_status",
    "trials",
    "verify",
    "verify_codes",
    "write_dialogs",
    "write_item_scores",
    "write_items",
    "write_links",
    "write_questions",
    "write_records",
    "write_report",
    "write_scenes",
    "write_trials",
]
