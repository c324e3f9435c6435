"""Reads files of trials as items of an audit: the options are the open cells, of which the instruction picks one."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator

from vqagen.bits import indexes, only
from vqagen.errors import BadInput, Problem
from vqagen.records.fault_list import FaultList
from vqagen.score.director.case import Case, Found, case_of
from vqagen.score.director.policies import POLICIES, expected_accuracy
from vqagen.score.director.reading import TrialReading
from vqagen.score.director.trial import label
from vqagen.score.director.trial_files import TrialFile
from vqagen.score.file_kinds import TRIALS
from vqagen.score.gold.census import text_hash
from vqagen.shortcuts.audit.items import AuditFile, AuditItem
from vqagen.shortcuts.stats.sample import Clue

UNINSTRUCTED = ("look-alike",)
"""Policies that do not need the instruction."""


def read_trial_items(file: TrialFile, on_read: Callable[[int], None]) -> AuditFile:
    """Return the trials of a file whose right answer is one open cell. BadInput with all faults of its trials."""
    reading, name = TrialReading(file), str(file.source.path)
    found = AuditFile(name, TRIALS.key, [], file.window or 0)
    faults = FaultList(name, "trial")
    for position, record in enumerate(reading.records()):
        read = reading.read(record)
        on_read(1)
        if not isinstance(read, Found):
            faults.add([(fault.place, fault.message) for fault in read], file.source.kind.path(position))
            continue
        case = case_of(read)
        if case.trial.answer & case.views.director.everything:
            found.items.append(_item(position, case))
        else:
            found.unanswered += 1
    faults.finish()
    if not found.items:
        raise BadInput([Problem("no trials with an open cell as their answer", name)])
    found.notes += reading.remarks
    return found


def _item(position: int, case: Case) -> AuditItem:
    trial = case.trial
    cells = list(indexes(case.views.director.everything))
    answer = label(only(trial.answer), trial.width)
    image, pair = f"trial {trial.index}", None if trial.pair is None else str(trial.pair)
    clue = Clue(
        text_hash(image),
        trial.index,
        pair,
        f"{trial.type}, {trial.rule}",
        trial.type,
        "",
        answer,
        trial.instruction,
        array("i"),
        False,
    )
    return AuditItem(
        position,
        str(trial.index),
        clue,
        image,
        trial.index,
        block=pair or "",
        options=tuple(label(cell, trial.width) for cell in cells),
        right=cells.index(only(trial.answer)),
        tokens=tuple(tuple(_tokens(case, cell)) for cell in cells),
        policies={name: expected_accuracy(POLICIES[name], case) for name in UNINSTRUCTED},
    )


def _tokens(case: Case, cell: int) -> Iterator[str]:
    """Yield what is seen of an item in an open cell without the instruction: where it is, and what is like it."""
    trial, items = case.trial, case.items
    own = items[trial.cells[cell] or ""]
    column, row = cell % trial.width, cell // trial.width
    others = [other for other in indexes(case.views.participant.everything) if other != cell]
    blocked = [other for other in others if trial.blocked >> other & 1]
    yield f"{trial.width}x{trial.height} cell {cell}"
    yield f"column {column}"
    yield f"row {row}"
    yield f"item {own.name}"
    for word in sorted(own.true):
        yield f"word {word}"
    for name, beside in (("all", others), ("blocked", blocked)):
        shared = [len(own.true & items[trial.cells[other] or ""].true) for other in beside]
        yield f"shared with {name}, {sum(shared)}"
        yield f"shared at most with {name}, {max(shared, default=0)}"
        kin = [items[trial.cells[other] or ""] for other in beside]
        yield f"kind among {name}, {sum(other.kind == own.kind for other in kin)}"
        yield f"larger of kind among {name}, {sum(o.kind == own.kind and o.size > own.size for o in kin)}"
        yield f"smaller of kind among {name}, {sum(o.kind == own.kind and o.size < own.size for o in kin)}"
    near = [other for other in blocked if abs(other % trial.width - column) + abs(other // trial.width - row) == 1]
    yield f"blocked items beside, {len(near)}"
    yield f"items, tenth {10 * len(others) // len(trial.cells)}"
