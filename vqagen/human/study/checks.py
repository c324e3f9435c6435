"""Attention checks, instructed trials and practice trials that are made of texts at hand.

A check shows a right text about an image beside a text about another image. The wrong text is never one of the texts
about the first image; of several it is the one that shares the fewest words with them.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from vqagen.errors import BadInput, Problem
from vqagen.human.study.images import StudyImage
from vqagen.human.study.item import CHECK, COMPARE, INSTRUCTED, REFERENCE, Candidate, Gold, Item, Scale
from vqagen.human.study.item_record import identified
from vqagen.human.study.texts import Texts
from vqagen.rng import below, shuffled, stream

CORRECT, DISTRACTOR, INSTRUCTION = "correct", "distractor", "instruction"
"""Sources of the texts of checks and of instructed trials. A system may have these names too: the role decides."""
_DRAWS = 8
"""Texts of other images of which the least alike becomes the wrong one."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class RightText:
    """A text that is known to be right about an image."""

    id: str
    text: str
    is_fresh: bool
    """False if the text stands in a scored trial."""


@dataclass(frozen=True, slots=True)
class KnownTexts:
    """The texts about one picture."""

    right: tuple[RightText, ...]
    others: frozenset[str] = frozenset()
    """Texts of systems."""


class CheckMaker:
    """Makes checks about images in a random order that takes each image equally often."""

    def __init__(
        self, known: Mapping[str, KnownTexts], images: Mapping[str, StudyImage], texts: Texts, scale: Scale, seed: int
    ) -> None:
        """`known` are the texts about each of `images` that checks may be about."""
        self._known, self._images = known, images
        self._prompt, self._scale = texts["item_prompt"], scale
        self._rng = stream(seed, "human/checks")
        self._waiting = deque(_turns(known, shuffled(self._rng, sorted(known))))
        self._normal = {name: _normal_texts(each) for name, each in known.items()}
        self._names = sorted(known)

    def make(self, use: str, without: Collection[str] = ()) -> Item | None:
        """Return a check about an image whose content is not among `without`; None if there is no such image.

        BadInput if all texts of other images are also texts about it.
        """
        for _ in range(len(self._waiting)):
            name, right = self._waiting[0]
            self._waiting.rotate(-1)
            if self._images[name].sha256 not in without:
                return self._check(use, name, right)
        return None

    def _check(self, use: str, name: str, right: RightText) -> Item:
        other, wrong = self._wrong_text(name)
        correct = Candidate(right.id, right.text, CORRECT, REFERENCE)
        distractor = Candidate(f"{wrong.id}/{DISTRACTOR}", wrong.text, DISTRACTOR, REFERENCE)
        gold = Gold(better=correct.id, reason=f"the other text is about {other}")
        return identified(
            Item("", COMPARE, use, CHECK, self._prompt, self._scale, name, (correct, distractor), gold),
            self._images[name].sha256,
        )

    def _wrong_text(self, name: str) -> tuple[str, RightText]:
        """Return another image and one of its texts."""
        drawn = [self._draw() for _ in range(_DRAWS)]
        fitting = [each for each in drawn if self._is_wrong(name, *each)] or self._first_wrong(name)
        words = {word for text in self._normal[name] for word in text.split()}
        return min(fitting, key=lambda each: _share(_normal(each[1].text).split(), words))

    def _draw(self) -> tuple[str, RightText]:
        other = self._names[below(self._rng, len(self._names))]
        texts = self._known[other].right
        return other, texts[below(self._rng, len(texts))]

    def _is_wrong(self, name: str, other: str, text: RightText) -> bool:
        is_another = self._images[other].sha256 != self._images[name].sha256
        return is_another and _normal(text.text) not in self._normal[name]

    def _first_wrong(self, name: str) -> list[tuple[str, RightText]]:
        """Return the first text of another image that is not about this one."""
        for other in self._names:
            for text in self._known[other].right:
                if self._is_wrong(name, other, text):
                    return [(other, text)]
        message = "an attention check needs a wrong text, and all texts of other images are also texts about this one"
        raise BadInput([Problem(f"{message}; add images, or use --checks-per-task 0", name)])


def _turns(known: Mapping[str, KnownTexts], names: Sequence[str]) -> Iterator[tuple[str, RightText]]:
    """Yield an image and a right text for each check in turn: the first text of each image, then the second, …

    Texts that stand in no scored trial are first.
    """
    for is_fresh in (True, False):
        texts = {name: [each for each in known[name].right if each.is_fresh == is_fresh] for name in names}
        for place in range(max(map(len, texts.values()), default=0)):
            yield from ((name, texts[name][place]) for name in names if place < len(texts[name]))


def _normal(text: str) -> str:
    """Return the words of a text, without case and punctuation."""
    return " ".join(_WORD.findall(text.casefold())) or text.strip()


def _normal_texts(known: KnownTexts) -> frozenset[str]:
    return frozenset(_normal(text) for text in (*(each.text for each in known.right), *known.others))


def _share(words: Sequence[str], others: Collection[str]) -> float:
    """Return the share of words that are among the others."""
    return sum(word in others for word in words) / max(len(words), 1)


# Instructed trials ------------------------------------------------------------------------------------------------


def instructed_items(texts: Texts, scale: Scale) -> list[Item]:
    """Return a trial for each value that it can ask for: all of the scale but the center."""
    values = [value for value in range(scale.least, scale.largest + 1) if value != scale.center]
    return [_instructed(texts, scale, value) for value in values]


def _instructed(texts: Texts, scale: Scale, value: int) -> Item:
    text = texts.instructed("instructed_text", value)
    candidates = tuple(Candidate(f"{INSTRUCTION}={side}", text, INSTRUCTION, REFERENCE) for side in (1, 2))
    prompt, gold = texts.instructed("instructed_prompt", value), Gold(value=value, reason="the trial names the value")
    return identified(Item("", COMPARE, INSTRUCTED, INSTRUCTED, prompt, scale, "", candidates, gold), "")
