"""Exchange blocks: questions that share their options, each of which is the right answer of one of them.

A block of four questions has four different answers, and these are the options of all four. A rule that sees only the
options says the same for each question of a block, and so is right for one of four, whatever it is and whatever it has
learned. Example: three scenes, whose objects are of these colors, and a question about a color in each.

    right   others in the scene
    red     blue, green, gray         a block of the options red, blue and green; gray cannot be added, which is in no
    blue    red, green                other scene, and without which three questions are left
    green   red, blue
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vqagen.bits import Objects, indexes
from vqagen.rng import pick, shuffled


class Asked(NamedTuple):
    """A question as blocks see it: answers are numbers, sets of them ints (see `bits`)."""

    number: int
    """The question's own number."""
    answer: int
    fitting: Objects
    """The answers that can be its options, the right one included."""


Block = Mapping[int, int]
"""Number of a question -> its answer."""
_Kind = tuple[int, Objects]
"""Answer and fitting answers: questions in which these are the same can take each other's place."""
_Cell = tuple[int, int]
"""Row and column of the table of sets."""


def exchange_blocks(questions: Sequence[Asked], size: int, rng: Random) -> Iterator[Block]:
    """Yield blocks of `size` questions as long as there are any; those that are left are in none.

    Each block takes the set of options whose scarcest answer has the most questions left, so that frequent answers are
    used up first; ties are drawn. Of the questions with an answer, those with the fewest fitting options come first.
    """
    of_kind: dict[_Kind, list[int]] = {}
    for each in shuffled(rng, questions):
        of_kind.setdefault((each.answer, each.fitting), []).append(each.number)
    kinds = sorted(of_kind, key=lambda kind: (kind[1].bit_count(), kind))
    sets, cells_of = _sets_of(kinds, size)
    if not sets:
        return
    left = np.zeros((len(sets), size), dtype=np.int64)
    kinds_at: dict[_Cell, list[_Kind]] = {}
    for kind in kinds:
        rows, columns = cells_of[kind]
        left[rows, columns] += len(of_kind[kind])
        for cell in zip(rows.tolist(), columns.tolist(), strict=True):
            kinds_at.setdefault(cell, []).append(kind)
    weight = len(questions) + 1
    while True:
        scores = left.min(axis=1) * weight + left.sum(axis=1)
        best = int(scores.max())
        row = pick(rng, np.flatnonzero(scores == best).tolist())
        if not left[row].all():
            return
        block = {}
        for column, answer in enumerate(sets[row]):
            kind = next(each for each in kinds_at[row, column] if of_kind[each])
            block[of_kind[kind].pop()] = answer
            left[cells_of[kind]] -= 1
        yield block


def _sets_of(
    kinds: Sequence[_Kind], size: int
) -> tuple[list[tuple[int, ...]], dict[_Kind, tuple[NDArray[np.int64], NDArray[np.int64]]]]:
    """Return all sets of `size` options that a question fits, and the cells (set, answer) that each kind fits."""
    rows: dict[tuple[int, ...], int] = {}
    found = {}
    for answer, fitting in kinds:
        others = indexes(fitting & ~(1 << answer))
        sets = [tuple(sorted((answer, *rest))) for rest in combinations(others, size - 1)]
        numbers = np.array([rows.setdefault(each, len(rows)) for each in sets], dtype=np.int64)
        found[answer, fitting] = numbers, np.array([each.index(answer) for each in sets], dtype=np.int64)
    return list(rows), found


def arranged(block: Block, rng: Random) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield each question of a block with its options in order: the right one stands once at every place."""
    places = shuffled(rng, range(len(block)))
    for place, (number, answer) in zip(places, block.items(), strict=True):
        order = shuffled(rng, [other for other in block.values() if other != answer])
        order.insert(place, answer)
        yield number, tuple(order)
