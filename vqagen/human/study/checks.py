"""Attention checks, instructed trials and practice trials that are made of texts at hand.

A check shows a right text about an image beside a text about another image. The wrong text is never one of the texts
about the first image; of several it is the one that shares the fewest words with them.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Literal

from vqagen.errors import BadInput, Problem
from vqagen.human.study.images import StudyImage
from vqagen.human.study.item import (
    CHECK,
    COMPARE,
    FIT,
    INSTRUCTED,
    REAL,
    REFERENCE,
    Candidate,
    Gold,
    Item,
    Scale,
    identified,
)
from vqagen.human.study.texts import Texts
from vqagen.rng import below, shuffled, stream

CORRECT, DISTRACTOR, INSTRUCTION = "correct", "distractor", "instruction"
"""Sources of the texts of checks and of instructed trials. A system may have these names too: the role decides."""
_DRAWS = 8
"""Texts of other images of which the least alike becomes the wrong one."""
_WORD = re.compile(r"\w+")

RightTexts = Mapping[str, Sequence[str]]
"""Image -> texts by people about it, which are taken to be right."""


def right_texts(items: Sequence[Item]) -> RightTexts:
    """Return the texts by people in scored items, about the fit to an image alone."""
    right: dict[str, dict[str, None]] = {}
    for item in items:
        if item.use == REAL and item.image and item.dimension == FIT:
            texts = [each.text for each in item.candidates if each.role == REFERENCE]
            if texts:
                right.setdefault(item.image, {}).update(dict.fromkeys(texts))
    return {name: list(texts) for name, texts in right.items()}


def common_scale(items: Sequence[Item], texts: Texts) -> Scale:
    """Return the scale of most comparisons, on which trials that are made are answered too."""
    counts = Counter(item.scale for item in items if item.kind == COMPARE and item.use == REAL)
    found = counts.most_common(1)[0][0] if counts else texts.worded(Item()).scale
    assert found is not None, "comparisons have a scale"
    return found


class CheckMaker:
    """Makes checks about images in a random order that takes each image equally often."""

    def __init__(
        self, items: Sequence[Item], images: Mapping[str, StudyImage], right: RightTexts, texts: Texts, seed: int
    ) -> None:
        """`items` are all that are given. Checks are about the images of `right` texts."""
        self._right, self._names = right, sorted(right)
        self._scale, self._texts = common_scale(items, texts), texts
        self._pictures = {name: images[name].sha256 for name in right}
        self._about: dict[str, set[str]] = {}
        for name, each in right.items():
            self._about.setdefault(self._pictures[name], set()).update(map(_normal, each))
        for item in items:
            if item.image and item.dimension in (FIT, CHECK):
                self._about.setdefault(images[item.image].sha256, set()).update(
                    _normal(each.text) for each in item.candidates
                )
        self._rng = stream(seed, "human/checks")
        scored = {each.text for item in items if item.use == REAL for each in item.candidates}
        self._waiting = deque(_turns(right, shuffled(self._rng, self._names), scored))

    @property
    def pictures(self) -> int:
        """How many different pictures checks can be about."""
        return len(set(self._pictures.values()))

    def make(self, use: Literal["check", "practice"], without: Collection[str] = ()) -> Item | None:
        """Return a check about an image whose content is not among `without`; None if there is no such image.

        BadInput if all texts of other images are also texts about it.
        """
        for _ in range(len(self._waiting)):
            name, right = self._waiting[0]
            self._waiting.rotate(-1)
            if self._pictures[name] not in without:
                return self._check(use, name, right)
        return None

    def _check(self, use: Literal["check", "practice"], name: str, right: str) -> Item:
        other, wrong = self._wrong_text(name)
        item = Item(
            use=use,
            dimension=CHECK,
            image=name,
            scale=self._scale,
            candidates=(Candidate(right, CORRECT, REFERENCE, "1"), Candidate(wrong, DISTRACTOR, REFERENCE, "2")),
            gold=Gold(better="1", reason=f"the other text is about {other}"),
        )
        return identified(self._texts.worded(item), self._pictures[name])

    def _wrong_text(self, name: str) -> tuple[str, str]:
        """Return another image and one of its texts."""
        about = self._about[self._pictures[name]]
        drawn = [self._draw() for _ in range(_DRAWS)]
        every = ((other, text) for other in self._names for text in self._right[other])
        fitting = [each for each in drawn if self._is_wrong(name, *each)]
        fitting = fitting or [
            each for each in [next((each for each in every if self._is_wrong(name, *each)), None)] if each
        ]
        if not fitting:
            message = (
                "an attention check needs a wrong text, and all texts of other images are also texts about this one"
            )
            raise BadInput([Problem(f"{message}; add images, or use --checks-per-task 0", name)])
        words = {word for text in about for word in text.split()}
        return min(fitting, key=lambda each: _share(_normal(each[1]).split(), words))

    def _draw(self) -> tuple[str, str]:
        other = self._names[below(self._rng, len(self._names))]
        return other, self._right[other][below(self._rng, len(self._right[other]))]

    def _is_wrong(self, name: str, other: str, text: str) -> bool:
        picture = self._pictures[name]
        return self._pictures[other] != picture and _normal(text) not in self._about[picture]

    def instructed(self) -> list[Item]:
        """Return a trial for each value that it can ask for: all of the scale but the center."""
        scale = self._scale
        values = [value for value in range(scale.least, scale.largest + 1) if value != scale.center]
        return [self._instructed(value) for value in values]

    def _instructed(self, value: int) -> Item:
        text = self._texts.instructed("instructed_text", value)
        item = Item(
            use=INSTRUCTED,
            dimension=INSTRUCTED,
            prompt=self._texts.instructed("instructed_prompt", value),
            scale=self._scale,
            candidates=tuple(Candidate(text, INSTRUCTION, REFERENCE, side) for side in ("1", "2")),
            gold=Gold(value=value, reason="the trial names the value"),
        )
        return identified(item, "")


def _turns(right: RightTexts, names: Sequence[str], scored: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield an image and a right text for each check in turn: the first text of each image, then the second, …

    Texts that stand in no scored trial are first.
    """
    for is_scored in (False, True):
        texts = ([(name, text) for text in right[name] if (text in scored) == is_scored] for name in names)
        yield from filter(None, chain.from_iterable(zip_longest(*texts)))


def _normal(text: str) -> str:
    """Return the words of a text, without case and punctuation."""
    return " ".join(_WORD.findall(text.casefold())) or text.strip()


def _share(words: Sequence[str], others: Collection[str]) -> float:
    """Return the share of words that are among the others."""
    return sum(word in others for word in words) / max(len(words), 1)
