"""The inputs of an audit, read: the file itself, its scenes, and the file that models are trained on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from vqagen.errors import BadInput, UsageError
from vqagen.files.locations import locate
from vqagen.language.domain_files import find_domain, load_catalogue
from vqagen.language.question_files import QUESTIONS
from vqagen.records.discovery import find_records
from vqagen.score.director.trial_files import find_trials
from vqagen.score.file_kinds import TRIALS, kind_of_file, require_records
from vqagen.score.gold.discovery import DIALOG, TRIAL, VQAGEN, read_gold, recognise
from vqagen.score.gold.phrases import Numbering
from vqagen.score.origin import shipped_domain
from vqagen.score.scene_lookup import SceneNames
from vqagen.shortcuts.audit.dialog_items import read_dialog_items
from vqagen.shortcuts.audit.gold_items import read_gold_items
from vqagen.shortcuts.audit.items import AuditFile
from vqagen.shortcuts.audit.question_items import read_question_items
from vqagen.shortcuts.audit.repetition import Known, SceneFacts, read_scene_facts
from vqagen.shortcuts.audit.significance import Floats
from vqagen.shortcuts.audit.trial_items import read_trial_items
from vqagen.shortcuts.baselines.execution import ProgramRunner
from vqagen.shortcuts.baselines.learning_task import LearningTask, accepted_texts
from vqagen.tasks.dialog.dialog_files import DIALOGS
from vqagen.world.loading import SceneSource, find_scenes

RUNS = 5
"""Other scenes that each program is run on."""
BLIND_RUNS = 25
"""Imagined scenes that each program is run on."""


@dataclass(frozen=True)
class AuditInputs:
    """What the items of a file are compared with."""

    scenes: list[SceneFacts] | None = None
    train: Known | None = None
    train_has_scenes: bool = False
    """True if the scenes of the training file are known."""
    executed: Mapping[str, Floats] = field(default_factory=dict)
    """Probe that runs programs on other scenes -> the probability of a right answer, by the number of the record."""

    def sizes(self, file: AuditFile) -> Mapping[str, int]:
        """Return image -> the number of objects of its scene, of the images whose scene is known."""
        scenes = self.scenes or []
        return {item.image: scenes[item.scene].size for item in file.items if item.scene is not None}


def read_audit_file(
    path: str, scenes: SceneSource | None, on_read: Callable[[int], None] = lambda _: None
) -> AuditFile:
    """Return the items of a file of questions, dialogs or trials. BadInput with all its faults."""
    if recognise(require_records(path)) not in (VQAGEN, DIALOG, TRIAL):
        return read_gold_items(path, on_read)
    kind = kind_of_file(locate(path))
    if kind is TRIALS:
        if scenes is not None:
            raise UsageError(f"{path} holds trials, which come with their grids: leave out --scenes")
        return read_trial_items(find_trials(locate(path)), on_read)
    names = None if scenes is None else SceneNames(scenes)
    source, words = find_records(path, kind), Numbering()
    if kind is DIALOGS:
        return read_dialog_items(source, names, words, on_read)
    return read_question_items(source, names, words, on_read)


def read_inputs(file: AuditFile, scenes: str | None, train: str | None, train_scenes: str | None) -> AuditInputs:
    """Return what the items of a file are compared with. UsageError for a training file of another kind."""
    own = None if scenes is None else read_scene_facts(find_scenes(scenes))
    executed = _executed(file, scenes) if scenes is not None else {}
    if train is None:
        if train_scenes is not None:
            raise UsageError("--train-scenes are the scenes of --train, which is missing")
        return AuditInputs(own, executed=executed)
    source = None if train_scenes is None else find_scenes(train_scenes)
    trained = read_audit_file(train, source)
    if trained.kind != file.kind:
        raise UsageError(f"--train {train} holds {trained.kind}, but {file.name} holds {file.kind}")
    theirs = None if source is None else read_scene_facts(source)
    return AuditInputs(own, Known(trained, theirs if own else None), bool(own and theirs), executed)


def _executed(file: AuditFile, scenes: str) -> dict[str, Floats]:
    """Return the scores of probes that run each program on other scenes; none if the file lacks programs or answers.

    The domain is that of the file's info; of one's own domain, whose folder it does not name, no program is run.
    """
    source = find_scenes(scenes)
    if not file.has_programs or file.unanswered or len({item.scene for item in file.items}) < 2:
        return {}
    try:
        catalogue = load_catalogue(find_domain(shipped_domain(find_records(file.name, QUESTIONS).info)))[0]
        learning = LearningTask(list(read_gold(file.name).items()))
        runner = ProgramRunner(locate(file.name), source, catalogue)
        wrong, blind = runner.wrong_image(learning, RUNS), runner.scene_blind(learning, BLIND_RUNS)
    except BadInput as error:
        file.notes.append(f"programs were not run on other scenes: {error.problems[0].message}")
        return {}
    accepted = [accepted_texts(item) for item in learning.items]
    right = [
        float(any(text.lower() in texts for text in guess.candidates))
        for guess, texts in zip(blind.guesses, accepted, strict=True)
    ]
    return {"wrong image": np.array([guess.expected for guess in wrong.guesses]), "scene-blind": np.array(right)}
