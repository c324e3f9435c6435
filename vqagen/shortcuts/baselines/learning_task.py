"""A learning task: the questions that baselines answer, and those from which they learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from vqagen.rng import shuffled, stream
from vqagen.score.answers.kinds import text_of
from vqagen.score.answers.vqa_words import vqa_accuracy
from vqagen.score.gold.item import FieldValue, GoldItem
from vqagen.shortcuts.clusters import cluster_numbers

FOLDS = 5
"""Parts of the questions; each is answered by what the others teach, if no file to learn from is given."""


class Guess(NamedTuple):
    """The answer of a baseline to one question."""

    candidates: tuple[str, ...]
    """Best first; empty if the baseline has no answer."""
    expected: float
    """The expected credit of the best of them: the probability that one is right; 0 or 1 if nothing is drawn."""


Answering = Callable[[Sequence[int]], list[Guess]]
"""Answers the questions at these places."""


class Split(NamedTuple):
    """Questions to learn from, and the places of the questions to answer."""

    trained: Sequence[GoldItem]
    places: Sequence[int]


@dataclass(frozen=True)
class LearningTask:
    """All that baselines without scenes need."""

    items: Sequence[GoldItem]
    """The questions to answer, in the order of the file."""
    train: Sequence[GoldItem] | None = None
    """The questions to learn from; None to learn from the `items` about other images."""
    seed: int = 0
    top_k: int = 1

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """The questions to learn from, for each part of the questions to answer.

        Without `train`, clusters of questions are shuffled and dealt into five parts.
        """
        if self.train is not None:
            return (Split(self.train, range(len(self.items))),)
        clusters = cluster_numbers([item.image for item in self.items], list(map(_block_of, self.items)), FOLDS)
        count = max(clusters) + 1
        part_of = {each: place % FOLDS for place, each in enumerate(shuffled(stream(self.seed, "folds"), range(count)))}
        parts = [part_of[each] for each in clusters]
        return tuple(
            Split(
                [item for item, own in zip(self.items, parts, strict=True) if own != part],
                [place for place, own in enumerate(parts) if own == part],
            )
            for part in range(min(FOLDS, count))
        )

    def answer(self, learn: Callable[[Sequence[GoldItem]], Answering]) -> list[Guess]:
        """Return the guesses of a baseline for all items: `learn` takes the questions of a split to learn from."""
        guesses = [Guess((), 0.0)] * len(self.items)
        for split in self.splits:
            for place, guess in zip(split.places, learn(split.trained)(split.places), strict=True):
                guesses[place] = guess
        return guesses

    def sure(self, place: int, candidates: Sequence[str]) -> Guess:
        """Return a guess that was not drawn."""
        taken = tuple(candidates[: self.top_k])
        return Guess(taken, credit(taken, self.items[place]))


def _block_of(item: GoldItem) -> str:
    """Return the block of a question, or its pair; "" if it is in none."""
    found = item.pair if item.block is None else item.block
    return "" if found is None else str(found)


def gold_text(item: GoldItem) -> str:
    """Return the canonical answer as predictions write it."""
    return text_of(item.answers[0])


def accepted_texts(item: GoldItem) -> set[str]:
    """Return all accepted answers in lower case."""
    return {text_of(answer).lower() for answer in item.answers}


def credit(texts: Iterable[str], item: GoldItem) -> float:
    """Return the credit of the best of some answers: 1 for a right one, in upper or lower case, else 0.

    Where annotators answered, it is VQA's: a third of those who agree, at most 1, averaged over leaving each out.
    """
    if not item.weights:
        accepted = accepted_texts(item)
        return float(any(text.lower() in accepted for text in texts))
    agreeing: Counter[str] = Counter()
    for answer, number in zip(item.answers, item.weights, strict=True):
        agreeing[text_of(answer).lower()] += number
    return max((vqa_accuracy(agreeing[text.lower()], sum(item.weights)) for text in texts), default=0.0)


def type_of(item: GoldItem) -> str:
    """Return the question type: the function that gives the answer or, in foreign files, their own type."""
    return str(_first_field(item, ("function", "question_type", "type", "category")) or item.kind)


def family_of(item: GoldItem) -> str | None:
    """Return the family of a question, or the label of a round; None if there is none."""
    found = _first_field(item, ("family", "label", "rule_class"))
    return None if found is None else str(found)


def _first_field(item: GoldItem, names: Sequence[str]) -> FieldValue:
    return next((item.fields[name] for name in names if item.fields.get(name) is not None), None)


def keys_of(item: GoldItem, per: str) -> Iterator[tuple[str, ...]]:
    """Yield the groups of a question from `per` (question, family, type or all) up to all questions."""
    family = family_of(item)
    keys = (
        ("question", item.question),
        ("family", family) if family is not None else ("type", type_of(item)),
        ("type", type_of(item)),
        ("all",),
    )
    yield from keys[("question", "family", "type", "all").index(per) :]
