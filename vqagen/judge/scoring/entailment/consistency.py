"""Consistency: how often what follows from an answer is answered right too.

A premise is a question, or two that together decide a comparison of two values. Its score is the accuracy on the
questions about the same image that follow from it. GQA's consistency is the mean score of premises that were answered
right; the mean over all premises is reported beside it, since a model that errs often is tested on few premises only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from vqagen.judge.answers.kinds import Answer
from vqagen.judge.intervals import Interval, cluster_interval
from vqagen.judge.scoring.entailment.knowledge import Knowledge, Values
from vqagen.judge.scoring.entailment.meaning import Meaning, Term, sort_key


class Asked(NamedTuple):
    """A question about an image, with what a model made of it."""

    position: int
    """Its place in the file, counted from 0."""
    question: str
    meaning: Meaning
    answer: Answer
    is_right: bool


class Entailment(NamedTuple):
    """A premise and a question that follows from it; positions in the file."""

    premise: tuple[int, ...]
    entailed: int
    answer: Answer
    """The answer that follows."""


class Consistency(NamedTuple):
    """The mean score of premises."""

    premises: int
    entailed: int
    """Pairs of a premise and a question that follows."""
    score: float | None
    interval: Interval


def entailments(asked: Sequence[Asked], values: Values) -> Iterator[Entailment]:
    """Yield what follows from single questions about one image, then what follows from two of them."""
    single: set[tuple[int, int]] = set()
    for premise in asked:
        knowledge = Knowledge(values)
        knowledge.add(premise.meaning, premise.answer)
        for other in asked:
            if other is premise or (answer := knowledge.answer(other.meaning)) is None:
                continue
            single.add((premise.position, other.position))
            yield Entailment((premise.position,), other.position, answer)
    yield from _from_two(asked, single)


def _from_two(asked: Sequence[Asked], single: set[tuple[int, int]]) -> Iterator[Entailment]:
    """Yield the comparisons of two values that two questions ask for; not those that one question decides."""
    asks: dict[Term, list[Asked]] = defaultdict(list)
    for one in asked:
        asks[one.meaning.root].append(one)
    for one in asked:
        root = one.meaning.root
        if not root.function.startswith("equal_") or not all(isinstance(part, Term) for part in root.arguments):
            continue
        for left, right in product(*(asks.get(part, []) for part in root.arguments)):
            if not any((premise.position, one.position) in single for premise in (left, right)):
                yield Entailment((left.position, right.position), one.position, left.answer == right.answer)


class ConsistencyCount:
    """The scores of premises, image by image."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._scores: list[float] = []
        self._images: list[int] = []
        self._were_right: list[bool] = []
        self._sizes: list[int] = []
        self._next_image = 0
        self.contradictions: list[Entailment] = []
        """Answers in the file that differ from what follows from another answer in it."""

    def add(self, asked: Sequence[Asked]) -> None:
        """Add the questions about one image."""
        at = {one.position: one for one in asked}
        follow: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for entailment in entailments(asked, self._values):
            if at[entailment.entailed].answer == entailment.answer:
                follow[entailment.premise].append(entailment.entailed)
            else:
                self.contradictions.append(entailment)
        for premise, entailed in follow.items():
            self._scores.append(sum(at[position].is_right for position in entailed) / len(entailed))
            self._were_right.append(all(at[position].is_right for position in premise))
            self._sizes.append(len(entailed))
            self._images.append(self._next_image)
        self._next_image += 1

    def consistency(self, only_right: bool) -> Consistency:
        """Return the mean score of all premises, or of those that were answered right."""
        kept = np.array(self._were_right, dtype=bool) if only_right else np.ones(len(self._scores), dtype=bool)
        scores, images = np.array(self._scores)[kept], np.array(self._images, dtype=np.int64)[kept]
        score = float(scores.mean()) if len(scores) else None
        pairs = int(np.array(self._sizes, dtype=np.int64)[kept].sum())
        return Consistency(len(scores), pairs, score, cluster_interval(scores, images))


class Paraphrases(NamedTuple):
    """Groups of questions about one image with one meaning and several texts."""

    groups: int
    questions: int
    all_right: int
    some_right: int
    none_right: int


def paraphrases(images: Iterable[Sequence[Asked]]) -> Paraphrases:
    """Return how the groups of paraphrases were answered."""
    sizes: list[int] = []
    right: list[int] = []
    for asked in images:
        for group in paraphrase_groups(asked):
            sizes.append(len(group))
            right.append(sum(one.is_right for one in group))
    whole = sum(number == size for number, size in zip(right, sizes, strict=True))
    none = right.count(0)
    return Paraphrases(len(sizes), sum(sizes), whole, len(sizes) - whole - none, none)


def paraphrase_groups(asked: Sequence[Asked]) -> list[list[Asked]]:
    """Return the questions about one image that have one meaning and at least two texts."""
    groups: dict[str, list[Asked]] = defaultdict(list)
    for one in asked:
        groups[sort_key(one.meaning.root)].append(one)
    return [group for group in groups.values() if len({one.question for one in group}) > 1]
