"""Attention checks, instructed trials and practice trials that are made of texts at hand.

A check shows a right text about an image beside a text about another image. The wrong text is never one of the texts
about the first image; of several it is the one that shares the fewest words with them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, islice
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
    GoldValue,
    Scale,
    StudyItem,
    identified,
)
from vqagen.human.study.texts import Texts, filled
from vqagen.rng import pick, shuffled, stream

CORRECT, DISTRACTOR, INSTRUCTION = "correct", "distractor", "instruction"
"""Sources of the texts of checks and of instructed trials. A system may have these names too: the role decides."""
_DRAWS = 8
"""Texts of other images of which the least alike becomes the wrong one."""
_WORD = re.compile(r"\w+")

RightTexts = Mapping[str, Sequence[str]]
"""Image -> texts by people about it, which are taken to be right."""


def right_texts(items: Iterable[StudyItem]) -> RightTexts:
    """Return the texts by people in scored items, about the fit to an image alone."""
    right: dict[str, dict[str, None]] = defaultdict(dict)
    for item in items:
        if item.use == REAL and item.image and item.dimension == FIT:
            right[item.image].update(
                (candidate.text, None) for candidate in item.candidates if candidate.role == REFERENCE
            )
    return {name: list(texts) for name, texts in right.items() if texts}


class CheckMaker:
    """Makes checks about images in a random order that takes each image equally often."""

    def __init__(
        self, items: Collection[StudyItem], images: Mapping[str, StudyImage], right: RightTexts, texts: Texts, seed: int
    ) -> None:
        """`items` are all that are given. Checks are about the images of `right` texts."""
        self._every = [(name, text) for name in sorted(right) for text in right[name]]
        scales = Counter(item.scale for item in items if item.kind == COMPARE and item.use == REAL)
        self._scale = (
            max(scales, key=lambda scale: scales[scale], default=None) or texts.worded(StudyItem()).scale or Scale()
        )
        self._texts = texts
        self._pictures = {name: images[name].sha256 for name in right}
        self.pictures = len(set(self._pictures.values()))
        """How many different pictures checks can be about."""
        self._about: dict[str, set[str]] = {}
        judged = (item for item in items if item.image and item.dimension in (FIT, CHECK))
        judged_texts = ((item.image, candidate.text) for item in judged for candidate in item.candidates)
        for name, text in chain(self._every, judged_texts):
            self._about.setdefault(images[name].sha256, set()).add(_normal(text))
        self._rng = stream(seed, "human/checks")
        scored = {candidate.text for item in items if item.use == REAL for candidate in item.candidates}
        turns = [
            (text in scored, turn, name, text)
            for name in shuffled(self._rng, sorted(right))
            for turn, text in enumerate(sorted(right[name], key=scored.__contains__))
        ]
        self._waiting = deque(sorted(turns, key=lambda turn: turn[:2]))
        """The first text of each image, then the second, …; those that stand in no scored trial come first."""

    def make(self, use: Literal["check", "practice"], without: Collection[str] = ()) -> StudyItem | None:
        """Return a check about an image whose content is not among `without`; None if there is no such image.

        BadInput if all texts of other images are also texts about it.
        """
        turn = next((turn for turn in self._waiting if self._pictures[turn[2]] not in without), None)
        if turn is None:
            return None
        self._waiting.remove(turn)
        self._waiting.append(turn)
        *_, name, right = turn
        other, wrong = self._wrong_text(name)
        item = StudyItem(
            use=use,
            dimension=CHECK,
            image=name,
            scale=self._scale,
            candidates=(Candidate(right, CORRECT, REFERENCE, "1"), Candidate(wrong, DISTRACTOR, REFERENCE, "2")),
            gold=GoldValue(better="1", reason=f"the other text is about {other}"),
        )
        return identified(self._texts.worded(item), self._pictures[name])

    def _wrong_text(self, name: str) -> tuple[str, str]:
        """Return another image and one of its texts."""
        picture = self._pictures[name]
        about = self._about[picture]
        drawn = (pick(self._rng, self._every) for _ in range(_DRAWS))
        of_others = (other_text for other_text in chain(drawn, self._every) if self._pictures[other_text[0]] != picture)
        fitting = list(islice((other_text for other_text in of_others if _normal(other_text[1]) not in about), _DRAWS))
        if not fitting:
            wrong = "an attention check needs a wrong text, and all texts of other images are also texts about this one"
            raise BadInput([Problem(f"{wrong}; add images, or use --checks-per-task 0", name)])
        words = {word for text in about for word in text.split()}
        return min(fitting, key=lambda other_text: _share(_normal(other_text[1]).split(), words))

    def instructed(self) -> list[StudyItem]:
        """Return a trial for each value that it can ask for: all of the scale but the center."""
        values = range(self._scale.least, self._scale.largest + 1)
        return [self._instructed(value) for value in values if value != self._scale.center]

    def _instructed(self, value: int) -> StudyItem:
        text = filled(self._texts["instructed_text"], {"value": str(value)})
        item = StudyItem(
            use=INSTRUCTED,
            dimension=INSTRUCTED,
            prompt=filled(self._texts["instructed_prompt"], {"value": str(value)}),
            scale=self._scale,
            candidates=tuple(Candidate(text, INSTRUCTION, REFERENCE, side) for side in ("1", "2")),
            gold=GoldValue(value=value, reason="the trial names the value"),
        )
        return identified(item, "")


def _normal(text: str) -> str:
    """Return the words of a text, without case and punctuation."""
    return " ".join(_WORD.findall(text.casefold())) or text.strip()


def _share(words: Sequence[str], others: Collection[str]) -> float:
    """Return the share of words that are among the others."""
    return sum(word in others for word in words) / max(len(words), 1)
