"""Predictors: ways to answer without the picture. Each is a function over the table of items, and a row of PREDICTORS.

A predictor takes the table, the places of the items to learn from and those to answer, and returns its answers. What
can be guessed (`stats`), whether it is more than chance (`audit`), what a guess scores (`baseline`) and the floor of an
evaluation are four views of this list. To add one, write the function and its row:

    def last_answer(task: Task, learn: Places, ask: Places) -> Guesses:
        return task.guesses(ask, np.full((len(ask), 1), task.answers[learn[-1]]))

    Predictor("last", "the answer of the last question", last_answer)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vqagen.rng import stream
from vqagen.score.answers.kinds import text_of
from vqagen.score.answers.vqa_words import vqa_accuracy
from vqagen.score.items.table import NONE, Codes, Gold, Items, Places
from vqagen.shortcuts.folds import Folds, make_folds

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]
TYPES = ("function", "question_type", "category", "type", "answer_type")
FAMILIES = ("family", "label", "rule_class", *TYPES)
"""Fields whose groups are guessed by their most frequent answers: the first one that any item has."""
YES_NO = ("yes", "no")


class Guesses(NamedTuple):
    """The answers of a predictor to some items."""

    ranked: Integers
    """`ranked[item, rank]` is the code of an answer, best first; NONE where it has no further one."""
    expected: Floats
    """The expected credit of the best of them: the probability that one is right. NaN if it does not concern the item.
    """


@dataclass(frozen=True)
class Task:
    """What predictors read: the items, and which of them are learned from."""

    items: Items
    splits: Sequence[tuple[Places, Places]]
    """Places of the items to learn from, and of those to answer by what these teach."""
    top_k: int = 1
    """Answers that may be named, of which the best counts."""
    seed: int = 0

    @classmethod
    def within(cls, items: Items, top_k: int = 1, seed: int = 0, folds: Folds | None = None) -> Task:
        """Answer each part of a file by what the other parts teach."""
        return cls(items, (folds or make_folds(items, seed)).splits(), top_k, seed)

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """All answers in the order of their first appearance: of equally frequent ones, the first is guessed."""
        return tuple(dict.fromkeys((*self.items.answers.values, *YES_NO)))

    @property
    def answers(self) -> Codes:
        """The canonical answer of each item, as its place in the `vocabulary`."""
        return self.items.answers.codes

    @cached_property
    def types(self) -> Codes:
        """The group of each item by the function that gives its answer or, in foreign files, their own type."""
        return _grouped(self.items, TYPES)

    @cached_property
    def families(self) -> Codes:
        """The family of each item, or the label of a round; its type if it has none."""
        return _grouped(self.items, FAMILIES)

    @cached_property
    def texts(self) -> Codes:
        """The text of each item."""
        assert self.items.learning is not None, "read the items with learning=True"
        return self.items.learning.texts.codes

    def guesses(self, ask: Places, ranked: Integers) -> Guesses:
        """Return answers that were not drawn at random, with their credits."""
        return Guesses(ranked, self.credits(ask, ranked))

    def credits(self, places: Places, ranked: Integers) -> Floats:
        """Return the credit of the best of the answers to each item."""
        best, golds = np.zeros(len(places)), self.items.gold
        for named in ranked.T:
            (gold, answer), back = distinct(golds.codes[places], named + 1)
            texts = ["", *self.vocabulary]
            pairs = zip(gold.tolist(), answer.tolist(), strict=True)
            found = [credits_of(golds.values[each]).get(texts[code].lower(), 0.0) for each, code in pairs]
            best = np.maximum(best, np.array(found)[back])
        return best


def _grouped(items: Items, names: Sequence[str]) -> Codes:
    """Return the codes of the first of some fields that any item has, from 0 on."""
    column = items.first_column(names)
    return np.zeros(len(items), dtype=np.int32) if column is None else column.codes + 1


@lru_cache(1 << 16)
def credits_of(gold: Gold) -> dict[str, float]:
    """Return the credit of each accepted answer, in lower case: 1, or where annotators answered, that of VQA."""
    if not gold.weights:
        return {text_of(answer).lower(): 1.0 for answer in gold.answers}
    agreeing: dict[str, int] = defaultdict(int)
    for answer, number in zip(gold.answers, gold.weights, strict=True):
        agreeing[text_of(answer).lower()] += number
    return {text: vqa_accuracy(number, sum(gold.weights)) for text, number in agreeing.items()}


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


@dataclass(frozen=True)
class Predictor:
    """A row of PREDICTORS."""

    name: str
    meaning: str
    answer: Callable[[Task, Places, Places], Guesses]
    """Answers the items at the last places by what those at the first ones teach."""


def predict(predictor: Predictor, task: Task) -> Guesses:
    """Return the answers of a predictor to all items; those that no split asks for have none."""
    size = len(task.items)
    found = Guesses(np.full((size, task.top_k), NONE, dtype=np.int32), np.zeros(size))
    for learn, ask in task.splits:
        own = predictor.answer(task, learn, ask)
        found.ranked[ask, : own.ranked.shape[1]] = own.ranked
        found.expected[ask] = own.expected
    return found


# Answers by their frequency -------------------------------------------------------------------------------------------


def majority(task: Task, learn: Places, ask: Places, groups: Sequence[Codes]) -> Guesses:
    """Answer with the most frequent answers of an item's group, or of the first of the groups that was learned from."""
    ranked = np.full((len(ask), task.top_k), NONE, dtype=np.int32)
    left = np.arange(len(ask))
    for each in groups:
        ranked[left] = most_frequent(each[learn], task.answers[learn], each[ask[left]], task.top_k)
        left = left[ranked[left, 0] == NONE]
    return task.guesses(ask, ranked)


