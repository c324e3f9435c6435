"""What a design can make with a catalogue, found before the first trial; and the trials."""

from __future__ import annotations

from functools import cache, cached_property
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


QuestionGroup = tuple[TrialPlan, list[Question]]
"""Questions that are alike, as wide a noun and as many adjectives, and the plan of their trials."""


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
        table, is_loose = question_table(catalogue), settings.compat == REFERENCE
        self._questions = table.plain_questions if is_loose else table.questions
        self._make = make_loose if is_loose else make_strict
        self._groups_of = cache(self._find_groups)

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
        plan, questions = pick(rng, self._groups_of(cell.rule, cell.rule_class, cell.is_physics))
        return self._make(cell, questions[int(rng.random() * len(questions))], plan, questions, rng)

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
        groups = self._groups_of(cell.rule, cell.rule_class, cell.is_physics)
        questions = sum(len(found) for _, found in groups)
        return CellFeasibility(cell, questions, () if questions else self._faults(cell))

    def _faults(self, cell: Cell) -> tuple[str, ...]:
        """Return why nothing can be made for a cell: what a question without adjectives lacks, or else its words."""
        faults = tuple(TrialPlan(self._settings, cell.rule, cell.rule_class, 0).faults())
        if faults:
            return faults
        is_asked = any(each.is_physics == cell.is_physics for each in self._questions)
        return ("the catalogue has no such question" + " with so few items, cells and sizes" * is_asked,)

    def _find_groups(self, rule: str, rule_class: str, is_physics: bool) -> tuple[QuestionGroup, ...]:
        groups: dict[tuple[int, str], QuestionGroup] = {}
        for adjectives in range(MOST_ADJECTIVES + 1):
            plan = TrialPlan(self._settings, rule, rule_class, adjectives)
            if any(plan.faults()):
                continue
            for question in self._questions:
                alike = len(question.adjectives) == adjectives and question.is_physics == is_physics
                if alike and plan.fits(question):
                    groups.setdefault((adjectives, question.width), (plan, []))[1].append(question)
        return tuple(groups.values())


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
