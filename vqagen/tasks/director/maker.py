"""What a design can make with a catalogue, found before the first trial; and the trials."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from random import Random
from typing import NamedTuple

from vqagen.errors import UsageError
from vqagen.rng import pick
from vqagen.tasks.director.catalogue import ItemCatalogue
from vqagen.tasks.director.design import Cell, Design, Trial
from vqagen.tasks.director.layout import make_loose, make_strict, partner_of
from vqagen.tasks.director.question_table import MOST_ADJECTIVES, Question, question_table
from vqagen.tasks.director.rules import NONE, TYPES
from vqagen.tasks.director.settings import REFERENCE, DirectorSettings
from vqagen.tasks.director.trial_plan import TrialPlan

TRIES = 100
"""Draws of a trial that is to differ from the others of its window."""


class QuestionGroup(NamedTuple):
    """Questions that are alike: as wide a noun, as many adjectives."""

    plan: TrialPlan
    questions: tuple[Question, ...]


class CellFeasibility(NamedTuple):
    """What can be made for a cell of the design."""

    cell: Cell
    questions: int
    """How many there are to choose from."""
    faults: tuple[str, ...]
    """Why nothing can be made; empty if something can."""


class TrialMaker:
    """Makes the trials of a design. Raises UsageError naming each cell of the design that nothing can be made for."""

    def __init__(self, catalogue: ItemCatalogue, settings: DirectorSettings) -> None:
        self.catalogue, self._settings = catalogue, settings
        self._table = question_table(catalogue)
        self._make = make_loose if settings.compat == REFERENCE else make_strict
        self._plans: dict[tuple[str, int], TrialPlan] = {}
        self._groups: dict[tuple[str, bool], tuple[QuestionGroup, ...]] = {}

    @cached_property
    def feasibility(self) -> tuple[CellFeasibility, ...]:
        """The feasibility of every cell of the design, in order."""
        return tuple(self._feasibility_of(cell) for cell in Design(self._settings, 0).leaves())

    def check(self) -> None:
        """Raise UsageError if there is a cell that nothing can be made for: each reason once, with its cells."""
        cells: dict[str, list[Cell]] = {}
        for each in self.feasibility:
            for fault in each.faults:
                cells.setdefault(fault, []).append(each.cell)
        if cells:
            reasons = (f"  {_said_together(found)}: {fault}" for fault, found in cells.items())
            raise UsageError("\n".join(("this design cannot be made:", *reasons)))

    def make(self, cell: Cell, rng: Random) -> Trial:
        """Return a trial of a cell."""
        group = pick(rng, self._groups_of(cell))
        question = group.questions[int(rng.random() * len(group.questions))]
        return self._make(cell, question, group.plan, group.questions, rng)

    def make_new(self, cell: Cell, rng: Random, known: set[object]) -> Trial:
        """Return a trial that is not `known`, and note it there. Raises UsageError if there seems to be none."""
        for _ in range(TRIES):
            trial = self.make(cell, rng)
            key = (trial.question, cell.rule, trial.blocked, *trial.grid)
            if key not in known:
                known.add(key)
                return trial
        raise UsageError(f"{cell}: {TRIES} draws in a row made a trial again; choose a larger grid or more items")

    def partner_of(self, trial: Trial) -> Trial:
        """Return the other trial of a pair."""
        return partner_of(trial, trial.cell if trial.cell.rule == NONE else trial.cell._replace(is_test=False))

    def _feasibility_of(self, cell: Cell) -> CellFeasibility:
        questions = sum(len(group.questions) for group in self._groups_of(cell))
        return CellFeasibility(cell, questions, () if questions else tuple(self._faults(cell)))

    def _faults(self, cell: Cell) -> Iterator[str]:
        """Yield why nothing can be made for a cell: what a question without adjectives lacks, or else its words."""
        faults = list(self._plan(cell, 0).faults())
        if faults:
            yield from faults
        elif not any(each.is_physics == cell.is_physics for each in self._questions):
            yield "the catalogue has no such question"
        else:
            yield "the catalogue has no such question with so few items, cells and sizes"

    @property
    def _questions(self) -> tuple[Question, ...]:
        return self._table.plain_questions if self._settings.compat == REFERENCE else self._table.questions

    def _plan(self, cell: Cell, adjectives: int) -> TrialPlan:
        key = cell.rule, adjectives
        if key not in self._plans:
            self._plans[key] = TrialPlan(self._settings, cell.rule, cell.rule_class, adjectives)
        return self._plans[key]

    def _groups_of(self, cell: Cell) -> tuple[QuestionGroup, ...]:
        key = cell.rule, cell.is_physics
        groups = self._groups.get(key)
        if groups is None:
            groups = self._groups[key] = tuple(self._find_groups(cell))
        return groups

    def _find_groups(self, cell: Cell) -> Iterator[QuestionGroup]:
        for adjectives in range(MOST_ADJECTIVES + 1):
            plan = self._plan(cell, adjectives)
            if any(plan.faults()):
                continue
            by_width: dict[str, list[Question]] = {}
            for question in self._questions:
                alike = len(question.adjectives) == adjectives and question.is_physics == cell.is_physics
                if alike and plan.fits(question):
                    by_width.setdefault(question.width, []).append(question)
            yield from (QuestionGroup(plan, tuple(found)) for found in by_width.values())


def _said_together(cells: list[Cell]) -> str:
    """Return cells of a design in few words, such as `control and test trials, topmost and bottommost, physics`.

    The parts need not all go with each other: `--dry-run` shows which do.
    """
    parts = (
        " and ".join(dict.fromkeys(TYPES[each.is_test] for each in cells)) + " trials",
        " and ".join(dict.fromkeys(each.rule if each.rule != NONE else "no rule" for each in cells)),
        " and ".join(dict.fromkeys("physics" if each.is_physics else "no physics" for each in cells)),
    )
    return ", ".join(parts)
