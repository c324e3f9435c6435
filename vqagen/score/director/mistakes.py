"""Kinds of wrong answers: how a cell that is not the answer comes to be chosen.

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

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from vqagen.bits import Objects, first_n, indexes
from vqagen.score.director.rules import MIRRORED, RELATION
from vqagen.score.director.trial import Trial, label
from vqagen.score.director.views import Views, answers, fitting, views_of
from vqagen.score.director.vocabulary import Item

CORRECT, EGOCENTRIC, FRAME, BOTH, DIRECTORS = "correct", "egocentric", "frame", "ego+frame", "director"
FOIL, EMPTY_CELL, OTHER_ITEM, INVALID = "foil", "empty cell", "other item", "invalid"
KINDS = (CORRECT, EGOCENTRIC, FRAME, BOTH, DIRECTORS, FOIL, EMPTY_CELL, OTHER_ITEM, INVALID)
"""All kinds of answers, in the order of reports."""


class _Choice(NamedTuple):
    """A kind of answer and its cells."""

    kind: str
    cells: Objects


def kinds_of_cells(trial: Trial, items: Mapping[str, Item], has_director: bool = True) -> dict[str, str]:
    """Return the kind of answer that each cell of a trial is: label -> kind.

    A cell that is an answer of several kinds is of the first of them in the order of KINDS. Without a director, every
    answer in the participant's view is correct.
    """
    views = views_of(trial, items)
    choices = (*(_with_director if has_director else _without_director)(trial, views), *_other_choices(trial, views))
    found: dict[int, str] = {}
    for kind, cells in choices:
        for cell in indexes(cells):
            found.setdefault(cell, kind)
    return {label(cell, trial.width): found[cell] for cell in sorted(found)}


def _with_director(trial: Trial, views: Views) -> tuple[_Choice, ...]:
    rule, criteria, swapped = trial.rule, trial.criteria, MIRRORED.get(trial.rule, trial.rule)
    return (
        _Choice(CORRECT, trial.answer),
        _Choice(EGOCENTRIC, answers(views.participant, criteria, rule)),
        _Choice(FRAME, answers(views.unmirrored, criteria, swapped)),
        _Choice(BOTH, answers(views.participant, criteria, swapped)),
    )


def _without_director(trial: Trial, views: Views) -> tuple[_Choice, ...]:
    rule, criteria, swapped = trial.rule, trial.criteria, MIRRORED.get(trial.rule, trial.rule)
    return (
        _Choice(CORRECT, answers(views.participant, criteria, rule)),
        _Choice(FRAME, answers(views.participant, criteria, swapped)),
        _Choice(DIRECTORS, answers(views.unmirrored, criteria, rule)),
    )


def _other_choices(trial: Trial, views: Views) -> tuple[_Choice, ...]:
    grid = views.participant
    return (
        _Choice(FOIL, _foils(trial, views)),
        _Choice(EMPTY_CELL, first_n(len(trial.cells)) & ~grid.everything),
        _Choice(OTHER_ITEM, grid.everything),
    )


def _foils(trial: Trial, views: Views) -> Objects:
    """Return the items that lack one adjective of the question, and nothing else. Relations describe another item."""
    found = 0
    if trial.rule_class != RELATION:
        fits = fitting(views.participant, trial.criteria)
        for adjective in trial.adjectives:
            found |= fitting(views.participant, trial.criteria - {adjective}) & ~fits
    return found
