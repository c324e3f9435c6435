"""Probes that read the text alone: of open questions and rounds of dialogs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from vqagen.shortcuts.audit.folds import Folds
from vqagen.shortcuts.audit.items import AuditFile
from vqagen.shortcuts.audit.probe import Probe
from vqagen.shortcuts.audit.significance import Floats
from vqagen.shortcuts.stats.guessing import guess_each
from vqagen.shortcuts.stats.sample import Clue

_WORD = re.compile(r"\w+")
LEAST_SAME = 5
"""Questions of the same text that are taken for evidence."""


def text_probes(file: AuditFile, folds: Folds) -> Iterator[Probe]:
    """Yield the probes of the text: its words, its program's phrases, questions of the same text, the history."""
    of_family = [_with_family(clue) for clue in file.clues]
    yield Probe("words", "logistic regression over the words", _learned(of_family, folds, "words"))
    if any(clue.has_program for clue in file.clues):
        yield Probe("tree", "boosted trees over the program's phrases", _learned(file.clues, folds, "tree"))
    yield Probe("same text", "the answer of other questions of the same text", _same_text(file.clues, folds))
    if any(item.history for item in file.items):
        told = [
            clue._replace(text=f"{clue.text} {_marked(item.history)}")
            for clue, item in zip(of_family, file.items, strict=True)
        ]
        yield Probe("history", "the same, with the words of the history", _learned(told, folds, "words"))


def _with_family(clue: Clue) -> Clue:
    """Return a clue whose text names its family as one more word."""
    family = re.sub(r"\W", "_", clue.family)
    return clue._replace(text=f"{clue.text} family_{family}")


def _marked(history: str) -> str:
    """Return the words of a history, each as another word than that of a question."""
    return " ".join(f"before_{word}" for word in sorted(set(_WORD.findall(history.lower()))))


def _learned(clues: Sequence[Clue], folds: Folds, predictor: str) -> Floats:
    return _scores(clues, guess_each(clues, folds.of_items, (predictor,))[predictor])


def _scores(clues: Sequence[Clue], guesses: Sequence[str]) -> Floats:
    return np.array([guess == clue.answer for guess, clue in zip(guesses, clues, strict=True)], dtype=float)


def _same_text(clues: Sequence[Clue], folds: Folds) -> Floats:
    """Guess the answer that is most frequent among questions of the same text in other folds, else the majority's."""
    guesses = guess_each(clues, folds.of_items, ("majority",))["majority"]
    seen: defaultdict[str, Counter[tuple[int, str]]] = defaultdict(Counter)
    for clue, fold in zip(clues, folds.of_items, strict=True):
        seen[clue.text][fold, clue.answer] += 1
    for place, (clue, fold) in enumerate(zip(clues, folds.of_items, strict=True)):
        counts: Counter[str] = Counter()
        for (other, answer), count in seen[clue.text].items():
            if other != fold:
                counts[answer] += count
        if counts.total() >= LEAST_SAME:
            guesses[place] = min(counts, key=lambda answer: (-counts[answer], answer != guesses[place], answer))
    return _scores(clues, guesses)
