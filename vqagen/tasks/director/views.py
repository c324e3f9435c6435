"""Who picks which cells of a grid: the participant sees all items, the director those in open cells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from vqagen.bits import Objects, first_n, indexes, is_single, only, union_of
from vqagen.tasks.director.reading import WrittenTrial, spoken_rule
from vqagen.tasks.director.rules import (
    CLASS_OF,
    DIRECTOR,
    MIRRORED,
    NONE,
    RELATION,
    SIZE,
    SMALLEST,
    STEPS,
    labels,
    line_ranks,
    rays,
)


class Views:
    """A trial whose items are known, as both understand it. Sets are cells."""

    def __init__(self, trial: WrittenTrial) -> None:
        self.trial = trial
        self.items = trial.items
        self.all: Objects = union_of(cell for cell, item in enumerate(trial.items) if item)
        """Cells with an item."""
        self.open: Objects = self.all & ~trial.blocked
        """Cells whose item the director sees."""
        self._fitting: dict[frozenset[str], Objects] = {}

    @cached_property
    def fitting(self) -> Objects:
        """Items of which the noun and all adjectives are true."""
        return self.fits(self.trial.criteria)

    @cached_property
    def own(self) -> Objects:
        """The answers of the participant, who sees all."""
        return self.picked(self.all, self.trial.criteria, self.trial.rule)

    @cached_property
    def gold(self) -> Objects:
        """The answers that the director means."""
        return self.picked(self.open, self.trial.criteria, self.trial.rule)

    @property
    def heard(self) -> str:
        """The rule as its words sound to someone who takes left and right for the own ones."""
        return spoken_rule(self.trial.rule, self.trial.frame or DIRECTOR)

    def fits(self, words: frozenset[str]) -> Objects:
        """Return the items of which all words are true."""
        cells = self._fitting.get(words)
        if cells is None:
            fitting = (cell for cell, item in enumerate(self.items) if item and words <= item.true)
            cells = self._fitting[words] = union_of(fitting)
        return cells

    def picked(self, seen: Objects, words: frozenset[str], rule: str) -> Objects:
        """Return the cells that words and a rule pick among those that someone sees, in the participant's frame.

        The rule of a relation picks the nearest item beside the one that fits, if only one does.
        """
        candidates = self.fits(words) & seen
        if rule in STEPS:
            return self.ahead(candidates, seen, rule, 1)
        if rule == NONE or not candidates:
            return candidates
        ranks = self.ranks(rule)
        best = min(ranks[cell] for cell in indexes(candidates))
        return union_of(cell for cell in indexes(candidates) if ranks[cell] == best)

    def ahead(self, origins: Objects, seen: Objects, rule: str, most: int | None = None) -> Objects:
        """Return the first items in the direction of a relation, or all; no item unless there is a single origin."""
        if not is_single(origins):
            return 0
        way = rays(self.trial.width, self.trial.height, rule)[only(origins)]
        return union_of([cell for cell in way if seen >> cell & 1][:most])

    def ranks(self, rule: str) -> Sequence[float]:
        """Return the rank of each cell by a rule: of several items, the one with the least is picked."""
        if CLASS_OF[rule] != SIZE:
            return line_ranks(self.trial.width, self.trial.height, rule)
        sign = 1 if rule == SMALLEST else -1
        return [sign * item.size if item else 0 for item in self.items]


# Kinds of answers ----------------------------------------------------------------------------------------------------

CORRECT, EGOCENTRIC, FRAME, BOTH, DIRECTORS = "correct", "egocentric", "frame", "ego+frame", "director"
FOIL, EMPTY_CELL, OTHER_ITEM, INVALID = "foil", "empty cell", "other item", "invalid"
KINDS = (CORRECT, EGOCENTRIC, FRAME, BOTH, DIRECTORS, FOIL, EMPTY_CELL, OTHER_ITEM, INVALID)
"""All kinds of answers, in the order of reports: how a cell comes to be chosen.

correct        the answer
egocentric     right for someone who overlooks what the director cannot see
frame          right if the director's left and right were the participant's, or the other way round
ego+frame      both mistakes at once
director       right if a director stood behind the grid (where there is none)
foil           an item that lacks one of the adjectives
empty cell     no item stands there
other item     any other item
invalid        no cell of the grid
"""


def kinds_of_cells(views: Views, has_director: bool = True) -> dict[str, str]:
    """Return the kind of answer that each cell of a trial is: label -> kind.

    A cell that is an answer of several kinds is of the first of them in the order of KINDS. Without a director, every
    answer in the participant's view is correct.
    """
    trial = views.trial
    words, swapped = trial.criteria, MIRRORED.get(trial.rule, trial.rule)
    choices: dict[str, Objects]
    if has_director:
        choices = {CORRECT: trial.answer, EGOCENTRIC: views.own, FRAME: views.picked(views.open, words, swapped)}
        choices[BOTH] = views.picked(views.all, words, swapped)
    else:
        choices = {CORRECT: views.own, FRAME: views.picked(views.all, words, swapped), DIRECTORS: views.gold}
    choices[FOIL] = 0 if trial.rule_class == RELATION else _foils(views)
    choices[EMPTY_CELL] = first_n(len(trial.cells)) & ~views.all
    choices[OTHER_ITEM] = views.all
    kinds = {cell: kind for kind, cells in reversed(choices.items()) for cell in indexes(cells)}
    names = labels(trial.width, trial.height)
    return {names[cell]: kinds[cell] for cell in sorted(kinds)}


def _foils(views: Views) -> Objects:
    """Return the items that lack one adjective of the question, and nothing else."""
    foils = 0
    for adjective in views.trial.adjectives:
        foils |= views.fits(views.trial.criteria - {adjective}) & ~views.fitting
    return foils
