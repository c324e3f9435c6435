"""Priors: baselines that know how often each answer is right, and nothing of the picture.

uniform    each possible answer of the question's type is equally likely
majority   the most frequent answer of the group; the next is the second most frequent, and so on
prior      an answer drawn as often as it is right in the group

A group is all questions, a type, a family, or an exact text. A group that was not learned from is replaced by the next
larger one. Of equally frequent answers, the one that occurs first in the questions to learn from comes first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import accumulate
from random import Random

from vqagen.rng import below, shuffled, stream
from vqagen.score.answers.kinds import BOOL
from vqagen.score.gold.item import GoldItem
from vqagen.shortcuts.baselines.learning_task import (
    Answering,
    Guess,
    LearningTask,
    accepted_texts,
    credit,
    gold_text,
    keys_of,
    type_of,
)

YES_NO = ("yes", "no")


class Ranking:
    """The answers of one group, the most frequent first; of equals, the one that occurs first."""

    def __init__(self, counts: Counter[str]) -> None:
        ranked = counts.most_common()
        self.texts = tuple(text for text, _ in ranked)
        self._sums = list(accumulate(number for _, number in ranked))
        self._by_lower: Counter[str] = Counter()
        for text, number in ranked:
            self._by_lower[text.lower()] += number

    def draw(self, rng: Random, number: int) -> list[str]:
        """Return different answers, each drawn in proportion to its count among those that are left."""
        drawn: dict[str, None] = {}
        while len(drawn) < min(number, len(self.texts)):
            drawn[self.texts[bisect_right(self._sums, below(rng, self._sums[-1]))]] = None
        return list(drawn)

    def expected(self, item: GoldItem) -> float:
        """Return the expected credit of an answer that is drawn in proportion to its count."""
        rights = ((self._by_lower[text], credit([text], item)) for text in sorted(accepted_texts(item)))
        return sum(number * each for number, each in rights) / self._sums[-1] if self._sums else 0.0


class Rankings:
    """The ranking of each group of the questions to learn from."""

    def __init__(self, trained: Sequence[GoldItem], per: str) -> None:
        self._per = per
        counts: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for item in trained:
            text = gold_text(item)
            for key in keys_of(item, per):
                counts[key][text] += 1
        self._rankings = {key: Ranking(each) for key, each in counts.items()}
        self._nothing = Ranking(Counter())

    def of(self, item: GoldItem) -> Ranking:
        """Return the ranking of a question's group, or of the next larger one that was learned from."""
        keys = keys_of(item, self._per)
        return next((self._rankings[key] for key in keys if key in self._rankings), self._nothing)


def majority(learning: LearningTask, per: str) -> list[Guess]:
    """Answer with the most frequent answers of each question's group."""

    def learn(trained: Sequence[GoldItem]) -> Answering:
        rankings = Rankings(trained, per)
        return lambda places: [learning.sure(place, rankings.of(learning.items[place]).texts) for place in places]

    return learning.answer(learn)


def prior(learning: LearningTask, per: str) -> list[Guess]:
    """Answer as often with each answer as it is right in each question's group.

    With several candidates, each next one is drawn from the answers that are left; the expected value is then of the
    first alone.
    """

    def learn(trained: Sequence[GoldItem]) -> Answering:
        rankings = Rankings(trained, per)
        return lambda places: [drawn(place, rankings.of(learning.items[place])) for place in places]

    def drawn(place: int, ranking: Ranking) -> Guess:
        candidates = ranking.draw(stream(learning.seed, f"prior/{per}", place), learning.top_k)
        return Guess(tuple(candidates), ranking.expected(learning.items[place]))

    return learning.answer(learn)


def uniform(learning: LearningTask) -> list[Guess]:
    """Answer with any possible answer of the question's type: yes and no, or all answers of the type learned from."""

    def learn(trained: Sequence[GoldItem]) -> Answering:
        possible = _possible_answers(trained)
        return lambda places: [
            _any_of(learning, place, possible.get(type_of(learning.items[place]), ())) for place in places
        ]

    return learning.answer(learn)


def _possible_answers(trained: Sequence[GoldItem]) -> dict[str, tuple[str, ...]]:
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for item in trained:
        found[type_of(item)][gold_text(item)] = None
    return {name: YES_NO if set(texts) <= set(YES_NO) else tuple(texts) for name, texts in found.items()}


def _any_of(learning: LearningTask, place: int, possible: Sequence[str]) -> Guess:
    item = learning.items[place]
    if not possible:
        possible = YES_NO if item.kind == BOOL else ()
    order = shuffled(stream(learning.seed, "uniform", place), possible)
    total = sum(credit([text], item) for text in possible)
    return Guess(tuple(order[: learning.top_k]), min(1.0, learning.top_k * total / len(possible)) if possible else 0.0)
