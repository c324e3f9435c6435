"""Pairs: two questions with one program, about two scenes, with two answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from vqagen.errors import as_written
from vqagen.score.scene_lookup import QuestionFault


class _Half(NamedTuple):
    """What is remembered of the first question of a pair."""

    position: int
    scene: int
    answer: str
    program: int
    """A hash of the program."""


class PairsSeen:
    """The pairs of a question file, as far as it was read. Remembers the questions whose partner is still to come."""

    def __init__(self) -> None:
        self._halves: dict[object, _Half | None] = {}
        """Pair -> its first question; None if both were read."""

    @property
    def parted(self) -> int:
        """Questions whose partner was not read."""
        return sum(1 for half in self._halves.values() if half is not None)

    def fault(self, position: int, record: Mapping[str, Any], scene: int) -> QuestionFault | None:
        """Take the next question; return the fault if it and an earlier one of its pair are no pair."""
        number = record.get("pair")
        if number is None:
            return None
        if type(number) is not int:
            return QuestionFault("broken pair", f"pair must be a whole number, found {as_written(number)}")
        second = _Half(position, scene, repr(record.get("answer")), hash(repr(record.get("program"))))
        if number not in self._halves:
            self._halves[number] = second
            return None
        first, self._halves[number] = self._halves[number], None
        why = _why_no_pair(first, second)
        return QuestionFault("broken pair", f"pair {number}: {why}") if why else None


def _why_no_pair(first: _Half | None, second: _Half) -> str:
    if first is None:
        return "two questions before have this number"
    other = f"questions[{first.position}]"
    if first.scene == second.scene:
        return f"{other} is about the same scene"
    if first.program != second.program:
        return f"{other} has another program"
    return f"{other} has the same answer" if first.answer == second.answer else ""
