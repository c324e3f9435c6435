"""All questions that can be asked of a layout, for many sets of blocked cells at once: their answers and types.

Cells are bits. A rule is an order of lines of cells: rows for "topmost", columns for "leftmost", size levels for
"smallest". What fits best is all that fits in the first line with any; a relation has each cell of a ray as a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vqagen.bits import Objects, union_of
from vqagen.tasks.director.catalogue import ItemCatalogue
from vqagen.tasks.director.layout import ItemDescription, cells_of
from vqagen.tasks.director.rules import CLASS_OF, MIRRORED, NONE, RELATION, SIZE, SMALLEST, STEPS, line_ranks, rays

CellSets = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
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
        self._lines = {rule: _lines(dict(enumerate(of_rule))) for rule, of_rule in ranks.items()}

    def ask(
        self, grid: Sequence[int], descriptions: Sequence[ItemDescription], blocked: Sequence[Objects]
    ) -> Questions:
        """Return all questions. Strict ones have no ties, and need each of their words."""
        numbers = {cells: 0 for described in descriptions for cells in (described.fitting, *described.without)}
        numbers = {cells: number for number, cells in enumerate(numbers)}
        fitting = np.array([[*numbers]], np.uint64)
        hidden = np.array(blocked, np.uint64)[:, np.newaxis]
        filled = np.array([[cells_of(grid)]], np.uint64)
        seen, is_of_one_kind = filled & ~hidden, self._is_of_one_kind(grid, fitting)
        place = np.array([numbers[described.fitting] for described in descriptions])
        shorter = [
            np.array([numbers[(*described.without, *[described.fitting] * 2)[word]] for described in descriptions])
            for word in range(2)
        ]
        is_said = [np.array([len(described.adjectives) > word for described in descriptions]) for word in range(2)]
        found = []
        for number, rule in enumerate(self._rules):
            answers, own = self._picked(grid, fitting & seen, seen, rule), self._picked(grid, fitting, filled, rule)
            asked = _is_single(answers)
            if CLASS_OF[rule] == SIZE:
                asked &= is_of_one_kind
            if CLASS_OF[rule] == RELATION:
                asked &= _is_single(fitting) & (fitting & seen != 0)
                if rule in MIRRORED:
                    asked &= self._picked(grid, fitting, filled, MIRRORED[rule]) != 0
            if self._is_strict and rule != NONE:
                asked &= _is_needed(fitting, hidden, answers, own, rule)
            of_each = answers[:, place]
            asked = asked[:, place]
            for cells, is_needed in zip(shorter, is_said, strict=True) if self._is_strict else ():
                asked &= ~is_needed | (answers[:, cells] != of_each)
            sets, places = np.nonzero(asked)
            rules = np.full(len(sets), number)
            found.append((sets, places, rules, of_each[sets, places], own[0, place[places]]))
        return Questions(*map(np.concatenate, zip(*found, strict=True)))

    def _picked(self, grid: Sequence[int], fitting: CellSets, seen: CellSets, rule: str) -> CellSets:
        """Return what someone picks who sees some items, for each set of fitting cells that are seen."""
        if rule in STEPS:
            picked = np.zeros(fitting.shape, np.uint64)
            for cell, ray in enumerate(self._rays[rule]):
                if grid[cell] >= 0 and ray:
                    first = _first(seen, [1 << ahead for ahead in ray])
                    picked |= np.where(fitting == np.uint64(1 << cell), first, np.uint64(0))
            return picked
        if rule == NONE:
            return fitting
        if CLASS_OF[rule] == SIZE:
            sign = 1 if rule == SMALLEST else -1
            items = self._catalogue.items
            return _first(
                fitting, _lines({cell: sign * items[item].size for cell, item in enumerate(grid) if item >= 0})
            )
        return _first(fitting, self._lines[rule])

    def _is_of_one_kind(self, grid: Sequence[int], fitting: CellSets) -> Flags:
        kinds: dict[str, list[int]] = {}
        for cell, item in enumerate(grid):
            if item >= 0:
                kinds.setdefault(self._catalogue.items[item].kind, []).append(cell)
        of_kinds = np.array([union_of(cells) for cells in kinds.values()], np.uint64)[:, np.newaxis]
        is_of_one: Flags = ((fitting & ~of_kinds) == 0).any(axis=0, keepdims=True)
        return is_of_one


def _lines(ranks: dict[int, int]) -> list[Objects]:
    """Return the lines of cells, from the least rank on."""
    lines: dict[int, Objects] = {}
    for cell, rank in ranks.items():
        lines[rank] = lines.get(rank, 0) | 1 << cell
    return [lines[rank] for rank in sorted(lines)]


def _first(cells: CellSets, lines: Sequence[Objects]) -> CellSets:
    """Return those of each set of cells that are in the first line with any."""
    found = cells & np.uint64(lines[-1])
    for line in lines[-2::-1]:
        ahead = cells & np.uint64(line)
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
