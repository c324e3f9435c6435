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

from vqagen.bits import Objects, first_n, indexes
from vqagen.tasks.director.places import labels
from vqagen.tasks.director.rules import MIRRORED, RELATION
from vqagen.tasks.director.views import Views

CORRECT, EGOCENTRIC, FRAME, BOTH, DIRECTORS = "correct", "egocentric", "frame", "ego+frame", "director"
FOIL, EMPTY_CELL, OTHER_ITEM, INVALID = "foil", "empty cell", "other item", "invalid"
KINDS = (CORRECT, EGOCENTRIC, FRAME, BOTH, DIRECTORS, FOIL, EMPTY_CELL, OTHER_ITEM, INVALID)
"""All kinds of answers, in the order of reports."""


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
    found = {cell: kind for kind, cells in reversed(choices.items()) for cell in indexes(cells)}
    names = labels(trial.width, trial.height)
    return {names[cell]: found[cell] for cell in sorted(found)}


def _foils(views: Views) -> Objects:
    """Return the items that lack one adjective of the question, and nothing else."""
    found = 0
    for adjective in views.trial.adjectives:
        found |= views.fits(views.trial.criteria - {adjective}) & ~views.fitting
    return found
