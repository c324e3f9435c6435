"""Counts over all questions of a file, taken in one pass: about 30 bytes of memory for each question."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vqagen.score.gold.phrases import Numbering
from vqagen.score.gold.question_facts import QuestionFacts, answer_kind

NO_ANSWER = 0
"""In place of the hash of an answer that is left out."""


def text_hash(text: str) -> int:
    """Return 64 bits that are the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def evenness(counts: Mapping[Any, int]) -> float:
    """Return the entropy of counts as a share of the highest there could be: 1.0 if all are equal, 0.0 if there is one.

    >>> evenness({"yes": 5, "no": 5}), round(evenness({"yes": 9, "no": 1}), 2), evenness({"yes": 3})
    (1.0, 0.47, 0.0)
    """
    total = sum(counts.values())
    shares = [count / total for count in counts.values() if count]
    return 0.0 if len(shares) < 2 else -sum(share * log2(share) for share in shares) / log2(len(shares))


@dataclass
class PairCounts:
    """Questions that are asked in pairs: the same question about two scenes, with different answers."""

    complete: int = 0
    """Pairs of which both questions are in the file."""
    alone: int = 0
    """Questions whose partner is outside the file."""
    crowded: int = 0
    """Pair numbers that more than two questions have."""
    answered: int = 0
    """Complete pairs of which the file tells both answers."""
    answers_differ: int = 0
    """Pairs of those whose answers differ."""
    texts_differ: int = 0
    """Complete pairs whose texts differ."""
    unpaired: int = 0
    """Questions without a pair number."""


@dataclass
class Census:
    """The counts of one file."""

    questions: int = 0
    without_program: int = 0
    without_answer: int = 0
    answers: dict[str, Counter[str]] = field(default_factory=dict)
    """Question type -> answer -> questions."""
    family_answers: dict[str, Counter[str]] = field(default_factory=dict)
    family_questions: Counter[str] = field(default_factory=Counter)
    family_types: dict[str, str] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    words: Counter[int] = field(default_factory=Counter)
    """Words of a question -> questions."""
    steps: Counter[int] = field(default_factory=Counter)
    """Steps of a program -> questions."""
    _numbers: Numbering = field(default_factory=Numbering)
    _file_of: list[int] = field(default_factory=list)
    _texts: array[int] = field(default_factory=lambda: array("Q"))
    _images: array[int] = field(default_factory=lambda: array("Q"))
    _families: array[int] = field(default_factory=lambda: array("l"))
    _pairs: array[int] = field(default_factory=lambda: array("Q"))
    """Of each question in a pair: the hashes of the pair's number, of the answer and of the text."""

    def add(self, facts: QuestionFacts) -> None:
        """Count one question."""
        self.questions += 1
        self.words[len(facts.text.split())] += 1
        self.without_program += facts.steps is None
        if facts.steps is not None:
            self.steps[len(facts.steps)] += 1
        self.without_answer += facts.answer is None
        if facts.answer is not None:
            kind = facts.type or answer_kind(facts.answer)
            self.answers.setdefault(kind, Counter())[facts.answer] += 1
            self.family_answers.setdefault(facts.family, Counter())[facts.answer] += 1
            self.family_types.setdefault(facts.family, kind)
        self.family_questions[facts.family] += 1
        self.files.add(facts.file)
        text = text_hash(facts.text)
        self._texts.append(text)
        self._images.append(text_hash(facts.image))
        self._families.append(self._family(facts))
        if facts.pair is not None:
            answer = NO_ANSWER if facts.answer is None else text_hash(facts.answer)
            self._pairs.extend((text_hash(facts.pair), answer, text))

    def _family(self, facts: QuestionFacts) -> int:
        number = self._numbers.number(facts.family)
        if number == len(self._file_of):
            self._file_of.append(text_hash(facts.file) >> 1)
        return number

    def distinct_texts(self) -> int:
        """Return the number of different texts."""
        return int(np.unique(np.asarray(self._texts, dtype=np.uint64)).size)

    def per_image(self) -> dict[str, Counter[int]]:
        """Return the distribution of questions, families and files of an image: how many images have so many."""
        images = np.asarray(self._images, dtype=np.uint64)
        families = np.asarray(self._families, dtype=np.int64)
        files = np.asarray(self._file_of, dtype=np.int64)[families]
        return {
            "questions": _sizes(images),
            "families": _sizes(_distinct(images, families)),
            "template files": _sizes(_distinct(images, files)),
        }

    def pairs(self) -> PairCounts | None:
        """Return the counts of pairs; None if no question is in one."""
        if not self._pairs:
            return None
        of_questions = np.asarray(self._pairs, dtype=np.uint64).reshape(-1, 3)
        of_questions = of_questions[np.argsort(of_questions[:, 0], kind="stable")]
        _, firsts, sizes = np.unique(of_questions[:, 0], return_index=True, return_counts=True)
        both = firsts[sizes == 2]
        left, right = of_questions[both], of_questions[both + 1]
        answered = (left[:, 1] != NO_ANSWER) & (right[:, 1] != NO_ANSWER)
        return PairCounts(
            complete=both.size,
            alone=int((sizes == 1).sum()),
            crowded=int((sizes > 2).sum()),
            answered=int(answered.sum()),
            answers_differ=int((answered & (left[:, 1] != right[:, 1])).sum()),
            texts_differ=int((left[:, 2] != right[:, 2]).sum()),
            unpaired=self.questions - len(of_questions),
        )


def _distinct(images: NDArray[np.uint64], of_questions: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the image of each different pair of an image and a number."""
    order = np.lexsort((of_questions, images))
    images, of_questions = images[order], of_questions[order]
    is_new = np.ones(images.size, dtype=bool)
    is_new[1:] = (images[1:] != images[:-1]) | (of_questions[1:] != of_questions[:-1])
    return images[is_new]


def _sizes(images: NDArray[np.uint64]) -> Counter[int]:
    """Return how many images occur so many times."""
    return Counter(np.unique(images, return_counts=True)[1].tolist())


@dataclass(frozen=True)
class Spread:
    """The spread of a number over questions, images or families."""

    least: int
    median: float
    mean: float
    most: int
    counts: Mapping[int, int]
    """Number -> how many have it, in order."""

    @classmethod
    def of(cls, counts: Mapping[int, int]) -> Spread | None:
        """Return the spread of numbers that occur so many times; None of nothing."""
        if not counts:
            return None
        ordered = dict(sorted(counts.items()))
        values = np.repeat(np.array(list(ordered)), np.array(list(ordered.values())))
        return cls(int(values[0]), float(np.median(values)), float(values.mean()), int(values[-1]), ordered)

    @classmethod
    def record_of(cls, counts: Mapping[int, int]) -> dict[str, Any] | None:
        """Return the spread of numbers that occur so many times as a record for JSON; None of nothing."""
        spread = cls.of(counts)
        return None if spread is None else spread.to_record()

    def __str__(self) -> str:
        if self.least == self.most:
            return f"{self.least:,}"
        return f"{self.least:,} to {self.most:,}, mean {self.mean:.1f}, median {self.median:g}"

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {
            "least": self.least,
            "median": self.median,
            "mean": round(self.mean, 4),
            "most": self.most,
            "counts": {str(number): count for number, count in self.counts.items()},
        }
