"""The floor of an evaluation: the credit that guesses without the picture have of each item.

Two guesses need no training file:

* the most frequent answers of the item's family, counted on the other images (ties: the first in the order of texts);
* any of the answers to the item's function, all equally likely: 1/2 for yes and no. With options, any of these.

Of each function the better guess is taken. The first one alone would be below chance where the answers of a family are
balanced, for leaving out an item makes its answer rarer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vqagen.score.scoring.columns import Codes

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


class Clues(NamedTuple):
    """All that the guesses know, as codes of 0 and more: of each item its family, function, image and answer."""

    families: Codes
    functions: Codes
    images: Codes
    answers: Codes
    """In the order of their texts."""
    options: Codes
    """The number of options; 0 for free answers."""


def floors(clues: Clues, k: int = 1) -> Floats:
    """Return the credit that the better guess has of each item, if k answers may be named."""
    frequent = guessed_by_others(clues.families, clues.images, clues.answers, k)
    uniform = np.minimum(1.0, k / _possible(clues))
    wins = np.bincount(clues.functions, weights=frequent) > np.bincount(clues.functions, weights=uniform)
    return np.where(wins[clues.functions] & (clues.options == 0), frequent, uniform)


def _possible(clues: Clues) -> Floats:
    """Return the number of answers among which each item is guessed: its options, or those to its function."""
    pairs = np.unique(np.stack([clues.functions, clues.answers]), axis=1)
    of_function = np.maximum(2, np.bincount(pairs[0], minlength=int(clues.functions.max(initial=0)) + 1))
    return np.where(clues.options > 0, clues.options, of_function[clues.functions]).astype(np.float64)


def guessed_by_others(groups: Codes, images: Codes, answers: Codes, k: int = 1) -> Floats:
    """Return 1.0 for each item whose answer is among the k most frequent ones of its group on all other images."""
    if not len(groups):
        return np.empty(0)
    cells, cell_of_item = _cells(groups, images, answers)
    ahead = _ahead(cells) - _ahead_here_only(cells)
    return ((cells.left > 0) & (ahead < k)).astype(np.float64)[cell_of_item]


class _Cells(NamedTuple):
    """Groups, images and answers that occur together, sorted by group and image."""

    groups: Numbers
    pairs: Numbers
    """A number for the group and the image."""
    answers: Numbers
    totals: Numbers
    """Items with the cell's group and answer, on any image."""
    left: Numbers
    """The same without those of the cell."""

    def strengths(self, counts: Numbers) -> Numbers:
        """Return numbers that order the cells' answers by counts; of equal counts, the first answer is stronger."""
        base = int(self.answers.max()) + 1
        return counts * base + (base - 1 - self.answers)


def _cells(groups: Codes, images: Codes, answers: Codes) -> tuple[_Cells, Numbers]:
    """Return the cells, and the cell of each item."""
    image_base, answer_base = int(images.max()) + 1, int(answers.max()) + 1
    pairs, pair_of_item = np.unique(groups.astype(np.int64) * image_base + images, return_inverse=True)
    cells, cell_of_item, sizes = np.unique(
        pair_of_item.astype(np.int64) * answer_base + answers, return_inverse=True, return_counts=True
    )
    pair_of_cell, answer_of_cell = cells // answer_base, cells % answer_base
    group_of_cell = pairs[pair_of_cell] // image_base
    _, kind_of_cell = np.unique(group_of_cell * answer_base + answer_of_cell, return_inverse=True)
    totals = np.bincount(kind_of_cell, weights=sizes).astype(np.int64)[kind_of_cell]
    return _Cells(group_of_cell, pair_of_cell, answer_of_cell, totals, totals - sizes), cell_of_item


def _ahead(cells: _Cells) -> Numbers:
    """Return how many other answers of a cell's group are more frequent on all images than its own on the others."""
    base = int(cells.strengths(cells.totals).max()) + 1
    known = np.unique(cells.groups * base + (base - 1 - cells.strengths(cells.totals)))
    """Each answer of each group once, strongest first."""
    before = np.searchsorted(known, cells.groups * base + (base - 1 - cells.strengths(cells.left)))
    return before - np.searchsorted(known, cells.groups * base) - 1  # its own is before itself


def _ahead_here_only(cells: _Cells) -> Numbers:
    """Return how many of those are ahead only with the items of the cell's own image."""
    fewer = np.zeros(len(cells.pairs), dtype=np.int64)
    left, totals = cells.strengths(cells.left), cells.strengths(cells.totals)
    for step in range(1, len(fewer)):
        first = np.flatnonzero(cells.pairs[step:] == cells.pairs[:-step])
        if not first.size:
            break
        for one, other in ((first, first + step), (first + step, first)):
            fewer[one] += (totals[other] > left[one]) & (left[other] < left[one])
    return fewer
