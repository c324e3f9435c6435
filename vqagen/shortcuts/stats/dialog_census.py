"""Counts over all dialogs of a file, taken in one pass: about 100 bytes of memory for a dialog of ten rounds."""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log2
from typing import Any

import numpy as np

from vqagen.score.gold.census import text_hash
from vqagen.score.gold.dialog_facts import COREF, DialogFacts, RoundFacts
from vqagen.tasks.dialog.quotas import PRESETS, RoundCounts

_PUNCTUATION = re.compile(r"[^\w\s'’-]")
LIMITING = tuple(quotas for quotas in PRESETS.values() if not quotas.are_free)
"""The presets that limit anything."""


def entropy(counts: Mapping[Any, int]) -> float:
    """Return the entropy of counts in bits.

    >>> entropy({"count": 1, "seek": 1}), entropy({"seek": 3})
    (1.0, 0.0)
    """
    total = sum(counts.values())
    return sum(count / total * log2(total / count) for count in counts.values() if count)


def kept_quotas(rounds: Sequence[RoundFacts]) -> list[str]:
    """Return the names of the quotas whose limits a dialog keeps after every round."""
    kept, counts = list(LIMITING), RoundCounts()
    for number, each in enumerate(rounds, 1):
        counts = counts.add(each.family, each.history != COREF)
        kept = [limits for limits in kept if limits.admits(number, counts)]
    return [limits.name for limits in kept]


@dataclass
class DialogCensus:
    """The counts of one file."""

    dialogs: int = 0
    rounds: int = 0
    captions: Counter[str] = field(default_factory=Counter)
    """Label of a caption -> dialogs."""
    labels: Counter[str] = field(default_factory=Counter)
    """Label -> rounds."""
    families: dict[str, str] = field(default_factory=dict)
    """Label -> family."""
    positions: defaultdict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Round, from 1 -> label -> dialogs."""
    last_families: Counter[str] = field(default_factory=Counter)
    """Family of the last round -> dialogs."""
    answers: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Label -> answer -> rounds."""
    histories: Counter[str] = field(default_factory=Counter)
    """Part of the history that a question needs -> rounds."""
    since_told: Counter[int] = field(default_factory=Counter)
    since_mentioned: Counter[int] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    """Rounds -> dialogs."""
    words: Counter[int] = field(default_factory=Counter)
    """Words of a question -> rounds."""
    tokens: Counter[int] = field(default_factory=Counter)
    """Words and punctuation marks of a question -> rounds."""
    caption_words: Counter[int] = field(default_factory=Counter)
    quotas: Counter[str] = field(default_factory=Counter)
    """Name of quotas -> dialogs that keep them."""
    _texts: array[int] = field(default_factory=lambda: array("Q"))
    _images: array[int] = field(default_factory=lambda: array("Q"))

    def add(self, dialog: DialogFacts) -> None:
        """Count one dialog."""
        rounds = dialog.rounds
        self.dialogs += 1
        self.rounds += len(rounds)
        self.captions[dialog.caption_label] += 1
        self.caption_words[len(dialog.caption.split())] += 1
        self.lengths[len(rounds)] += 1
        self.quotas.update(kept_quotas(rounds))
        if rounds:
            self.last_families[rounds[-1].family] += 1
        for number, each in enumerate(rounds, 1):
            self._add_round(each, number)
        self._images.append(text_hash(dialog.image))

    def _add_round(self, facts: RoundFacts, number: int) -> None:
        self.labels[facts.label] += 1
        self.families.setdefault(facts.label, facts.family)
        self.positions[number][facts.label] += 1
        self.histories[facts.history] += 1
        if facts.answer is not None:
            self.answers[facts.label][facts.answer] += 1
        if facts.since_told is not None:
            self.since_told[facts.since_told] += 1
        if facts.since_mentioned is not None:
            self.since_mentioned[facts.since_mentioned] += 1
        words = len(facts.question.split())
        self.words[words] += 1
        self.tokens[words + len(_PUNCTUATION.findall(facts.question))] += 1
        self._texts.append(text_hash(facts.question))

    @property
    def types(self) -> Counter[str]:
        """Family -> rounds."""
        return self.in_families(self.labels)

    def in_families(self, labels: Mapping[str, int]) -> Counter[str]:
        """Return the counts of labels, summed for each family."""
        counts: Counter[str] = Counter()
        for label, count in labels.items():
            counts[self.families[label]] += count
        return counts

    def distinct_questions(self) -> int:
        """Return the number of different texts."""
        return int(np.unique(np.asarray(self._texts, dtype=np.uint64)).size)

    def per_image(self) -> Counter[int]:
        """Return how many images have so many dialogs."""
        sizes = np.unique(np.asarray(self._images, dtype=np.uint64), return_counts=True)[1]
        return Counter(sizes.tolist())
