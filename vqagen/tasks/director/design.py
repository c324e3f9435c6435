"""The design: which trial is of which type, rule, frame and kind of question, in exact shares; trials and records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from vqagen.rng import shuffled, stream
from vqagen.tasks.director.catalogue import ItemCatalogue
from vqagen.tasks.director.instructions import Form, Instructions
from vqagen.tasks.director.question_table import Question
from vqagen.tasks.director.rules import (
    FRAMES,
    HORIZONTAL,
    NONE,
    PARTICIPANT,
    RELATION,
    RULES,
    SIZE,
    TYPES,
    VERTICAL,
    labels,
    says_frame,
)
from vqagen.tasks.director.settings import SUPERLATIVE, DirectorSettings

WINDOW = 960
"""Trials in a window: shares of halves, thirds, quarters and fifths come out even."""


class Cell(NamedTuple):
    """One cell of the design."""

    is_test: bool
    rule_class: str
    rule: str
    frame: str | None
    """Whose point of view the text names; None if it names none."""
    is_physics: bool

    def __str__(self) -> str:
        rule = self.rule if self.rule != NONE else "no rule"
        kind = "physics" if self.is_physics else "no physics"
        return ", ".join((TYPES[self.is_test], rule, kind))


class ExactShares:
    """Draws numbers in fixed shares: after any number of draws, each was drawn its share of times, off by less than 1.

    The method is the one of Tijdeman, "The chairman assignment problem" (1980); where several numbers are equally due,
    chance decides.
    """

    def __init__(self, shares: Sequence[float], rng: Random) -> None:
        self._shares, self._rng = shares, rng
        self._drawn, self._draws = [0] * len(shares), 0
        self._due: list[int] = []
        self._are_equal = len(set(shares)) == 1

    def draw(self) -> int:
        """Return the next number."""
        numbers = range(len(self._shares))
        if self._are_equal:
            self._due = self._due or shuffled(self._rng, numbers)
            return self._due.pop()
        self._draws += 1
        slack = 1 / (2 * len(self._shares) - 2)
        owed = {number: self._draws * self._shares[number] - self._drawn[number] for number in numbers}
        waits = {
            number: round((1 - slack - lack) / self._shares[number], 6)
            for number, lack in owed.items()
            if lack >= slack - 1e-9
        }
        shortest = min(waits.values())
        chosen = shuffled(self._rng, [number for number, wait in waits.items() if wait == shortest])[0]
        self._drawn[chosen] += 1
        return chosen


class Design:
    """The cells of a window of trials (or pairs). Shares hold inside each part of the wider division.

    Trials are divided by type, then by rule class, by frame, by physics, and by rule: of 8 trials 4 are tests, of these
    2 are about sizes, and of these one has physics. In pairs, each cell gives two trials.
    """

    def __init__(self, settings: DirectorSettings, window: int) -> None:
        self._settings, self._rng = settings, stream(settings.seed, "design", window)
        self._root = self._divided()

    def cells(self) -> Iterator[Cell]:
        """Yield cells without end."""
        while True:
            part = self._root
            while not isinstance(part, Cell):
                shares, parts = part
                part = parts[shares.draw()]
            yield part

    def leaves(self) -> Iterator[Cell]:
        """Yield every cell that has a share, in order."""
        return _leaves(self._root)

    def _divided(self, *chosen: Any) -> _Part:
        """Return the division of what has the `chosen` type, rule class, frame, physics and rule, as far as given."""
        if len(chosen) == len(Cell._fields):
            is_test, rule_class, frame, is_physics, rule = chosen
            return Cell(is_test, rule_class, rule, frame, is_physics)
        used = {value: share for value, share in self._shares(*chosen).items() if share > 0}
        if len(used) == 1:
            return self._divided(*chosen, *used)
        return ExactShares([*used.values()], self._rng), [self._divided(*chosen, value) for value in used]

    def _shares(self, *chosen: Any) -> Mapping[Any, float]:
        """Return the share of each value of what is not chosen yet."""
        settings = self._settings
        tests = 1.0 if settings.paired else settings.test_share
        if not chosen:
            return {False: 1 - tests, True: tests}
        if len(chosen) == 1:
            return class_shares(settings)
        if len(chosen) == 2:
            return dict.fromkeys(FRAMES if says_frame(settings.suffix, chosen[1]) else (None,), 0.5)
        if len(chosen) == 3:
            return {False: 1 - settings.physics_share, True: settings.physics_share}
        return dict.fromkeys(RULES[chosen[1]], 1.0)


_Part = Cell | tuple[ExactShares, Sequence["_Part"]]
"""A cell, or what is divided into parts in exact shares."""


def _leaves(part: _Part) -> Iterator[Cell]:
    if isinstance(part, Cell):
        yield part
        return
    _, parts = part
    for inner in parts:
        yield from _leaves(inner)


def class_shares(settings: DirectorSettings) -> dict[str, float]:
    """Return the share of each rule class."""
    if settings.questions != SUPERLATIVE:
        return {RELATION: 1.0}
    shares = {SIZE: settings.size_share, VERTICAL: settings.vertical_share, HORIZONTAL: settings.horizontal_share}
    return {NONE: max(round(1 - sum(shares.values()), 9), 0.0), **shares}


def number_of_trials(settings: DirectorSettings, window: int) -> Counter[Cell]:
    """Return how many trials a run makes for each cell, in windows of so many; pairs count as one."""
    step = 2 if settings.paired else 1
    first, end, size = settings.start_index // step, (settings.start_index + settings.count) // step, window // step
    numbers: Counter[Cell] = Counter()
    for number in range(first // size, -(-end // size)):
        start = number * size
        numbers.update(islice(Design(settings, number).cells(), max(first - start, 0), min(end - start, size)))
    return numbers


# Trials --------------------------------------------------------------------------------------------------------------

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


# Records -------------------------------------------------------------------------------------------------------------


class RecordMaker:
    """Words trials and records them. Their grids have one width and height."""

    def __init__(self, catalogue: ItemCatalogue, instructions: Instructions, width: int, height: int) -> None:
        self._width, self._height, self._instructions, self._catalogue = width, height, instructions, catalogue
        self._labels = labels(width, height)
        self._names: list[str | None] = [*(item.name for item in catalogue.items), None]  # EMPTY is the last place
        self._phrases: dict[object, str] = {}

    def forms_of(self, trial: Trial) -> tuple[Form, ...]:
        """Return all ways to say the instruction."""
        return self._instructions.forms(trial.cell.rule, trial.cell.frame)

    def grid_of(self, trial: Trial) -> tuple[list[str | None], list[bool]]:
        """Return for each cell the name of its item, or None, and whether it is blocked."""
        names, blocked = self._names, trial.blocked
        return [names[item] for item in trial.grid], [place in blocked for place in range(len(trial.grid))]

    def record(self, number: int, trial: Trial, form: Form, names: list[str | None]) -> dict[str, Any]:
        """Return the record of a trial, without its picture."""
        cell, question, label = trial.cell, trial.question, self._labels
        phrase = self._phrases.get(question)
        if phrase is None:
            phrase = self._catalogue.describe(question.noun, question.adjectives)
            self._phrases[question] = phrase
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
            "noun": question.noun,
            "adjectives": list(question.adjectives),
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