def most_frequent(groups: Codes, answers: Codes, asked: Codes, k: int) -> Integers:
    """Return the k most frequent answers in each asked group; of equally frequent ones, that of the lowest code.

    >>> most_frequent(np.array([0, 0, 0, 1]), np.array([5, 7, 7, 5]), np.array([0, 1]), 2)
    array([[ 7,  5],
           [ 5, -1]])
    """
    if not len(groups):
        return np.full((len(asked), k), NONE)
    (group, answer), pair_of_item = distinct(groups, answers)
    counts = np.bincount(pair_of_item)
    order = np.lexsort((answer, -counts, group))
    group, answer = group[order], answer[order]
    at = np.searchsorted(group, asked)[:, None] + np.arange(k)
    found = np.minimum(at, len(group) - 1)
    return np.where((at < len(group)) & (group[found] == asked[:, None]), answer[found], NONE)


def of_all(task: Task, learn: Places, ask: Places) -> Guesses:
    """Answer with the most frequent answers."""
    return majority(task, learn, ask, [_all(task)])


def of_type(task: Task, learn: Places, ask: Places) -> Guesses:
    """Answer with the most frequent answers of the type."""
    return majority(task, learn, ask, [task.types, _all(task)])


def of_family(task: Task, learn: Places, ask: Places) -> Guesses:
    """Answer with the most frequent answers of the family."""
    return majority(task, learn, ask, [task.families, task.types, _all(task)])


def of_text(task: Task, learn: Places, ask: Places) -> Guesses:
    """Answer with the most frequent answers to the same text."""
    return majority(task, learn, ask, [task.texts, task.families, task.types, _all(task)])


def _all(task: Task) -> Codes:
    return np.zeros(len(task.items), dtype=np.int32)


def uniform(task: Task, learn: Places, ask: Places) -> Guesses:
    """Answer with any answer that there is to the type, of which all are known; where "yes" is one, so is "no"."""
    both = np.concatenate([learn, ask])
    (types, answers), _ = distinct(task.types[both], task.answers[both])
    truths = np.array([task.vocabulary.index(text) for text in YES_NO])
    closed = np.setdiff1d(types, types[~np.isin(answers, truths)])
    types, answers = np.append(types, np.repeat(closed, 2)), np.append(answers, np.tile(truths, len(closed)))
    (types, answers), _ = distinct(types, answers)
    found = _drawn(task, ask, types, answers, np.ones(len(types)), "uniform")
    return found._replace(expected=np.minimum(1.0, task.top_k * found.expected))


def prior(task: Task, learn: Places, ask: Places) -> Guesses:
    """Answer as often with each answer as it is right in the type."""
    (types, answers), pair_of_item = distinct(task.types[learn], task.answers[learn])
    return _drawn(task, ask, types, answers, np.bincount(pair_of_item).astype(np.float64), "prior")


def _drawn(task: Task, ask: Places, types: Integers, answers: Integers, weights: Floats, label: str) -> Guesses:
    """Answer with answers drawn by their weights in the item's type; `types` ascend. Further ones are those behind it.

    The expected credit is that of the first.
    """
    asked, sums = task.types[ask], np.concatenate([[0.0], np.cumsum(weights)])
    starts, ends = np.searchsorted(types, asked), np.searchsorted(types, asked, side="right")
    rng = np.random.RandomState(stream(task.seed, label).getrandbits(32))  # its numbers are the same in all versions
    drawn = sums[starts] + rng.random_sample(len(task.items))[ask] * (sums[ends] - sums[starts])
    first = np.clip(np.searchsorted(sums, drawn, side="right") - 1, starts, np.maximum(starts, ends - 1)) - starts
    ranks, sizes = np.arange(task.top_k), (ends - starts)[:, None]
    behind = starts[:, None] + (first[:, None] + ranks) % np.maximum(1, sizes)
    ranked = np.where(ranks < sizes, answers[np.minimum(behind, len(answers) - 1)], NONE)
    totals, shares = np.bincount(types, weights=weights), defaultdict[tuple[int, str], float](float)
    for kind, code, weight in zip(types.tolist(), answers.tolist(), weights.tolist(), strict=True):
        shares[kind, task.vocabulary[code].lower()] += weight / totals[kind]
    golds = task.items.gold
    (gold, kinds), back = distinct(golds.codes[ask], asked)
    expected = [
        sum(credit * shares.get((kind, text), 0.0) for text, credit in credits_of(golds.values[each]).items())
        for each, kind in zip(gold.tolist(), kinds.tolist(), strict=True)
    ]
    return Guesses(ranked, np.array(expected)[back])


PREDICTORS = (
    Predictor("uniform", "any possible answer of the type", uniform),
    Predictor("majority-all", "the most frequent answer", of_all),
    Predictor("majority", "the most frequent answer of the type", of_type),
    Predictor("majority-family", "the most frequent answer of the family", of_family),
    Predictor("majority-question", "the most frequent answer of the text", of_text),
    Predictor("prior", "an answer drawn as often as it is right in the type", prior),
)
"""All predictors, from the weakest to the strongest."""
NAMED = {predictor.name: predictor for predictor in PREDICTORS}
