"""The public names of vqagen, and the module that holds each. `vqagen` loads them when they are first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for editors and type checkers, which read no tables; a test compares the two
    from vqagen.dataset.build import DatasetReport as DatasetReport, write_dataset as write_dataset
    from vqagen.dataset.choices import (
        ChoiceReport as ChoiceReport,
        with_choices as with_choices,
        write_choices as write_choices,
    )
    from vqagen.dataset.settings import ChoiceSettings as ChoiceSettings, DatasetSettings as DatasetSettings
    from vqagen.dataset.verification import verify_dataset as verify_dataset
    from vqagen.environments.endless import (
        Environment as Environment,
        Level as Level,
        Sample as Sample,
        environment as environment,
    )
    from vqagen.errors import BadInput as BadInput, UsageError as UsageError, VqagenError as VqagenError
    from vqagen.export.exporting import (
        Exported as Exported,
        export_dataset as export_dataset,
        export_file as export_file,
    )
    from vqagen.human.export import export_study as export_study
    from vqagen.human.humanr_import import import_humanr as import_humanr
    from vqagen.human.items import make_items as make_items, write_items as write_items
    from vqagen.human.links import verify_codes as verify_codes, write_links as write_links
    from vqagen.human.scores.report import (
        StudyScores as StudyScores,
        rater_report as rater_report,
        score_study as score_study,
    )
    from vqagen.human.server.process import serve as serve
    from vqagen.human.settings import (
        ItemSettings as ItemSettings,
        LinkSettings as LinkSettings,
        PlanSettings as PlanSettings,
        ScoreSettings as ScoreSettings,
        ServeSettings as ServeSettings,
    )
    from vqagen.human.status import study_status as study_status
    from vqagen.human.store.care import back_up_study as back_up_study, forget as forget
    from vqagen.human.study.making import (
        check_study as check_study,
        extend_study as extend_study,
        make_caption_tasks as make_caption_tasks,
        make_item_tasks as make_item_tasks,
    )
    from vqagen.human.study.study import Study as Study, load_study as load_study
    from vqagen.language.catalogue import Catalogue as Catalogue
    from vqagen.language.domain_files import (
        DomainFiles as DomainFiles,
        LoadedDomain as LoadedDomain,
        find_domain as find_domain,
        load_domain_files as load_domain_files,
    )
    from vqagen.language.loading import load_templates as load_templates
    from vqagen.language.program import Program as Program
    from vqagen.language.question import Question as Question
    from vqagen.pictures.looks import SceneLooks as SceneLooks
    from vqagen.pictures.masks import Mask as Mask, mask_pixels as mask_pixels, masks_of as masks_of
    from vqagen.pictures.sketch import sketch as sketch
    from vqagen.plugin import Undefined as Undefined
    from vqagen.report.verification import Mismatch as Mismatch, VerificationReport as VerificationReport
    from vqagen.report.writers import write_report as write_report
    from vqagen.run.making import (
        Generation as Generation,
        dialogs as dialogs,
        generate as generate,
        sample_scenes as sample_scenes,
        trials as trials,
        write_dialogs as write_dialogs,
        write_pictures as write_pictures,
        write_questions as write_questions,
        write_scenes as write_scenes,
        write_trials as write_trials,
    )
    from vqagen.run.merge import MergeResult as MergeResult, convert as convert, merge as merge
    from vqagen.run.options import RunOptions as RunOptions
    from vqagen.run.runner import write_records as write_records
    from vqagen.score.compare import Comparison as Comparison, compare as compare
    from vqagen.score.evaluate import evaluate as evaluate, write_item_scores as write_item_scores
    from vqagen.score.evaluation import Evaluation as Evaluation
    from vqagen.score.verification import verify as verify
    from vqagen.shortcuts.audit import audit as audit
    from vqagen.shortcuts.audit_report import Audit as Audit, audit_report as audit_report
    from vqagen.shortcuts.baseline import (
        BaselineFiles as BaselineFiles,
        baseline as baseline,
        baseline_ladder as baseline_ladder,
    )
    from vqagen.shortcuts.settings import AuditSettings as AuditSettings, BaselineSettings as BaselineSettings
    from vqagen.shortcuts.statistics import stats as stats
    from vqagen.show.showing import Shown as Shown, show_file as show_file
    from vqagen.tasks.contract import RunReport as RunReport
    from vqagen.tasks.dialog.settings import DialogSettings as DialogSettings
    from vqagen.tasks.dialog.task import DialogReport as DialogReport
    from vqagen.tasks.director.participant_lists import export_trials as export_trials
    from vqagen.tasks.director.settings import DirectorSettings as DirectorSettings
    from vqagen.tasks.questions.settings import QuestionSettings as QuestionSettings, RecordForm as RecordForm
    from vqagen.tasks.questions.task import QuestionReport as QuestionReport
    from vqagen.tasks.rendering.settings import PictureSettings as PictureSettings
    from vqagen.tasks.sampling.settings import SamplingSettings as SamplingSettings
    from vqagen.world.domain import Domain as Domain, load_domain as load_domain
    from vqagen.world.loading import SceneSource as SceneSource, find_scenes as find_scenes, load_scenes as load_scenes
    from vqagen.world.scene import Scene as Scene, compile_scene as compile_scene

MODULES = {
    "Audit": "vqagen.shortcuts.audit_report",
    "AuditSettings": "vqagen.shortcuts.settings",
    "BadInput": "vqagen.errors",
    "BaselineFiles": "vqagen.shortcuts.baseline",
    "BaselineSettings": "vqagen.shortcuts.settings",
    "Catalogue": "vqagen.language.catalogue",
    "ChoiceReport": "vqagen.dataset.choices",
    "ChoiceSettings": "vqagen.dataset.settings",
    "Comparison": "vqagen.score.compare",
    "DatasetReport": "vqagen.dataset.build",
    "DatasetSettings": "vqagen.dataset.settings",
    "DialogReport": "vqagen.tasks.dialog.task",
    "DialogSettings": "vqagen.tasks.dialog.settings",
    "DirectorSettings": "vqagen.tasks.director.settings",
    "Domain": "vqagen.world.domain",
    "DomainFiles": "vqagen.language.domain_files",
    "Environment": "vqagen.environments.endless",
    "Evaluation": "vqagen.score.evaluation",
    "Exported": "vqagen.export.exporting",
    "Generation": "vqagen.run.making",
    "ItemSettings": "vqagen.human.settings",
    "Level": "vqagen.environments.endless",
    "LinkSettings": "vqagen.human.settings",
    "LoadedDomain": "vqagen.language.domain_files",
    "Mask": "vqagen.pictures.masks",
    "MergeResult": "vqagen.run.merge",
    "Mismatch": "vqagen.report.verification",
    "PictureSettings": "vqagen.tasks.rendering.settings",
    "PlanSettings": "vqagen.human.settings",
    "Program": "vqagen.language.program",
    "Question": "vqagen.language.question",
    "QuestionReport": "vqagen.tasks.questions.task",
    "QuestionSettings": "vqagen.tasks.questions.settings",
    "RecordForm": "vqagen.tasks.questions.settings",
    "RunOptions": "vqagen.run.options",
    "RunReport": "vqagen.tasks.contract",
    "Sample": "vqagen.environments.endless",
    "SamplingSettings": "vqagen.tasks.sampling.settings",
    "Scene": "vqagen.world.scene",
    "SceneLooks": "vqagen.pictures.looks",
    "SceneSource": "vqagen.world.loading",
    "ScoreSettings": "vqagen.human.settings",
    "ServeSettings": "vqagen.human.settings",
    "Shown": "vqagen.show.showing",
    "Study": "vqagen.human.study.study",
    "StudyScores": "vqagen.human.scores.report",
    "Undefined": "vqagen.plugin",
    "UsageError": "vqagen.errors",
    "VerificationReport": "vqagen.report.verification",
    "VqagenError": "vqagen.errors",
    "audit": "vqagen.shortcuts.audit",
    "audit_report": "vqagen.shortcuts.audit_report",
    "back_up_study": "vqagen.human.store.care",
    "baseline": "vqagen.shortcuts.baseline",
    "baseline_ladder": "vqagen.shortcuts.baseline",
    "check_study": "vqagen.human.study.making",
    "compare": "vqagen.score.compare",
    "compile_scene": "vqagen.world.scene",
    "convert": "vqagen.run.merge",
    "dialogs": "vqagen.run.making",
    "environment": "vqagen.environments.endless",
    "evaluate": "vqagen.score.evaluate",
    "export_dataset": "vqagen.export.exporting",
    "export_file": "vqagen.export.exporting",
    "export_study": "vqagen.human.export",
    "export_trials": "vqagen.tasks.director.participant_lists",
    "extend_study": "vqagen.human.study.making",
    "find_domain": "vqagen.language.domain_files",
    "find_scenes": "vqagen.world.loading",
    "forget": "vqagen.human.store.care",
    "generate": "vqagen.run.making",
    "import_humanr": "vqagen.human.humanr_import",
    "load_domain": "vqagen.world.domain",
    "load_domain_files": "vqagen.language.domain_files",
    "load_scenes": "vqagen.world.loading",
    "load_study": "vqagen.human.study.study",
    "load_templates": "vqagen.language.loading",
    "make_caption_tasks": "vqagen.human.study.making",
    "make_item_tasks": "vqagen.human.study.making",
    "make_items": "vqagen.human.items",
    "mask_pixels": "vqagen.pictures.masks",
    "masks_of": "vqagen.pictures.masks",
    "merge": "vqagen.run.merge",
    "rater_report": "vqagen.human.scores.report",
    "sample_scenes": "vqagen.run.making",
    "score_study": "vqagen.human.scores.report",
    "serve": "vqagen.human.server.process",
    "show_file": "vqagen.show.showing",
    "sketch": "vqagen.pictures.sketch",
    "stats": "vqagen.shortcuts.statistics",
    "study_status": "vqagen.human.status",
    "trials": "vqagen.run.making",
    "verify": "vqagen.score.verification",
    "verify_codes": "vqagen.human.links",
    "verify_dataset": "vqagen.dataset.verification",
    "with_choices": "vqagen.dataset.choices",
    "write_choices": "vqagen.dataset.choices",
    "write_dataset": "vqagen.dataset.build",
    "write_dialogs": "vqagen.run.making",
    "write_item_scores": "vqagen.score.evaluate",
    "write_items": "vqagen.human.items",
    "write_links": "vqagen.human.links",
    "write_pictures": "vqagen.run.making",
    "write_questions": "vqagen.run.making",
    "write_records": "vqagen.run.runner",
    "write_report": "vqagen.report.writers",
    "write_scenes": "vqagen.run.making",
    "write_trials": "vqagen.run.making",
}

SHOWN_SETTINGS = {"generate": "QuestionSettings", "dialogs": "DialogSettings", "trials": "DirectorSettings"}
"""A function that takes settings as keywords -> their class, of which `help` says each."""

RETIRED = {
    **dict.fromkeys(
        ("RaterSettings", "simulate_study"),
        "`vqagen human make-tasks` prints the half-width of each interval to expect of a plan",
    ),
    "ExportReport": "`export_study` returns the numbers of answers, assignments and raters",
    "ForgetReport": "`forget` returns the numbers of raters and facts",
    "PlannedStudy": "`make_caption_tasks` and `make_item_tasks` return the study and a list of notes",
    "score_report": "`evaluate(…).report(…)` takes its settings",
}
"""Name that version 2.0 removed -> what to do instead."""
