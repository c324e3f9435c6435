"""A study: the questions that baselines answer, and those from which they learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from vqagen.judge.answers.kinds import text_of
from vqagen.judge.gold.item import GoldItem
from vqagen.rng import shuffled, stream

FOLDS = 5
"""Parts of the images; each is answered by what the others teach, if no file to learn from is given."""


class Guess(NamedTuple):
    """The answer of a baseline to one question."""

    candidates: tuple[str, ...]
    """Best first; empty if the baseline has no answer."""
    expected: float
    """The probability that one of the first `top_k` is right; 0 or 1 if nothing is drawn."""


Answering = Callable[[Sequence[int]], list[Guess]]
"""Answers the questions at these places."""


class Split(NamedTuple):
    """Questions to learn from, and the places of the questions to answer."""

    trained: Sequence[GoldItem]
    places: Sequence[int]


@dataclass(frozen=True)
class Study:
    """All that baselines without scenes need."""

    items: Sequence[GoldItem]
    """The questions to answer, in the order of the file."""
    train: Sequence[GoldItem] | None = None
    """The questions to learn from; None to learn from the other images of `items`."""
    seed: int = 0
    top_k: int = 1

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """The questions to learn from, for each part of the questions to answer.

        Without `train`, images are shuffled and dealt into five parts; a pair of questions is dealt as one image.
        """
        if self.train is not None:
            return (Split(self.train, range(len(self.items))),)
        part_of = self._parts()
        parts = [part_of[_unit(item)] for item in self.items]
        return tuple(
            Split(
                [item for item, own in zip(self.items, parts, strict=True) if own != part],
                [place for place, own in enumerate(parts) if own == part],
            )
            for part in range(min(FOLDS, len(part_of)))
        )

    def _parts(self) -> dict[object, int]:
        units = list(dict.fromkeys(map(_unit, self.items)))
        order = shuffled(stream(self.seed, "folds"), units)
        return {unit: number % FOLDS for number, unit in enumerate(order)}

    def answer(self, learn: Callable[[Sequence[GoldItem]], Answering]) -> list[Guess]:
        """Return the guesses of a baseline for all items: `learn` takes the questions of a split to learn from."""
        guesses = [Guess((), 0.0)] * len(self.items)
        for split in self.splits:
            for place, guess in zip(split.places, learn(split.trained)(split.places), strict=True):
                guesses[place] = guess
        return guesses

    def sure(self, place: int, candidates: Sequence[str]) -> Guess:
        """Return a guess that was not drawn."""
        taken, accepted = tuple(candidates[: self.top_k]), accepted_texts(self.items[place])
        return Guess(taken, float(any(text.lower() in accepted for text in taken)))


def _unit(item: GoldItem) -> object:
    """Return the image of a question or, for a pair of questions about two images, the pair."""
    pair = item.fields.get("pair")
    return item.image if pair is None else ("pair", pair)


def gold_text(item: GoldItem) -> str:
    """Return the canonical answer as predictions write it."""
    return text_of(item.answers[0])


def accepted_texts(item: GoldItem) -> set[str]:
    """Return all accepted answers in lower case."""
    return {text_of(answer).lower() for answer in item.answers}


def is_right(text: str, item: GoldItem) -> bool:
    """True if a text is an accepted answer, in upper or lower case."""
    return text.lower() in accepted_texts(item)


def type_of(item: GoldItem) -> str:
    """Return the question type: the function that gives the answer or, in foreign files, their own type."""
    named = (item.fields.get(key) for key in ("function", "question_type", "type", "category"))
    return str(next((name for name in named if name is not None), item.kind))


def keys_of(item: GoldItem, per: str) -> Iterator[tuple[str, ...]]:
    """Yield the groups of a question from `per` (question, family, type or all) up to all questions."""
    keys = (
        ("question", item.question),
        ("family", str(item.fields.get("family"))),
        ("type", type_of(item)),
        ("all",),
    )
    names = [key[0] for key in keys]
    yield from keys[names.index(per) :]
