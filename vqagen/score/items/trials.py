"""Trials of the director task as items: the answer is a cell of the grid."""

from __future__ import annotations

from vqagen.bits import indexes, union_of
from vqagen.records.source import RecordSource
from vqagen.score.answers.kinds import CELL
from vqagen.score.director.samples import SampleReader
from vqagen.score.director.trial import Trial, label, read_trial
from vqagen.score.file_kinds import SAMPLES
from vqagen.score.items.builder import TableBuilder
from vqagen.score.items.table import Gold, Items, Options

GROUPS = ("type", "rule_class", "frame", "physics", "type*rule_class*frame")


def read_trials(source: RecordSource, table: TableBuilder) -> Items:
    """Return the trials of a file, also of the reference's shape. The right answer is the director's."""
    rows = table.rows("type", "rule_class", "rule", "frame", "physics", "question_length")
    families, samples = table.rows("family"), SampleReader(None, None)
    for index, record in table.records_of(source):
        if "trial_type" in record and "answer" not in record:
            table.require_unanswered(source.kind.path(index))
        found = samples.read(record) if source.kind is SAMPLES else read_trial(record)
        if isinstance(found, list):
            table.faults.add([(fault.place, fault.message) for fault in found if not fault.is_note], f"trials[{index}]")
            continue
        trial = found if isinstance(found, Trial) else found.trial
        gold = Gold(CELL, (trial.labels(trial.answer),))
        table.add({"scene_index": trial.index}, index, trial.index, table.gold(gold), trial.image or f"#{trial.index}")
        physics, frame = "yes" if trial.is_physics else "no", trial.frame or "none"
        length = trial.instruction.count(" ") + 1
        rows.add((trial.group, trial.rule_class, trial.rule, frame, physics, length))
        table.add_choice(_open_cells(trial) if table.is_learning else None, trial.pair)
        if table.is_learning:
            families.add((f"{trial.type}, {trial.rule}",))
            table.add_learning(trial.instruction)
    return table.table(GROUPS)


def _open_cells(trial: Trial) -> Options | None:
    """Return the cells with an item that the director sees; None if the answer is not one of them."""
    filled = union_of(cell for cell, name in enumerate(trial.cells) if name is not None)
    is_open = filled & ~trial.blocked
    if not is_open & trial.answer:
        return None
    cells = tuple(label(cell, trial.width) for cell in indexes(is_open))
    return Options(cells, cells.index(trial.labels(trial.answer)))
