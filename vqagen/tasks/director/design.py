"""The design: what shares the types and rules of trials have, and how many items and blocked cells; their records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from vqagen.tasks.director.catalogue import ItemCatalogue
from vqagen.tasks.director.instructions import Form, Instructions
from vqagen.tasks.director.rules import HORIZONTAL, NONE, PARTICIPANT, RELATION, SIZE, TYPES, VERTICAL, labels
from vqagen.tasks.director.settings import STRICT, SUPERLATIVE, DirectorSettings

DESIGN = 2
"""The number of the design, by which the trials of a file are verified; those of version 1.0 have none."""
WINDOW = 240
"""Trials whose shares are balanced together."""
PLAIN_TESTS = 3
"""How much likelier a strict trial without a rule is a test than one with a rule.

Its control, such as "the blue cup" where one stands, tests nothing but reading: there are 6 % of these by default.
"""


class Cell(NamedTuple):
    """One cell of the design."""

    is_test: bool
    rule_class: str
    rule: str
    frame: str | None
    """Whose point of view the text names; None if it names none."""
    is_physics: bool


def class_shares(settings: DirectorSettings) -> dict[str, float]:
    """Return the share of each rule class."""
    if settings.questions != SUPERLATIVE:
        return {RELATION: 1.0}
    shares = {SIZE: settings.size_share, VERTICAL: settings.vertical_share, HORIZONTAL: settings.horizontal_share}
    return {NONE: max(round(1 - sum(shares.values()), 9), 0.0), **shares}


def cell_shares(settings: DirectorSettings) -> dict[tuple[bool, str], float]:
    """Return the share of each type and rule class that has one."""
    shares = {}
    for rule_class, share in class_shares(settings).items():
        test_share = 0.5 if settings.paired else settings.test_share
        if rule_class == NONE and settings.compat == STRICT:
            test_share = 1.0 if settings.paired else test_share / (test_share + (1 - test_share) / PLAIN_TESTS)
        shares[False, rule_class], shares[True, rule_class] = share * (1 - test_share), share * test_share
    return {cell: share for cell, share in shares.items() if share > 0}


class TrialNumbers(NamedTuple):
    """Numbers of every trial of a design."""

    items: int
    blocked: int
    hidden: range
    """Blocked cells with an item."""


def numbers_of(settings: DirectorSettings) -> TrialNumbers:
    """Return the numbers of a design. As many blocked cells have an item as would by chance, or one more or less."""
    cells = settings.width * settings.height
    items, blocked = share_of(cells, settings.fill), share_of(cells, settings.blocked)
    most, middle = min(blocked, max(items - 1, 0)), round(items * blocked / cells)
    least = max(blocked - (cells - items), min(1, blocked))
    return TrialNumbers(items, blocked, range(min(max(middle - 1, least), most), max(min(middle + 1, most), least) + 1))


def share_of(whole: int, share: float) -> int:
    """Return the share of a number, rounded down; 0.3 of 10 is 3, whatever 0.3 is to a computer."""
    return int(whole * share + 1e-9)


@dataclass(slots=True)
class Trial:
    """One trial. Cells are numbers, items places in the catalogue."""

    cell: Cell
    noun: str
    adjectives: tuple[str, ...]
    grid: list[int]
    """The item in each cell, or -1."""
    blocked: frozenset[int]
    answer: int
    """The cell that the director means."""
    participant_answers: tuple[int, ...]
    """The cells that fit for someone who overlooks that cells are blocked, in order."""
    related_visible: int
    related_blocked: int


# Records -------------------------------------------------------------------------------------------------------------


class RecordMaker:
    """Words trials and records them. Their grids have one width and height."""

    def __init__(self, catalogue: ItemCatalogue, instructions: Instructions, width: int, height: int) -> None:
        self._width, self._height, self._instructions, self._catalogue = width, height, instructions, catalogue
        self._labels = labels(width, height)
        self._names: list[str | None] = [*(item.name for item in catalogue.items), None]  # -1 is the last place
        self._phrases: dict[tuple[str, ...], str] = {}

    def forms_of(self, trial: Trial) -> tuple[Form, ...]:
        """Return all ways to say the instruction."""
        return self._instructions.forms(trial.cell.rule, trial.cell.frame)

    def grid_of(self, trial: Trial) -> tuple[list[str | None], list[bool]]:
        """Return for each cell the name of its item, or None, and whether it is blocked."""
        names, blocked = self._names, trial.blocked
        return [names[item] for item in trial.grid], [place in blocked for place in range(len(trial.grid))]

    def record(self, number: int, trial: Trial, form: Form, names: list[str | None]) -> dict[str, Any]:
        """Return the record of a trial, without its picture."""
        cell, label, words = trial.cell, self._labels, (trial.noun, *trial.adjectives)
        phrase = self._phrases.get(words)
        if phrase is None:
            phrase = self._phrases[words] = self._catalogue.describe(trial.noun, trial.adjectives)
        participant = [label[place] for place in trial.participant_answers]
        return {
            "trial_index": number,
            "trial_type": TYPES[cell.is_test],
            "rule_class": cell.rule_class,
            "rule": cell.rule,
            "frame": cell.frame,
            "is_contested": cell.is_test and cell.frame == PARTICIPANT,
            "is_physics": cell.is_physics,
            "instruction": form.instruction(phrase),
            "template": form.template,
            "noun": trial.noun,
            "adjectives": list(trial.adjectives),
            "width": self._width,
            "height": self._height,
            "cells": names,
            "blocked": [label[place] for place in sorted(trial.blocked)],
            "answer": label[trial.answer],
            "participant_answers": participant,
            "no_director": {"instruction": form.twin(phrase), "answers": participant},
            "counts": {
                "items": len(names) - names.count(None),
                "blocked": len(trial.blocked),
                "related_visible": trial.related_visible,
                "related_blocked": trial.related_blocked,
            },
        }
