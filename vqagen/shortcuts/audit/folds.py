"""Folds: the parts of a file of which each is guessed by predictors that learned from the others.

Items that betray each other's answers, a cluster, lie in one fold. If the file's answers are balanced in windows of
scenes, folds hold whole windows: of half a window, the other half shows which answers it must have.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vqagen.extras import needed
from vqagen.shortcuts.audit.items import AuditFile, AuditItem
from vqagen.shortcuts.clusters import cluster_numbers, numbered
from vqagen.shortcuts.stats.sample import FOLDS

WHAT = "vqagen audit"
"""The command, in messages about missing extras."""


class Folds(NamedTuple):
    """The folds of a file."""

    of_items: list[int]
    """The fold of each item."""
    clusters: NDArray[np.int64]
    """The cluster of each item: items of one cluster are not independent."""
    is_apart: bool
    """True if answers in one fold do not depend on those in another, as far as the file says."""


def make_folds(file: AuditFile) -> Folds | None:
    """Return the folds of a file; None if all its items belong together."""
    clusters = cluster_numbers([item.image for item in file.items], [item.block for item in file.items], FOLDS)
    windows = [_window(item, file.window) for item in file.items]
    has_windows = None not in windows and len(set(windows)) >= FOLDS
    groups = numbered(windows) if has_windows else clusters
    if len(set(groups)) < 2:
        return None
    return Folds(_split(file.items, groups), np.array(clusters), has_windows or not file.window)


def _window(item: AuditItem, size: int) -> int | None:
    index = item.clue.scene_index
    return None if index is None or not size else index // size


def _split(items: Sequence[AuditItem], groups: Sequence[int]) -> list[int]:
    """Return the fold of each item: folds have whole groups, and about the same answers of each family."""
    selection = needed("sklearn.model_selection", "stats", WHAT)
    number = min(FOLDS, len(set(groups)))
    labels = [f"{item.right if item.tokens else item.clue.family}/{item.clue.answer}" for item in items]
    is_stratified = Counter(labels).most_common(1)[0][1] >= number
    splitter = selection.StratifiedGroupKFold(number) if is_stratified else selection.GroupKFold(number)
    folds = [0] * len(items)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an answer that is rarer than there are folds
        for fold, (_, tested) in enumerate(splitter.split(np.zeros(len(items)), labels, groups)):
            for place in tested:
                folds[place] = fold
    return folds
