"""Trials of the director task as items: the answer is a cell of the grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from vqagen.bits import union_of
from vqagen.errors import Fault
from vqagen.files.records import RecordSource
from vqagen.items.answers import CELL
from vqagen.items.builder import TableBuilder
from vqagen.items.table import Column, Gold, Items, Options
from vqagen.tasks.director.catalogue import ItemCatalogue, catalogue_of, load_catalogue_file
from vqagen.tasks.director.reading import WrittenTrial, read_sample, read_trial
from vqagen.tasks.director.settings import ALWAYS
from vqagen.tasks.director.views import Views, kinds_of_cells
from vqagen.tasks.record_files import SAMPLES, settings_of

TRIAL_GROUPS = ("type", "rule_class", "frame", "physics", "type*rule_class*frame")


def read_trials(table: TableBuilder) -> Items:
    """Return the trials of a file, also of the reference's shape. The right answer is the director's."""
    rows = table.rows("type", "rule_class", "rule", "frame", "physics", "question_length")
    families, outcomes = table.rows("family"), list[tuple[tuple[str, str], ...] | None]()
    is_sample = table.source.kind is SAMPLES
    catalogue = None if is_sample else catalogue_of(table.source)
    for record in table.records():
        if "trial_type" in record and "answer" not in record:
            table.gold(None)
        trial = read_sample(record) if is_sample else read_trial(record, catalogue)
        if isinstance(trial, list):
            for path, message in trial:
                table.add_fault(path, message)
            continue
        gold = table.gold(Gold(CELL, (", ".join(trial.labels(trial.answer)),)))
        options = _open_cells(trial) if table.is_learning else None
        table.add(trial.index, gold, trial.image or f"#{trial.index}", options=options, pair=trial.pair)
        physics, frame = "yes" if trial.is_physics else "no", trial.frame or "none"
        length = trial.instruction.count(" ") + 1
        rows.add(trial.group, trial.rule_class, trial.rule, frame, physics, length)
        if table.is_learning:
            families.add(f"{trial.type}, {trial.rule}")
        table.learn(trial.instruction)
        outcomes.append(tuple(kinds_of_cells(Views(trial)).items()) if catalogue else None)
    return replace(table.table(TRIAL_GROUPS), outcomes=Column.of(outcomes))


def _open_cells(trial: WrittenTrial) -> Options | None:
    """Return the cells with an item that the director sees; None if the answer is not one of them."""
    filled = union_of(cell for cell, name in enumerate(trial.cells) if name is not None)
    is_open = filled & ~trial.blocked
    if not is_open & trial.answer:
        return None
    cells = trial.labels(is_open)
    return Options(tuple(cells), cells.index(trial.labels(trial.answer)[0]))


FOREIGN = "samples of another tool: ties, needless words and needless rules are notes"
UNSAID = "no info beside the trials: judged with the catalogue that vqagen ships, without settings"


ReadTrial = Callable[[Mapping[str, Any]], WrittenTrial | list[Fault]]


def trial_reader(source: RecordSource) -> tuple[ReadTrial, ItemCatalogue | None, str]:
    """Return what reads the trials or samples of a source with the items in their cells, which `Views` need.

    Beside it are the catalogue, that of the info, else the shipped one (None for samples of another tool, which
    describe their items), and a remark on what the trials are read by in place of what their file does not say.
    """
    catalogue, suffix = catalogue_of(source), str(settings_of(source).get("suffix", ALWAYS))
    if source.kind is SAMPLES:
        return partial(read_sample, catalogue=catalogue, suffix=suffix), catalogue, "" if catalogue else FOREIGN
    known = catalogue or load_catalogue_file()
    return partial(read_trial, catalogue=known), known, "" if catalogue else UNSAID
