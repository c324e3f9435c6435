"""Answers by their frequency: of a group the most frequent one, one that is drawn, or any that is possible."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from vqagen.rng import stream
from vqagen.score.items.table import NONE, Codes, Places
from vqagen.shortcuts.groups import Integers, distinct
from vqagen.shortcuts.task import YES_NO, Floats, Guesses, Task, credits_of


def majority_of(*names: str) -> Callable[[Task, Places, Places], Guesses]:
    """Return the predictor by the most frequent answers of an item's group, or of the first of its groups that was
    learned from, each named as the task names it.
    """

    def majority(task: Task, learn: Places, ask: Places) -> Guesses:
        ranked = np.full((len(ask), task.top_k), NONE, dtype=np.int32)
        left = np.arange(len(ask))
        for groups in (getattr(task, name) for name in names):
            ranked[left] = most_frequent(groups[learn], task.answers[learn], groups[ask[left]], task.top_k)
            left = left[ranked[left, 0] == NONE]
        return task.guesses(ask, ranked)

    return majority


def most_frequent(groups: Codes, answers: Codes, asked: Codes, k: int) -> Integers:
    """Return the k most frequent answers in each asked group; of equally frequent ones, the one that occurs first.

    >>> most_frequent(np.array([0, 0, 0, 1]), np.array([7, 5, 7, 5]), np.array([0, 1]), 2)
    array([[ 7,  5],
           [ 5, -1]])
    """
    if not len(groups):
        return np.full((len(asked), k), NONE)
    (group, answer), pair_of_item = distinct(groups, answers)
    first = np.empty(len(group), dtype=np.int64)
    first[pair_of_item[::-1]] = np.arange(len(groups))[::-1]
    order = np.lexsort((first, -np.bincount(pair_of_item), group))
    group, answer = group[order], answer[order]
    at = np.searchsorted(group, asked)[:, None] + np.arange(k)
    found = np.minimum(at, len(group) - 1)
    return np.where((at < len(group)) & (group[found] == asked[:, None]), answer[found], NONE)


of_family = majority_of("families", "types", "all")


def uniform(task: Task, learn: Places, ask: Places) -> Guesses:
    """Answer with any answer that there is to the type, of which all are known; where "yes" is one, so is "no"."""
    both = np.concatenate([learn, ask])
    (types, answers), _ = distinct(task.types[both], task.answers[both])
    truths = np.array([task.vocabulary.index(text) for text in YES_NO])
    closed = np.setdiff1d(types, types[~np.isin(answers, truths)])
    types, answers = np.append(types, np.repeat(closed, 2)), np.append(answers, np.tile(truths, len(closed)))
    (types, answers), _ = distinct(types, answers)
    found = _drawn(task, ask, task.types[ask], (types, answers, np.ones(len(types))), "uniform")
    return found._replace(expected=np.minimum(1.0, task.top_k * found.expected))


def prior(task: Task, learn: Places, ask: Places) -> Guesses:
    """Answer as often with each answer as it is right in the type; of an unknown type, among all items."""
    if not len(learn):
        return task.guesses(ask, np.full((len(ask), 1), NONE))
    taught = np.append(task.types[learn] + 1, task.all[learn])
    asked = np.where(np.isin(task.types[ask], task.types[learn]), task.types[ask] + 1, 0)
    (groups, answers), pair_of_item = distinct(taught, np.tile(task.answers[learn], 2))
    return _drawn(task, ask, asked, (groups, answers, np.bincount(pair_of_item).astype(np.float64)), "prior")


def _drawn(
    task: Task, ask: Places, asked: Integers, possible: tuple[Integers, Integers, Floats], label: str
) -> Guesses:
    """Answer with answers drawn by their weights in the asked groups; further ones are those behind it.

    `possible` are groups, in ascending order, their answers and the weights. The expected credit is that of the first.
    """
    groups, answers, weights = possible
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    starts, ends = np.searchsorted(groups, asked), np.searchsorted(groups, asked, side="right")
    rng = np.random.RandomState(stream(task.seed, label).getrandbits(32))  # its numbers are the same in all versions
    drawn = sums[starts] + rng.random_sample(len(task.items))[ask] * (sums[ends] - sums[starts])
    first = np.clip(np.searchsorted(sums, drawn, side="right") - 1, starts, np.maximum(starts, ends - 1)) - starts
    ranks, sizes = np.arange(task.top_k), (ends - starts)[:, None]
    behind = starts[:, None] + (first[:, None] + ranks) % np.maximum(1, sizes)
    ranked = np.where(ranks < sizes, answers[np.minimum(behind, len(answers) - 1)], NONE)
    totals, shares = np.bincount(groups, weights=weights), defaultdict[tuple[int, str], float](float)
    for group, code, weight in zip(groups.tolist(), answers.tolist(), weights.tolist(), strict=True):
        shares[group, task.vocabulary[code].lower()] += weight / totals[group]
    golds = task.items.gold
    (gold, kinds), back = distinct(golds.codes[ask], asked)
    expected = [
        sum(credit * shares.get((kind, text), 0.0) for text, credit in credits_of(golds.values[each]).items())
        for each, kind in zip(gold.tolist(), kinds.tolist(), strict=True)
    ]
    return Guesses(ranked, np.array(expected)[back])
