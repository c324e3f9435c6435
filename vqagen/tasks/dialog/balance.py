"""Balance of answers in dialogs: which are too common to be given again, by kind of round and attribute asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from vqagen.language.registry import Value
from vqagen.rng import stream
from vqagen.search.balance import INTEGERS, AnswerCounts
from vqagen.tasks.dialog.knowledge import Move
from vqagen.tasks.dialog.vocabulary import DialogVocabulary

LEADING_NUMBERS = 3
"""Counts that run neck and neck: 0, 1 and 2 would be two thirds of the answers with two."""
NOTHING: frozenset[Value] = frozenset()
ONE: frozenset[Value] = frozenset([1])
Refused = Callable[[str, int], frozenset[Value]]
"""(label, attribute that is asked for, or -1) -> the answers that are too common."""


def nothing_refused(label: str, attribute: int) -> frozenset[Value]:
    """Refuse no answer: for dialogs that are hard to find."""
    return NOTHING


def attribute_asked(vocabulary: DialogVocabulary, move: Move) -> int:
    """Return the attribute that a question asks for, by itself or by a value; -1 for none."""
    return vocabulary.values[move.value][0] if move.value >= 0 else move.attribute


class AnswerBalance:
    """The answers of a window so far. Attributes are counted apart, so that none of them gives answers away."""

    def __init__(self, vocabulary: DialogVocabulary, seed: int, first: int) -> None:
        """`first`: the index of the window's first scene. Counts start at a coin, so that no answer comes first."""
        self._vocabulary, self._seed, self._first = vocabulary, seed, first
        self._counts: dict[tuple[str, int], AnswerCounts] = {}
        self._given: Counter[tuple[str, int]] = Counter()

    def refused(self, label: str, attribute: int) -> frozenset[Value]:
        """Return the answers that are too common among questions of a label about an attribute.

        Those of questions that seek a value come out even by themselves.
        """
        return NOTHING if _seeks(label) else self._of(label, attribute).refused

    def refused_at_first(self, label: str, attribute: int) -> frozenset[Value]:
        """Return the answers that are too common before a dialog has found any one object.

        Dialogs about several cubes find one object by a count of 1: that is refused only beyond half of the counts.
        """
        refused = self.refused(label, attribute)
        if 1 not in refused or self._of(label, attribute).count(1) * 2 > self._given[label, attribute]:
            return refused
        return refused - ONE

    def add(self, answers: Iterable[tuple[Move, int | str]]) -> None:
        """Count the answers of a dialog."""
        for move, answer in answers:
            if _seeks(move.label):
                continue
            attribute = attribute_asked(self._vocabulary, move)
            self._of(move.label, attribute).add(answer)
            self._given[move.label, attribute] += 1

    def _of(self, label: str, attribute: int) -> AnswerCounts:
        found = self._counts.get((label, attribute))
        if found is None:
            known, leading = (INTEGERS, LEADING_NUMBERS) if label.startswith("count") else (("yes", "no"), 2)
            coins = stream(self._seed, f"answers of {label} {attribute}", self._first)
            found = self._counts[label, attribute] = AnswerCounts(known, leading, coins)
        return found


def _seeks(label: str) -> bool:
    return label.startswith("seek")
