"""Guesses: answers to items by what other items teach, without the picture; here the guesses that count answers alone.

A predictor is a function of the guessing, the places of the items to learn from and those to answer:

    def last_answer(guessing: Guessing, learn: Places, ask: Places) -> Guesses:
        return guessing.guesses(ask, np.full((len(ask), 1), guessing.answers[learn[-1]]))

    Guessing.within(items).predict(last_answer).expected     # of each item, how likely it is answered right
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from vqagen.items.answers import text_of
from vqagen.items.folds import Folds, make_folds
from vqagen.items.groups import CATEGORIES, TYPES, Integers, distinct, family_codes, grouped
from vqagen.items.table import NONE, Codes, Column, Gold, Items, Learning, Places
from vqagen.rng import stream

T = TypeVar("T")
Floats = npt.NDArray[np.float64]
YES_NO = ("yes", "no")


class Offered(NamedTuple):
    """A row for each option of each item: of items with the options (red, blue) and (1, 2, 3), rows 0, 1 and 2, 3, 4.

    The `ends` are then 2 and 5, and an item without options ends where the one before it does.
    """

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


@dataclass(frozen=True, eq=False)
class Guessing:
    """The items, and which of them are learned from and answered. Items without an answer are neither."""

    items: Items
    splits: Sequence[tuple[Places, Places]]
    """Places of the items to learn from, and of those to answer by what these teach."""
    top_k: int = 1
    """Answers that may be named, of which the best counts."""
    seed: int = 0
    _made: dict[Callable[[Guessing], Any], Any] = field(default_factory=dict, repr=False)

    @classmethod
    def within(cls, items: Items, top_k: int = 1, seed: int = 0, folds: Folds | None = None) -> Guessing:
        """Answer each part of a file by what the other parts teach."""
        is_known = items.gold.codes != NONE
        splits = (folds or make_folds(items, seed)).splits()
        return cls(items, [(learn[is_known[learn]], ask[is_known[ask]]) for learn, ask in splits], top_k, seed)

    @classmethod
    def across(cls, train: Items, items: Items, top_k: int = 1, seed: int = 0) -> Guessing:
        """Answer the items of a file by what those of another one teach: `train` are the first of the task's items."""
        both = joined(train, items)
        places = np.flatnonzero(both.gold.codes != NONE)
        return cls(both, [(places[places < len(train)], places[places >= len(train)])], top_k, seed)

    def once(self, make: Callable[[Guessing], T]) -> T:
        """Return what `make` returns, which is made for the first split and kept for the others."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(T, self._made[make])

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
        own = np.array([self.numbers[text] for options in values for text in options.texts], dtype=np.int64)
        sizes = np.array([*(len(options.texts) for options in values), 0])
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

    def predict(self, answer: Predict) -> Guesses:
        """Return a predictor's answers to all items; those that no split asks for have none."""
        size = len(self.items)
        ranked, expected = np.full((size, self.top_k), NONE, dtype=np.int32), np.full(size, np.nan)
        for learn, ask in self.splits:
            part = answer(self, learn, ask)
            ranked[ask, : part.ranked.shape[1]], expected[ask] = part.ranked, part.expected
        return Guesses(ranked, expected)

    def guesses(self, ask: Places, ranked: Integers) -> Guesses:
        """Return answers that were not drawn at random, with their credits."""
        return Guesses(ranked, self.credits(ask, ranked))

    def credits(self, places: Places, ranked: Integers) -> Floats:
        """Return the credit of the best of the answers to each item."""
        best, golds, texts = np.zeros(len(places)), self.items.gold, ["", *self.vocabulary]
        for named in ranked.T:
            (gold, answer), back = distinct(golds.codes[places], named + 1)
            pairs = zip(gold.tolist(), answer.tolist(), strict=True)
            found = [texts[code].lower() in accepted(golds.values[number]) for number, code in pairs]
            best = np.maximum(best, np.array(found, dtype=np.float64)[back])
        return best


