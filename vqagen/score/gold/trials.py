"""Trials of the director task as gold items: the answer is a cell of the grid."""

from __future__ import annotations

from collections.abc import Iterator

from vqagen.records.fault_list import FaultList
from vqagen.score.answers.kinds import CELL
from vqagen.score.director.samples import SampleReader
from vqagen.score.director.trial import Trial, read_trial
from vqagen.score.director.trial_files import TrialFile
from vqagen.score.gold.file import OPEN, GoldFile, no_answers
from vqagen.score.gold.item import FieldValue, GoldItem

GROUPS = ("type", "rule_class", "frame", "physics", "type*rule_class*frame")


def trial_file(file: TrialFile) -> GoldFile:
    """Return the gold file of trials. The right answer is the director's."""
    source = file.source

    def read() -> Iterator[GoldItem]:
        faults, samples = FaultList(str(source.path), "trial"), SampleReader(None, None)
        for index, record, _ in source.entries():
            if "trial_type" in record and "answer" not in record:
                raise no_answers(str(source.path), source.kind.path(index))
            found = samples.read(record) if file.is_of_reference_shape else read_trial(record)
            if isinstance(found, list):
                faults.add([(fault.place, fault.message) for fault in found if not fault.is_note], f"trials[{index}]")
            else:
                yield _item(found if isinstance(found, Trial) else found.trial)
        faults.finish()

    return GoldFile(str(source.path), "trials", read, file.info, OPEN, GROUPS)


def _item(trial: Trial) -> GoldItem:
    fields: dict[str, FieldValue] = {
        "type": trial.group,
        "rule_class": trial.rule_class,
        "rule": trial.rule,
        "frame": trial.frame or "none",
        "physics": "yes" if trial.is_physics else "no",
        "question_length": trial.instruction.count(" ") + 1,
    }
    image = trial.image or f"#{trial.index}"
    answers = (trial.labels(trial.answer),)
    return GoldItem(str(trial.index), CELL, answers, image, fields, question=trial.instruction, pair=trial.pair)
