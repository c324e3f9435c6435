"""Checks of pairs: two trials that follow each other, alike but for one blocked cell and the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vqagen.bits import Objects
from vqagen.score.director.case import Case
from vqagen.score.director.rules import CONTROL, NONE, TEST
from vqagen.score.director.trial import Trial, TrialFault

ALIKE = ("cells", "noun", "adjectives", "rule", "frame", "instruction", "template", "twin_instruction")
"""Fields that the trials of a pair have in common."""


class PairCheck:
    """Compares the trials of each pair."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._is_paired = settings.get("paired")
        self._first: Trial | None = None

    def take(self, case: Case) -> Iterator[TrialFault]:
        """Yield the faults of a trial, and of its pair if it is the second one."""
        trial, first, number = case.trial, self._first, case.trial.index
        self._first = None
        if trial.pair is None:
            if self._is_paired:
                yield TrialFault("pair", "pair", "missing, in a file of pairs")
            return
        if trial.pair != number // 2:
            yield TrialFault("pair", "pair", f"expected {number // 2}, found {trial.pair}")
        if number % 2 == 0:
            self._first = trial
        elif first is not None and first.index == number - 1:
            yield from (TrialFault("pair", place, message) for place, message in _faults(first, case))


def _faults(first: Trial, case: Case) -> Iterator[tuple[str, str]]:
    """Yield (place, message) of the faults of a pair."""
    second = case.trial
    for key in ALIKE:
        if getattr(first, key) != getattr(second, key):
            yield key, "differs between the trials of the pair"
    opened, closed = first.blocked & ~second.blocked, second.blocked & ~first.blocked
    if (opened.bit_count(), closed.bit_count()) != (1, 1):
        moved = f"{first.labels(opened)} was opened and {first.labels(closed)} blocked"
        yield "blocked", f"one block must move between the trials of the pair: {moved}"
    if first.answer == second.answer:
        yield "answer", "the same in both trials of the pair"
    types = sorted([first.type, second.type])
    wanted = [TEST, TEST] if second.rule == NONE else [CONTROL, TEST]
    if types != wanted:
        yield "trial_type", f"the trials of the pair are {' and '.join(types)}, not {' and '.join(wanted)}"
    elif (fault := _competitor_fault(first, second, case.fitting)) and first.cells == second.cells:
        yield "blocked", fault


def _competitor_fault(first: Trial, second: Trial, fitting: Objects) -> str:
    """Return what is wrong with the cell that the block leaves; "" if nothing is."""
    if second.rule == NONE:
        moves = ((first.blocked & ~second.blocked, second.answer), (second.blocked & ~first.blocked, first.answer))
        is_right = all(moved == answer and moved & fitting for moved, answer in moves)
        return "" if is_right else "the block must move from the second trial's answer to the first's"
    test, control = (first, second) if first.type == TEST else (second, first)
    competitor = test.blocked & ~control.blocked
    return "" if competitor == control.answer else "the block of the test trial's competitor must move"