def joined(first: Items, second: Items) -> Items:
    """Return the items of two tables as one; what is common to a table, such as its name, is the second's."""

    def both(one: Column, other: Column) -> Column:
        numbers = {value: number for number, value in enumerate(one.values)}
        codes = np.array([numbers.setdefault(value, len(numbers)) for value in other.values] + [NONE], dtype=np.int32)
        return Column(np.concatenate([one.codes, codes[other.codes]]), tuple(numbers))

    def nothing(items: Items) -> Column:
        return Column(np.full(len(items), NONE, dtype=np.int32), ())

    def windows(items: Items, at: int) -> Column:
        """Return the windows of balance of a table, none of which is one of the other table."""
        whole = Column(np.zeros(len(items), dtype=np.int32), (None,))
        return (items.windows or whole).map(lambda window: (at, window))

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
        windows=both(windows(first, 0), windows(second, 1)),
    )


@lru_cache(1 << 16)
def accepted(gold: Gold) -> frozenset[str]:
    """Return the accepted answers in lower case."""
    return frozenset(text_of(answer).lower() for answer in gold.answers)


Predict = Callable[[Guessing, Places, Places], Guesses]
"""Answers the items at the last places by what those at the first ones teach."""


# By counts ------------------------------------------------------------------------------------------------------------


def majority_of(*names: str) -> Predict:
    """Return the predictor by the most frequent answers of an item's group, or of the first of its groups that was
    learned from, each named as the guessing names it.
    """

    def majority(guessing: Guessing, learn: Places, ask: Places) -> Guesses:
        ranked = np.full((len(ask), guessing.top_k), NONE, dtype=np.int32)
        left = np.arange(len(ask))
        for groups in (getattr(guessing, name) for name in names):
            ranked[left] = most_frequent(groups[learn], guessing.answers[learn], groups[ask[left]], guessing.top_k)
            left = left[ranked[left, 0] == NONE]
        return guessing.guesses(ask, ranked)

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


majority, of_family = majority_of("types", "all"), majority_of("families", "types", "all")


def uniform(guessing: Guessing, learn: Places, ask: Places) -> Guesses:
    """Answer with any answer that there is to the type, of which all are known; where "yes" is one, so is "no".

    Answers are drawn; further ones are those behind the drawn one. The expected credit is that of any of them.
    """
    types, answers = _possible(guessing, np.concatenate([learn, ask]))
    asked = guessing.types[ask]
    starts, ends = np.searchsorted(types, asked), np.searchsorted(types, asked, side="right")
    sizes = ends - starts
    # RandomState draws the same numbers in all versions of NumPy
    rng = np.random.RandomState(stream(guessing.seed, "uniform").getrandbits(32))
    drawn = (starts + rng.random_sample(len(guessing.items))[ask] * sizes).astype(np.int64)
    first, ranks = np.minimum(drawn, ends - 1) - starts, np.arange(guessing.top_k)
    behind = starts[:, None] + (first[:, None] + ranks) % sizes[:, None]
    ranked = np.where(ranks < sizes[:, None], answers[behind], NONE)
    shares, vocabulary, counts = defaultdict[tuple[int, str], float](float), guessing.vocabulary, np.bincount(types)
    for kind, code in zip(types.tolist(), answers.tolist(), strict=True):
        shares[kind, vocabulary[code].lower()] += 1 / counts[kind]
    golds = guessing.items.gold
    (gold, kinds), back = distinct(golds.codes[ask], asked)
    expected = [
        sum(shares.get((kind, text), 0.0) for text in accepted(golds.values[code]))
        for code, kind in zip(gold.tolist(), kinds.tolist(), strict=True)
    ]
    return Guesses(ranked, np.minimum(1.0, guessing.top_k * np.array(expected)[back]))


def _possible(guessing: Guessing, places: Places) -> tuple[Integers, Integers]:
    """Return each type of some items, in ascending order, beside each of its possible answers."""
    (types, answers), _ = distinct(guessing.types[places], guessing.answers[places])
    truths = np.array([guessing.numbers[text] for text in YES_NO])
    closed = np.setdiff1d(types, types[~np.isin(answers, truths)])
    types, answers = np.append(types, np.repeat(closed, 2)), np.append(answers, np.tile(truths, len(closed)))
    return distinct(types, answers)[0]
