"""The task of a predictor: to answer items by what others teach, fold by fold.

Items that betray each other's answers lie in one fold: those about one image, of one pair, of one block that exchanges
its options, and of one window in which answers are balanced. All commands that guess take these folds, so that each
figure has one value. Folds are shuffled: were they dealt in the order of the file, a shortcut that returns in each
twentieth image would be learned from other images alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from vqagen.errors import counted
from vqagen.items.answers import text_of
from vqagen.items.groups import CATEGORIES, TYPES, Integers, distinct, family_codes, grouped
from vqagen.items.table import NONE, Codes, Column, Gold, Items, Learning, Places
from vqagen.rng import shuffled, stream

T = TypeVar("T")
Floats = npt.NDArray[np.float64]
YES_NO = ("yes", "no")


class Offered(NamedTuple):
    """A row for each option of each item."""

    ends: Integers
    """The row behind the last one of each item."""
    codes: Integers
    """The option, as its place in the vocabulary."""
    credits: Floats
    """The credit of choosing it."""


class Guesses(NamedTuple):
    """The answers of a predictor to some items."""

    ranked: Integers
    """`ranked[item, rank]` is the code of an answer, best first; NONE where it has no further one."""
    expected: Floats
    """The expected credit of the best of them: the probability that one is right. NaN if it does not concern the item.
    """
    note: str = ""
    """What is to be said of them."""


@dataclass(frozen=True, eq=False)
class Task:
    """What predictors read: the items, and which of them are learned from. Items without an answer are neither."""

    items: Items
    splits: Sequence[tuple[Places, Places]]
    """Places of the items to learn from, and of those to answer by what these teach."""
    top_k: int = 1
    """Answers that may be named, of which the best counts."""
    seed: int = 0
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def within(cls, items: Items, top_k: int = 1, seed: int = 0, folds: Folds | None = None) -> Task:
        """Answer each part of a file by what the other parts teach."""
        is_known = items.gold.codes != NONE
        splits = (folds or make_folds(items, seed)).splits()
        return cls(items, [(learn[is_known[learn]], ask[is_known[ask]]) for learn, ask in splits], top_k, seed)

    @classmethod
    def across(cls, train: Items, items: Items, top_k: int = 1, seed: int = 0) -> Task:
        """Answer the items of a file by what those of another one teach: `train` are the first of the task's items."""
        both = joined(train, items)
        places = np.flatnonzero(both.gold.codes != NONE)
        return cls(both, [(places[places < len(train)], places[places >= len(train)])], top_k, seed)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` returns, which is made for the first split and kept for the others."""
        if name not in self._made:
            self._made[name] = make()
        return cast(T, self._made[name])

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Each answer and option, and what programs answer besides -> its place in the `vocabulary`."""
        offered = (text for options in self.items.options.values for text in options.texts)
        texts = dict.fromkeys((*self.items.answers.values, *YES_NO, *offered))
        return {text: number for number, text in enumerate(texts)}

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """All answers and options."""
        return tuple(self.numbers)

    @cached_property
    def text_order(self) -> Integers:
        """The place of each text of the `vocabulary` in alphabetical order."""
        return np.argsort(np.array(self.vocabulary, dtype=np.object_), kind="stable").argsort()

    @property
    def answers(self) -> Codes:
        """The canonical answer of each item, as its place in the `vocabulary`."""
        return self.items.answers.codes

    @cached_property
    def types(self) -> Codes:
        """The group of each item by the function that gives its answer or, in foreign files, their own type."""
        return grouped(self.items, TYPES)

    @cached_property
    def families(self) -> Codes:
        """The family of each item, or the label of a round with the attribute that it names; its type without one."""
        return family_codes(self.items)

    @property
    def learning(self) -> Learning:
        """What is read of the items beside their answers."""
        return self.items.learning

    @cached_property
    def all(self) -> Codes:
        """The group of all items."""
        return np.zeros(len(self.items), dtype=np.int32)

    @property
    def labels(self) -> Codes:
        """The label of each round."""
        return grouped(self.items, ("label",))

    @cached_property
    def categories(self) -> Codes:
        """The question type of each item."""
        return grouped(self.items, CATEGORIES)

    @cached_property
    def offered(self) -> Offered:
        """The options of all items."""
        values, codes = self.items.options.values, self.items.options.codes
        own = np.array([self.numbers[text] for each in values for text in each.texts], dtype=np.int64)
        sizes = np.array([*(len(each.texts) for each in values), 0])
        starts, sizes_of_items = (np.cumsum(sizes) - sizes)[codes], sizes[codes]
        ends = np.cumsum(sizes_of_items)
        items = np.repeat(np.arange(len(codes)), sizes_of_items)
        sources = np.arange(len(items)) + (starts - ends + sizes_of_items)[items]
        return Offered(ends, own[sources], self.credits(items, own[sources][:, None]))

    def option_rows(self, places: Places) -> tuple[Integers, Integers]:
        """Return of each option of some items which of them it is of, and its row in `offered`."""
        ends = self.offered.ends[places]
        sizes = ends - np.concatenate([[0], self.offered.ends])[places]
        number = np.repeat(np.arange(len(places)), sizes)
        return number, np.arange(len(number)) + (ends - np.cumsum(sizes))[number]

    def guesses(self, ask: Places, ranked: Integers) -> Guesses:
        """Return answers that were not drawn at random, with their credits."""
        return Guesses(ranked, self.credits(ask, ranked))

    def credits(self, places: Places, ranked: Integers) -> Floats:
        """Return the credit of the best of the answers to each item."""
        best, golds, texts = np.zeros(len(places)), self.items.gold, ["", *self.vocabulary]
        for named in ranked.T:
            (gold, answer), back = distinct(golds.codes[places], named + 1)
            pairs = zip(gold.tolist(), answer.tolist(), strict=True)
            found = [credits_of(golds.values[each]).get(texts[code].lower(), 0.0) for each, code in pairs]
            best = np.maximum(best, np.array(found)[back])
        return best


def joined(first: Items, second: Items) -> Items:
    """Return the items of two tables as one; what is common to a table, such as its name, is the second's."""

    def both(one: Column, other: Column) -> Column:
        numbers = {value: number for number, value in enumerate(one.values)}
        codes = np.array([numbers.setdefault(value, len(numbers)) for value in other.values] + [NONE], dtype=np.int32)
        return Column(np.concatenate([one.codes, codes[other.codes]]), tuple(numbers))

    def nothing(items: Items) -> Column:
        return Column(np.full(len(items), NONE, dtype=np.int32), ())

    return replace(
        second,
        ids=[*first.ids, *second.ids],
        images=both(first.images, second.images),
        gold=both(first.gold, second.gold),
        options=both(first.options, second.options),
        pairs=both(nothing(first), nothing(second)),
        blocks=both(nothing(first), nothing(second)),
        fields={
            name: both(first.fields.get(name) or nothing(first), second.fields.get(name) or nothing(second))
            for name in {**first.fields, **second.fields}
        },
        records=np.concatenate([first.records, second.records]),
        learning=Learning(*map(both, first.learning, second.learning)),
        windows=None,
    )


@lru_cache(1 << 16)
def credits_of(gold: Gold) -> dict[str, float]:
    """Return the credit of each accepted answer, in lower case: 1."""
    return {text_of(answer).lower(): 1.0 for answer in gold.answers}


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
        return [(np.flatnonzero(~each), np.flatnonzero(each)) for each in own]


def make_folds(items: Items, seed: int = 0) -> Folds:
    """Return the folds of a file: windows of balance if there are several, else clusters, shuffled by the seed."""
    clusters = clusters_of(items)
    groups, windows = clusters, None if items.windows is None else items.windows.codes
    if windows is not None:
        joined = connected(len(items), clusters, windows)
        if _largest(joined) <= LARGEST * len(items):
            groups = joined
    fold_of_group = _dealt(groups, distinct(family_codes(items), items.answers.codes + 1)[1], seed)
    number = int(fold_of_group.max(initial=0)) + 1
    return Folds(fold_of_group[groups], number, clusters, windows is None or groups is not clusters)


def _dealt(groups: Codes, labels: Integers, seed: int) -> Codes:
    """Return the fold of each group, in random order, so that each fold has about the same share of each label.

    Labels are the answers of each family. Were these balanced exactly, answers that are rarer among those learned from
    would be more frequent among those asked, and each guess by counts below chance.
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
