"""Trials of the director task as gold items: the answer is a cell of the grid."""

from __future__ import annotations

from collections.abc import Iterator

from vqagen.records.fault_list import FaultList
from vqagen.records.source import RecordSource
from vqagen.score.answers.kinds import CELL
from vqagen.score.file_kinds import SAMPLES
from vqagen.score.gold.file import OPEN, GoldFile, no_answers
from vqagen.score.gold.item import FieldValue, GoldItem
from vqagen.tasks.director.reading import WrittenTrial, read_sample, read_trial

GROUPS = ("type", "rule_class", "frame", "physics", "type*rule_class*frame")


def trial_file(source: RecordSource) -> GoldFile:
    """Return the gold file of trials. The right answer is the director's."""

    def read() -> Iterator[GoldItem]:
        faults = FaultList(str(source.path), "trial")
        for index, record, _ in source.entries():
            if "trial_type" in record and "answer" not in record:
                raise no_answers(str(source.path), source.kind.path(index))
            found = read_sample(record) if source.kind is SAMPLES else read_trial(record)
            if isinstance(found, list):
                faults.add(found, f"trials[{index}]")
            else:
                yield _item(found)
        faults.finish()

    return GoldFile(str(source.path), "trials", read, source.info, OPEN, GROUPS)


def _item(trial: WrittenTrial) -> GoldItem:
    fields: dict[str, FieldValue] = {
        "type": trial.group,
        "rule_class": trial.rule_class,
        "rule": trial.rule,
        "frame": trial.frame or "none",
        "physics": "yes" if trial.is_physics else "no",
        "question_length": trial.instruction.count(" ") + 1,
    }
    image = trial.image or f"#{trial.index}"
    answers = (", ".join(trial.labels(trial.answer)),)
    return GoldItem(str(trial.index), CELL, answers, image, fields, question=trial.instruction, pair=trial.pair)
