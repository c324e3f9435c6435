"""The block on balanced pairs: two questions with one program about two scenes, whose answers differ.

A model that guesses from the words alone answers both of a pair alike, so it is right once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vqagen.errors import counted
from vqagen.score.intervals import wilson
from vqagen.score.report.table import COUNT, SHARE, TEXT, Cell, Table, columns

PAIRS = "pairs"
"""The key of the block."""
_COLUMNS = columns(group=TEXT, pairs=COUNT, both=COUNT, one=COUNT, none=COUNT, both_right=SHARE, low=SHARE, high=SHARE)
ALL = "overall"
Numbers = npt.NDArray[np.int32]


class PairScores(NamedTuple):
    """Pairs by how many of their two questions were answered right."""

    pairs: int
    both: int
    one: int
    none: int


class Partners(NamedTuple):
    """The places of the two questions of each pair."""

    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    parted: int
    """Questions with the number of a pair that does not have two questions."""


def find_partners(pairs: Numbers) -> Partners:
    """Return the partners by the number of the pair of each question; -1 for a question of no pair."""
    places = np.flatnonzero(pairs >= 0)
    places = places[np.argsort(pairs[places], kind="stable")]
    _, starts, sizes = np.unique(pairs[places], return_index=True, return_counts=True)
    whole = starts[sizes == 2]
    return Partners(places[whole], places[whole + 1], int(sizes[sizes != 2].sum()))


def pair_counts(is_right: npt.NDArray[np.bool_], partners: Partners) -> PairScores:
    """Return how many pairs were answered right twice, once and never."""
    right = is_right[partners.first].astype(int) + is_right[partners.second]
    return PairScores(len(right), *(int((right == number).sum()) for number in (2, 1, 0)))


def pairs_table(
    is_right: npt.NDArray[np.bool_], pairs: Numbers, groups: Numbers | None = None, names: tuple[str, ...] = ()
) -> Table | None:
    """Return the block, for all pairs and for each group of their first questions; None if there are no pairs."""
    partners = find_partners(pairs)
    if not len(partners.first):
        return None
    rows = list(_rows(is_right, partners, groups, names))
    notes = (f"{counted(partners.parted, 'question')} without partner",) if partners.parted else ()
    return Table(PAIRS, "Pairs of which both are right", _COLUMNS, tuple(rows), notes)


def _rows(
    is_right: npt.NDArray[np.bool_], partners: Partners, groups: Numbers | None, names: tuple[str, ...]
) -> Iterator[tuple[Cell, ...]]:
    yield _row(ALL, pair_counts(is_right, partners))
    if groups is not None:
        for code, name in sorted(enumerate(names), key=lambda item: item[1]):
            kept = groups[partners.first] == code
            if kept.any():
                some = partners._replace(first=partners.first[kept], second=partners.second[kept])
                yield _row(name, pair_counts(is_right, some))


def _row(name: str, counts: PairScores) -> tuple[Cell, ...]:
    low, high = wilson(counts.both, counts.pairs)
    return name, *counts, counts.both / counts.pairs, low, high
