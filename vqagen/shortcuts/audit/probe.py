"""Probes: ways to answer without looking. Each gives every item the probability that its guess is right."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np

from vqagen.shortcuts.audit.folds import Folds
from vqagen.shortcuts.audit.items import AuditFile
from vqagen.shortcuts.audit.significance import Floats
from vqagen.shortcuts.stats.guessing import guess_each


class Probe(NamedTuple):
    """The guesses of one probe."""

    name: str
    meaning: str
    scores: Floats
    """The probability of a right answer of each item; NaN for items that the probe does not concern."""


def option_chance(file: AuditFile) -> Floats:
    """Return the chance of each item of multiple choice: one over the number of options."""
    return np.array([item.chance for item in file.items])


def open_chance(file: AuditFile, folds: Folds) -> Floats:
    """Return the chance of each open item: 1 if the most frequent answer of its family is right, which others taught.

    In a family of which that is worse than one over the number of its answers, chance is that. (Where answers are
    exactly balanced, an answer that is rarer among the others is more frequent among those that are guessed.)
    """
    guesses = guess_each(file.clues, folds.of_items, ("majority",))["majority"]
    right = np.array([guess == clue.answer for guess, clue in zip(guesses, file.clues, strict=True)], dtype=float)
    places: defaultdict[str, list[int]] = defaultdict(list)
    answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for place, clue in enumerate(file.clues):
        places[clue.family].append(place)
        answers[clue.family][clue.answer] += 1
    for family, own in places.items():
        uniform = 1 / len(answers[family])
        if right[own].mean() < uniform:
            right[own] = uniform
    return right
