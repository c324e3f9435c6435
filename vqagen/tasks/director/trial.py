"""A trial: a grid, what is blocked in it, a question and its answers; and the record of it."""

from __future__ import annotations

from dataclasses import dataclass

from vqagen.tasks.director.design import Cell
from vqagen.tasks.director.question_table import Question

EMPTY = -1
"""Stands in a grid where no item is."""


@dataclass(slots=True)
class Trial:
    """One trial. Cells are numbers, items places in the catalogue."""

    cell: Cell
    question: Question
    grid: list[int]
    """The item in each cell, or EMPTY."""
    blocked: frozenset[int]
    answer: int
    """The cell that the director means."""
    participant_answers: tuple[int, ...]
    """The cells that fit for someone who overlooks that cells are blocked, in order."""
    related_visible: int
    related_blocked: int
    competitor: int = EMPTY
    """The blocked cell that would be the answer if it were not blocked, and the target were; EMPTY if there is none."""
