"""The questions from which guessing is learned: those of a sample of images, without the pictures.

Of a large file, images are taken by a hash of their names, so that the sample is the same wherever it is drawn.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

from vqagen.score.gold.census import text_hash
from vqagen.score.gold.phrases import Numbering, features
from vqagen.score.gold.question_facts import QuestionFacts

SAMPLED = 30_000
"""Questions that guessing is learned from and tested on at most; more change the figures by less than .01."""
FOLDS = 4
"""Parts of a file's images: each is guessed by predictors that learned from the other parts."""


class Clue(NamedTuple):
    """What a reader knows of a question without the picture, and the answer."""

    image: int
    """A hash of the image's name."""
    scene_index: int | None
    pair: str | None
    family: str
    type: str
    last_function: str
    answer: str
    text: str
    features: array[int]
    has_program: bool


def clue_of(facts: QuestionFacts, answer: str, words: Numbering) -> Clue:
    """Return the clue of a question that has an answer; `words` numbers relation words."""
    last = facts.steps[-1].function if facts.steps else ""
    seen, is_told = array("i", features(facts.steps, words)), facts.steps is not None
    known = (facts.scene_index, facts.pair, facts.family, facts.type, last, answer, facts.text)
    return Clue(text_hash(facts.image), *known, seen, is_told)


class Sample:
    """At most `limit` questions, and as many images as they are about."""

    def __init__(self, words: Numbering, limit: int = SAMPLED) -> None:
        """`words` numbers relation words; samples that are compared share it."""
        self.clues: list[Clue] = []
        self.is_part = False
        """True if the file has more questions."""
        self._words, self._limit = words, limit
        self._below = 1 << 64

    def add(self, facts: QuestionFacts) -> None:
        """Take a question with an answer, if its image is in the sample."""
        image = text_hash(facts.image)
        if image >= self._below or facts.answer is None:
            return
        self.clues.append(clue_of(facts, facts.answer, self._words))
        while len(self.clues) > self._limit:
            self.is_part = True
            self._below //= 2
            self.clues = [clue for clue in self.clues if clue.image < self._below]

    def folds(self, window: int) -> tuple[list[int], bool]:
        """Return the part in which each question is, and whether the parts are balanced independently.

        The parts are runs of neighbouring images. If answers are balanced in windows of so many scenes, a part holds
        whole windows: of half a window, the other half betrays which answers it must have. Of one window, a part at
        least holds whole pairs.
        """
        scenes = [clue.scene_index for clue in self.clues]
        windows = [index // window if window and index is not None else None for index in scenes]
        known = sorted({number for number in windows if number is not None})
        if None not in windows and len(known) > 1:
            return _parts(windows, known), True
        units = [clue.image if clue.pair is None else clue.pair for clue in self.clues]
        return _parts(units, list(dict.fromkeys(units))), not window


def _parts(of_questions: Sequence[int | str | None], ordered: Sequence[int | str | None]) -> list[int]:
    folds = min(FOLDS, len(ordered))
    part = {each: place * folds // len(ordered) for place, each in enumerate(ordered)}
    return [part[each] for each in of_questions]
