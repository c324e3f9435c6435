"""Groups of items: by type, by family, or by two codes together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from vqagen.score.items.table import Codes, Items, Places

Integers = npt.NDArray[np.integer[Any]]
CATEGORIES = ("category", "question_type", "type", "answer_type")
TYPES = ("function", "question_type", "category", "type", "answer_type")
FAMILIES = ("family", "label", "rule_class", *TYPES)
"""Fields whose groups are guessed by their most frequent answers: the first one that any item has."""


def families_of(items: Items) -> Codes:
    """Return the family of each item, or the label of a round with the attribute it names; its type without one."""
    return distinct(grouped(items, FAMILIES), grouped(items, ("attribute",)))[1].astype(np.int32)


def grouped(items: Items, names: Sequence[str]) -> Codes:
    """Return the codes of the first of some fields that any item has, from 0 on."""
    column = items.first_column(names)
    return np.zeros(len(items), dtype=np.int32) if column is None else column.codes + 1


def distinct(first: Integers, second: Integers) -> tuple[tuple[Places, Places], Places]:
    """Return the different pairs of codes from 0 on, in ascending order, and of each item the number of its pair.

    >>> distinct(np.array([1, 0, 1]), np.array([5, 7, 5]))
    ((array([0, 1]), array([7, 5])), array([1, 0, 1]))
    """
    size = int(second.max(initial=0)) + 1
    keys = first.astype(np.int64) * size + second
    most = int(keys.max(initial=0)) + 1
    if most > 8 * len(keys):
        cells, back = np.unique(keys, return_inverse=True)
    else:  # the same by counting: 0.1 s in place of 0.9 s of a floor of a million items
        cells = np.flatnonzero(np.bincount(keys, minlength=most))
        number = np.zeros(most, dtype=np.int64)
        number[cells] = np.arange(len(cells))
        back = number[keys]
    return (cells // size, cells % size), back
