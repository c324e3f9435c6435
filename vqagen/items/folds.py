"""Folds: parts of the items of a file, each of which is answered by what the others teach.

Items that betray each other's answers lie in one fold: those about one image, of one pair, of one block that exchanges
its options, and of one window in which answers are balanced. All commands that guess take these folds, so that each
figure has one value. Folds are shuffled: were they dealt in the order of the file, a shortcut that returns in each
twentieth image would be learned from other images alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vqagen.errors import counted
from vqagen.items.groups import Integers, distinct, family_codes
from vqagen.items.table import NONE, Codes, Items, Places
from vqagen.rng import shuffled, stream

FOLDS = 5
MANY = 20_000
"""Groups beyond which chance alone gives each fold about the same answers."""
NOT_TESTED = "not tested"
FEW_IMAGES = "{}: guesses are tested on images that they were not learned from, which needs at least 5"
LARGEST = 0.75
"""Share of the items that may be joined by windows of balance: the rest must be enough to learn from."""


class Folds(NamedTuple):
    """The folds of a file."""

    of_items: Codes
    number: int
    """1 if all items belong together, so that there is nothing to learn from."""
    clusters: Codes
    """The cluster of each item: items of one cluster are no independent evidence."""
    is_apart: bool
    """True if answers in one fold do not depend on those in another, as far as the file says."""

    def fault(self, items: Items) -> str:
        """Return why nothing of these items can be tested on images that it was not learned from; "" if it can."""
        if self.number < 2 or len(np.unique(items.images.codes)) < FOLDS:
            return items.image_fault or FEW_IMAGES.format(counted(len(np.unique(items.images.codes)), "image"))
        return items.image_fault

    def splits(self) -> list[tuple[Places, Places]]:
        """Return of each fold the places of the items to learn from, and of those to answer."""
        own = [self.of_items == fold for fold in range(self.number)]
        return [(np.flatnonzero(~is_asked), np.flatnonzero(is_asked)) for is_asked in own]


def make_folds(items: Items, seed: int = 0) -> Folds:
    """Return the folds of a file: windows of balance if there are several, else clusters, shuffled by the seed."""
    clusters = clusters_of(items)
    groups, windows = clusters, None if items.windows is None else items.windows.codes
    if windows is not None:
        joined = connected(len(items), clusters, windows)
        if _largest(joined) <= LARGEST * len(items):
            groups = joined
    answers = np.where(items.is_marked, 0, items.answers.codes + 1)
    fold_of_group = _dealt(groups, distinct(family_codes(items), answers)[1], seed)
    number = int(fold_of_group.max(initial=0)) + 1
    return Folds(fold_of_group[groups], number, clusters, windows is None or groups is not clusters)


def _dealt(groups: Codes, labels: Integers, seed: int) -> Codes:
    """Return the fold of each group, in random order, so that each fold has about the same share of each label.

    Labels are the answers of each family. Were these balanced exactly, answers that are rarer among those learned from
    would be more frequent among those asked, and each guess by counts below chance. Letters on objects are no labels:
    one that is by chance more frequent in a family would be so in each fold, and be learned.
    """
    sizes = np.bincount(groups)
    number = min(FOLDS, len(sizes))
    order = np.array(shuffled(stream(seed, "folds"), range(len(sizes))), dtype=np.int64)
    found = np.empty(len(sizes), dtype=np.int32)
    if len(sizes) > MANY:
        found[order] = np.arange(len(sizes)) % number
        return found
    weights, shares = 1 / np.bincount(labels)[labels], np.zeros((number, int(labels.max(initial=0)) + 1))
    filled = np.zeros(number)
    by_group = np.split(np.argsort(groups, kind="stable"), np.cumsum(sizes)[:-1])
    for group in order[np.argsort(-sizes[order], kind="stable")]:
        own = by_group[group]
        found[group] = fold = int((shares[:, labels[own]].sum(axis=1) + filled * len(own)).argmin())
        np.add.at(shares[fold], labels[own], weights[own])
        filled[fold] += len(own) / len(groups)
    return found


def clusters_of(items: Items) -> Codes:
    """Return the number of each item's cluster: items about one image or of one pair or block, and who shares any.

    If a cluster then has more than a fold should have, blocks and pairs alone are clusters, and so are the items about
    one image that are in none.
    """
    images, pairs, blocks = items.images.codes, items.pairs.codes, items.blocks.codes
    clusters = connected(len(items), images, pairs, blocks)
    if _largest(clusters) * FOLDS <= len(items):
        return clusters
    return connected(len(items), np.where((pairs == NONE) & (blocks == NONE), images, NONE), pairs, blocks)


def connected(items: int, *columns: Codes) -> Codes:
    """Number items so that those with equal codes in any column share a number, in the order of first appearance.

    >>> connected(4, np.array([0, 0, 1, 2]), np.array([NONE, 0, 0, NONE]))
    array([0, 0, 0, 1], dtype=int32)
    """
    least = np.arange(items)
    """The first item that each is known to be connected with."""
    while True:
        before = least
        for codes in columns:
            known = codes != NONE
            first = np.full(int(codes.max(initial=0)) + 1, items)
            np.minimum.at(first, codes[known], least[known])
            least = least.copy()
            least[known] = first[codes[known]]
        least = least[least]
        if np.array_equal(least, before):
            return np.unique(least, return_inverse=True)[1].astype(np.int32)


def _largest(groups: Codes) -> int:
    return int(np.bincount(groups).max()) if len(groups) else 0
