"""Counts over all dialogs of a file, taken in one pass: about 200 bytes of memory for a dialog of ten rounds."""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log2
from typing import Any

import numpy as np

from vqagen.judge.stats.census import text_hash
from vqagen.judge.stats.dialog_facts import COREF, DialogFacts, RoundFacts
from vqagen.tasks.dialog.quotas import PRESETS, RoundCounts
from vqagen.tasks.dialog.round_kind import FAMILIES

_WORD = re.compile(r"\w[\w'’-]*")
_PUNCTUATION = re.compile(r"[^\w\s'’-]")
COMPARED = 2000
"""Rounds at the beginning of a file among which different questions are counted too: as many as were measured of
CLEVR-Dialog's generator, for the share falls as files grow."""
Composition = tuple[int, ...]
"""Rounds of each of the FAMILIES in a dialog."""
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
    vocabulary: set[str] = field(default_factory=set)
    """The words of the questions."""
    compositions: Counter[Composition] = field(default_factory=Counter)
    """Rounds of each family -> dialogs."""
    quotas: Counter[str] = field(default_factory=Counter)
    """Name of quotas -> dialogs that keep them."""
    _texts: array[int] = field(default_factory=lambda: array("Q"))
    _images: array[int] = field(default_factory=lambda: array("Q"))
    _beginnings: list[array[int]] = field(default_factory=list)
    """Number of rounds, from 1 -> of each dialog that has so many, a hash of its image and of their labels and
    answers."""

    def add(self, dialog: DialogFacts) -> None:
        """Count one dialog."""
        rounds = dialog.rounds
        self.dialogs += 1
        self.rounds += len(rounds)
        self.captions[dialog.caption_label] += 1
        self.caption_words[len(dialog.caption.split())] += 1
        self.lengths[len(rounds)] += 1
        families = Counter(each.family for each in rounds)
        self.compositions[tuple(families[name] for name in FAMILIES)] += 1
        self.quotas.update(kept_quotas(rounds))
        if rounds:
            self.last_families[rounds[-1].family] += 1
        for number, each in enumerate(rounds, 1):
            self._add_round(each, number)
        self._images.append(text_hash(dialog.image))
        self._add_beginnings(dialog.image, rounds)

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
        self.vocabulary.update(_WORD.findall(facts.question.lower()))
        self._texts.append(text_hash(facts.question))

    def _add_beginnings(self, image: str, rounds: Sequence[RoundFacts]) -> None:
        said = image
        for number, each in enumerate(rounds):
            said += f"\n{each.label}\t{each.answer}"
            if number == len(self._beginnings):
                self._beginnings.append(array("Q"))
            self._beginnings[number].append(text_hash(said))

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

    def distinct_questions(self, first: int | None = None) -> int:
        """Return the number of different texts, of all rounds or of the `first` ones."""
        return int(np.unique(np.asarray(self._texts[:first], dtype=np.uint64)).size)

    def per_image(self) -> Counter[int]:
        """Return how many images have so many dialogs."""
        sizes = np.unique(np.asarray(self._images, dtype=np.uint64), return_counts=True)[1]
        return Counter(sizes.tolist())

    def shared_beginnings(self) -> Counter[int]:
        """Return how many pairs of dialogs of an image begin with exactly so many equal labels and answers."""
        at_least = [sum(count * (count - 1) // 2 * images for count, images in self.per_image().items())]
        for hashes in self._beginnings:
            sizes = np.unique(np.asarray(hashes, dtype=np.uint64), return_counts=True)[1].astype(np.int64)
            at_least.append(int((sizes * (sizes - 1) // 2).sum()))
        exactly = (shared - more for shared, more in zip(at_least, [*at_least[1:], 0], strict=True))
        return Counter({number: pairs for number, pairs in enumerate(exactly) if pairs})
