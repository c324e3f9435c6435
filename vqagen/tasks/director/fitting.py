"""How likely each question of a layout is, so that neither the grid nor the text alone tells the answer.

Two things must be even. With a set of blocked cells, each open item is as often the answer as any other: the grid alone
tells nothing. With an instruction that has a rule, what is blocked changes the answer in a fixed share of trials, by
default a half: to ignore it is right in half. The weights that keep both, and are otherwise near to the shares of the
design, are found by iterative proportional fitting (Deming and Stephan, "On a least squares adjustment of a sampled
frequency table when the expected marginal totals are known", 1940): each margin is scaled in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Places = npt.NDArray[np.int64]
"""Two rows: the places of the first and of the second question of pairs."""
Flags = npt.NDArray[np.bool_]
CELLS = 64
"""Cells of the largest grid."""
ROUNDS, SHARED_ROUNDS = 24, 12
"""Rounds of fitting, and how many of them scale the shares of the design too, which need not be had exactly."""
_LEAST, _MOST = 1e-100, 1e6
"""What stands for 0 in a divisor, and the most that a margin is scaled by in a round."""


class Margins(NamedTuple):
    """What each question of a layout is of, in numbers from 0 on."""

    sets: Numbers
    """The set of blocked cells."""
    targets: Numbers
    """The answer in that set: `CELLS` times the set, and the cell."""
    instructions: Numbers
    """The instruction."""
    tests: Numbers
    """1 for a test, 0 for a control."""
    cells: Numbers
    """The cell of the design."""
    kinds: Numbers
    """1 if it is about physics, else 0."""
    is_ruled: Flags
    """Whether its instruction has a rule."""
    positions: Numbers
    """Where the answer stands."""

    def take(self, places: npt.NDArray[np.generic]) -> Margins:
        """Return those of the questions in some places."""
        return Margins(*(column[places] for column in self))


def even_questions(margins: Margins, least: Numbers, is_mixed: bool, has_tests: bool, is_paired: bool) -> Flags:
    """Return the questions that are left when each may be asked only if all others can be even.

    Of each set of blocked cells, at least so many items must be answers. If tests are mixed with controls, a control
    without a rule, which tests nothing but reading, does not count, and an instruction with a rule must come as both.
    Pairs are judged by their first questions, and stay or go with the same pair in the other order (`question_pairs`).
    """
    counted: Flags = margins.is_ruled | (margins.tests == has_tests)
    kept, left, number = np.ones(len(margins.sets), bool), -1, int(margins.instructions.max(initial=0)) + 1
    while left != (left := int(kept.sum())):
        if is_mixed:
            types = np.zeros((2, number), bool)
            types[margins.tests[kept], margins.instructions[kept]] = True
            kept &= ~margins.is_ruled | (types[0] & types[1])[margins.instructions]
        asked = np.zeros(int(margins.targets.max(initial=0)) + 1, bool)
        asked[margins.targets[kept & counted]] = True
        first = np.unique(margins.targets[kept & counted], return_index=True)[1]
        answers = np.bincount(margins.sets[kept & counted][first], minlength=len(least))
        kept &= (answers >= least)[margins.sets] & asked[margins.targets]
        if is_paired:
            kept &= np.roll(kept, len(kept) // 2)
    return kept


def question_pairs(margins: Margins, most: int) -> Places:
    """Return the places of two questions with one instruction and different answers, each two in both orders.

    With a rule, one of them is a test; without one, both are. As two grids together tell what can be asked of both, so
    many pairs of sets are used, those of which the most different answers can be asked for.
    """
    order, found = np.argsort(margins.instructions, kind="stable"), []
    rows, answers = margins.take(order), margins.targets[order] % CELLS
    ends = np.searchsorted(rows.instructions, rows.instructions, "right")
    """Behind the last question with the same instruction."""
    first = second = np.arange(len(order))
    while len(first):
        is_inside = second + 1 < ends[first]
        first, second = first[is_inside], second[is_inside] + 1
        is_pair = answers[first] != answers[second]
        is_pair &= rows.tests[first] + rows.tests[second] == 2 - rows.is_ruled[first]
        found.append(order[np.stack((first[is_pair], second[is_pair]))])
    pairs = np.concatenate(found or [np.zeros((2, 0), np.int64)], axis=1)
    sets, answers = paired(margins, pairs)
    different = np.bincount(sets[np.unique(answers, return_index=True)[1]])
    is_used = np.zeros(len(different), bool)
    is_used[np.argsort(-different, kind="stable")[:most]] = True
    pairs = pairs[:, is_used[sets]]
    return np.concatenate((pairs, pairs[::-1]), axis=1)


def paired(margins: Margins, pairs: Places) -> tuple[Numbers, Numbers]:
    """Return the number of the two sets of each pair, and that of the sets with both answers."""
    first, second = margins.targets[pairs]
    both = first // CELLS * (int(margins.sets.max(initial=0)) + 1) + second // CELLS
    return both, (both * CELLS + first % CELLS) * CELLS + second % CELLS


def fitted(
    margins: Margins,
    weights: Floats,
    shared: Sequence[tuple[Numbers, Floats]],
    test_share: float | None,
    evens: Sequence[tuple[Numbers, Numbers, float]],
) -> Floats:
    """Return weights near to the given ones, of which the cells of the design have about their shares.

    With a share of tests, each instruction with a rule has it. In `evens`, all members (the second column) of a group
    (the first) shall have the same weight; the last value is how strongly a round makes them so, 1 being fully.
    """
    instructions = np.unique(margins.instructions, return_inverse=True)[1]
    number = 2 * int(instructions.max()) + 2
    types = np.where(margins.is_ruled, 2 * instructions + margins.tests, number)
    """The type of each instruction; those without a rule have none, and are scaled by 1."""
    scales, parts = np.ones(number + 1), [(*_grouped(groups, members), power) for groups, members, power in evens]
    for turn in range(ROUNDS):
        if turn < SHARED_ROUNDS:
            for numbers, shares in shared:
                weights = weights * _scales(numbers, weights, shares)[numbers]
        if test_share and test_share < 1:
            held = np.bincount(types, weights, number + 1) + _LEAST
            odds = np.clip(held[1:-1:2] / held[:-1:2] * ((1 - test_share) / test_share), 1 / _MOST, _MOST)
            scales[:-1:2], scales[1:-1:2] = odds**test_share, odds ** (test_share - 1)
            weights = weights * scales[types]
        for members, group_of, sizes, power in parts:
            of_members = np.bincount(members, weights)
            even = (np.bincount(group_of, of_members) / sizes)[group_of] / np.maximum(of_members, _LEAST)
            weights = weights * even[members] ** power
        weights = np.maximum(weights / weights.sum(), _LEAST)
    return weights


def _grouped(groups: Numbers, members: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the number of the member in each place, the group of each member, and the size of each group."""
    members = np.unique(members, return_inverse=True)[1]
    group_of = np.zeros(int(members.max()) + 1, np.int64)
    group_of[members] = np.unique(groups, return_inverse=True)[1]
    return members, group_of, np.bincount(group_of)


def _scales(numbers: Numbers, weights: Floats, shares: Floats) -> Floats:
    """Return what the weights of each number must be scaled by to have its share."""
    held = np.bincount(numbers, weights, len(shares))
    wanted = np.where(held > 0, shares, 0)
    scales: Floats = wanted / max(float(wanted.sum()), _LEAST) / np.maximum(held, _LEAST)
    return scales
