"""All questions that can be asked of a layout, for many sets of blocked cells at once: their answers and types.

Cells are bits. A rule is an order of lines of cells: rows for "topmost", columns for "leftmost", size levels for
"smallest". What fits best is all that fits in the first line with any; a relation has each cell of a ray as a line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from vqagen.bits import Objects, union_of
from vqagen.tasks.director.catalogue import GridItem, ItemCatalogue
from vqagen.tasks.director.layout import ItemDescription, cells_of
from vqagen.tasks.director.rules import (
    CLASS_OF,
    LARGEST,
    MIRRORED,
    NONE,
    RELATION,
    SIZE,
    SMALLEST,
    STEPS,
    line_ranks,
    rays,
)

CellSets = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
K = TypeVar("K", int, str)
Layout = tuple[Sequence[int], Sequence[ItemDescription]]
"""The item in each cell, and the descriptions that fit some of them."""
_ONE = np.uint64(1)


class Questions(NamedTuple):
    """Questions, one in each place. The same description and rule can be asked with several sets of blocked cells."""

    sets: Numbers
    """The number of the set of blocked cells."""
    descriptions: Numbers
    rules: Numbers
    """The number of the rule, in the order that was given."""
    answers: CellSets
    """The cell that the director means, as a bit."""
    own: CellSets
    """The answers of someone who sees all."""

    @property
    def tests(self) -> Flags:
        """Whether what is blocked changes the answer."""
        tests: Flags = self.answers != self.own
        return tests

    def take(self, places: npt.NDArray[np.generic]) -> Questions:
        """Return the questions in some places."""
        return Questions(*(column[places] for column in self))


class Asker:
    """Asks about grids of one size."""

    def __init__(self, catalogue: ItemCatalogue, width: int, height: int, rules: Sequence[str], is_strict: bool):
        self._catalogue, self._rules, self._is_strict = catalogue, rules, is_strict
        self._rays = {rule: rays(width, height, rule) for rule in rules if rule in STEPS}
        ranks = {
            rule: line_ranks(width, height, rule) for rule in rules if CLASS_OF[rule] not in (NONE, SIZE, RELATION)
        }
        self._lines = {rule: _lines(of_rule) for rule, of_rule in ranks.items()}

    def ask(self, layouts: Sequence[Layout], blocked: CellSets) -> Questions:
        """Return all questions: `blocked` has a column for each layout, and a set of blocked cells in each row.

        Descriptions are numbered through all layouts. Strict questions have no ties, and need each of their words.
        """
        described = [(place, words) for place, layout in enumerate(layouts) for words in layout[1]]
        columns = {(place, cells): 0 for place, words in described for cells in (words.fitting, *words.without)}
        columns = {column: number for number, column in enumerate(columns)}
        of_layout = np.array([place for place, _ in columns])
        fitting = np.array([[cells for _, cells in columns]], np.uint64)
        filled = np.array([[cells_of(grid) for grid, _ in layouts]], np.uint64)[:, of_layout]
        hidden = blocked[:, of_layout]
        kinds = np.array([*self._alike(layouts, of_layout, lambda item: item.kind).values()])
        seen, is_of_one_kind = filled & ~hidden, (fitting & ~kinds == 0).any(axis=0)
        sizes = [cells for _, cells in sorted(self._alike(layouts, of_layout, lambda item: item.size).items())]
        lines = {**self._lines, SMALLEST: sizes, LARGEST: sizes[::-1]}
        column = np.array([columns[place, words.fitting] for place, words in described])
        shorter = [
            np.array([columns[place, (*words.without, *[words.fitting] * 2)[word]] for place, words in described])
            for word in range(2)
        ]
        is_said = [np.array([len(words.adjectives) > word for _, words in described]) for word in range(2)]
        found = []
        for number, rule in enumerate(self._rules):
            answers = self._picked(fitting & seen, seen, rule, lines)
            own = self._picked(fitting, filled, rule, lines)
            asked = _is_single(answers)
            if CLASS_OF[rule] == SIZE:
                asked &= is_of_one_kind
            if CLASS_OF[rule] == RELATION:
                asked &= _is_single(fitting) & (fitting & seen != 0)
                if rule in MIRRORED:
                    asked &= self._picked(fitting, filled, MIRRORED[rule], lines) != 0
            if self._is_strict and rule != NONE:
                asked &= _is_needed(fitting, hidden, answers, own, rule)
            of_each = answers[:, column]
            asked = asked[:, column]
            for cells, is_needed in zip(shorter, is_said, strict=True) if self._is_strict else ():
                asked &= ~is_needed | (answers[:, cells] != of_each)
            sets, places = np.nonzero(asked)
            rules = np.full(len(sets), number)
            found.append((sets, places, rules, of_each[sets, places], own[0, column[places]]))
        return Questions(*map(np.concatenate, zip(*found, strict=True)))

    def _picked(
        self, fitting: CellSets, seen: CellSets, rule: str, lines: Mapping[str, Sequence[CellSets]]
    ) -> CellSets:
        """Return what someone picks who sees some items, for each set of fitting cells that are seen."""
        if rule in STEPS:
            picked = np.zeros(fitting.shape, np.uint64)
            for cell, ray in enumerate(self._rays[rule]):
                if ray:
                    first = _first(seen, [np.array(1 << ahead, np.uint64) for ahead in ray])
                    picked |= np.where(fitting == np.uint64(1 << cell), first, np.uint64(0))
            return picked
        return fitting if rule == NONE else _first(fitting, lines[rule])

    def _alike(self, layouts: Sequence[Layout], of_layout: Numbers, key: Callable[[GridItem], K]) -> dict[K, CellSets]:
        """Return the cells whose items are alike, such as of one size: for each column those of its layout."""
        alike: dict[K, list[Objects]] = {}
        for place, (grid, _) in enumerate(layouts):
            for cell, item in enumerate(grid):
                if item >= 0:
                    alike.setdefault(key(self._catalogue.items[item]), [0] * len(layouts))[place] |= 1 << cell
        return {of: np.array(cells, np.uint64)[of_layout] for of, cells in alike.items()}


def _lines(ranks: Sequence[int]) -> list[CellSets]:
    """Return the lines of cells, from the least rank on."""
    lines = [union_of(cell for cell, rank in enumerate(ranks) if rank == line) for line in range(max(ranks) + 1)]
    return [np.array(cells, np.uint64) for cells in lines]


def _first(cells: CellSets, lines: Sequence[CellSets]) -> CellSets:
    """Return those of each set of cells that are in the first line with any."""
    found = cells & lines[-1]
    for line in lines[-2::-1]:
        ahead = cells & line
        found = np.where(ahead != 0, ahead, found)
    return found


def _is_needed(fitting: CellSets, hidden: CellSets, answers: CellSets, own: CellSets, rule: str) -> Flags:
    """Return where a rule is needed, and someone who sees all has one own answer or the director's."""
    is_needed: Flags = (answers == own) | (_is_single(own) & (own & answers == 0))
    if CLASS_OF[rule] != RELATION:
        open_ones = fitting & ~hidden
        is_needed &= (fitting & hidden != 0) & (open_ones & (open_ones - _ONE) != 0)
    return is_needed


def _is_single(cells: CellSets) -> Flags:
    is_single: Flags = (cells != 0) & (cells & (cells - _ONE) == 0)
    return is_single
