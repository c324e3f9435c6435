"""Quotas and balance: which rounds a dialog can still have, and which answers are too common to be given again.

Shares are fractions of the rounds so far: after round t of at least `FIRST_ROUND`, a family must have
`floor(least * t)` to `ceil(most * t)` rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, floor
from typing import NamedTuple

from vqagen.language.catalogue import Value
from vqagen.rng import stream
from vqagen.search.balance import INTEGERS, SLACK_BY_WORDS, AnswerCounts
from vqagen.tasks.dialog.knowledge import Move
from vqagen.tasks.dialog.scene import DialogVocabulary
from vqagen.tasks.dialog.situation import NONE_REFUSED

UNLIMITED = 10**6
FIRST_ROUND = 4
EPSILON = 1e-9
LEADING_NUMBERS = 3
"""Counts that run neck and neck: 0, 1 and 2 would be two thirds of the answers with two."""


# Quotas ---------------------------------------------------------------------------------------------------------------


Objective = tuple[tuple[str, int, tuple[int, ...]], ...]
"""The score of a dialog as a weighted sum: (part of a label, points of a round with such a label, numbers of rounds).

Each dialog draws one of the numbers: further rounds of the sort earn nothing.
"""
OBJECTIVE: Objective = (
    ("imm2", 2, (1, 0)),  # repeats the question before in a few words: "And its size?"
    ("sim", 2, (1, 1, 0)),  # asks the same of another object
    ("early", 1, (6, 5, 4, 3)),  # asks about an object of an earlier round
)
Wants = tuple[int, ...]
"""Of each sort, the rounds that a dialog should still have."""


class RoundCounts(NamedTuple):
    """Rounds so far."""

    counts: int = 0
    exists: int = 0
    seeks: int = 0
    standalone: int = 0
    """Rounds whose questions do not refer to an object or a group."""

    def add(self, family: str, is_standalone: bool) -> RoundCounts:
        """Return the counts after another round."""
        counts, exists, seeks, standalone = self
        added = counts + (family == "count"), exists + (family == "exist"), seeks + (family == "seek")
        return RoundCounts(*added, standalone + is_standalone)


NO_ROUNDS = RoundCounts()
Limits = tuple[tuple[float, float], ...]
"""(least, most) of count, exist and seek, of count and exist together, and of standalone rounds."""
FREE: Limits = ((0, UNLIMITED),) * 5


@dataclass(frozen=True)
class Quotas:
    """Quotas for dialogs of any length."""

    name: str
    shares: Limits = ()
    """As fractions of the rounds; without them anything goes."""
    table: Mapping[int, Limits] = field(default_factory=dict)
    """Limits of some rounds, in place of those that follow from shares."""
    objective: Objective = OBJECTIVE
    repeated: int = 1
    """Points that a round costs whose label is that of the round before."""

    def limits(self, round: int) -> Limits:
        """Return the limits after a round.

        After 7 rounds of at least a tenth and at most 30 % counts, 0 to 3 of them count.
        """
        if round < FIRST_ROUND or not self.shares:
            return FREE
        *spans, (_, alone) = (
            (floor(least * round + EPSILON), ceil(most * round - EPSILON)) for least, most in self.shares
        )
        return self.table.get(round, (*spans, (0, max(alone, 1))))

    def admits(self, round: int, counts: RoundCounts) -> bool:
        """True if a dialog may have these rounds after a round."""
        *families, standalone = counts
        numbers = *families, counts.counts + counts.exists, standalone
        return all(least <= number <= most for number, (least, most) in zip(numbers, self.limits(round), strict=True))

    def gain(self, wants: Wants, label: str, before: str) -> tuple[int, Wants]:
        """Return the points that a round adds to the score of a dialog, and what the dialog should have after it."""
        earned = [part in label and left > 0 for (part, *_), left in zip(self.objective, wants, strict=True)]
        points = sum(points * is_earned for (_, points, _), is_earned in zip(self.objective, earned, strict=True))
        left = tuple(left - is_earned for left, is_earned in zip(wants, earned, strict=True))
        return points - self.repeated * (label == before), left


PRESETS = {
    "smooth": Quotas("smooth", ((0.1, 0.3), (0.1, 0.3), (0.3, 0.7), (0, 0.4), (0, 0.1))),
    "paper": Quotas("paper", ((0.1, 0.2), (0.1, 0.2), (0.3, 0.6), (0, 0.4), (0, 0.1))),
    "reference": Quotas(
        "reference",
        ((0, 0.3), (0, 0.3), (0.3, 0.6), (0, 0.4), (0, 0.2)),
        {
            4: ((0, 1), (0, 1), (1, 4), (0, 2), (0, 1)),
            5: ((0, 1), (0, 1), (2, 4), (0, 2), (0, 1)),
            6: ((0, 2), (0, 2), (2, 5), (0, 3), (0, 1)),
            7: ((0, 2), (0, 2), (2, 5), (0, 3), (0, 1)),
            8: ((0, 2), (0, 2), (3, 5), (0, 3), (0, 2)),
            9: ((0, 3), (0, 3), (3, 6), (0, 3), (0, 2)),
        },
        objective=(("imm2", 1, (UNLIMITED,)), ("sim", 1, (UNLIMITED,)), ("early", 1, (4,))),
        repeated=0,
    ),
    "none": Quotas("none"),
}
"""`paper`: the shares of Kottur et al. 2019; `reference`: the table of their code, and for longer dialogs its shares;
`smooth`: more room, so that its place does not give away the family of a round."""


# Balance of answers -----------------------------------------------------------------------------------------------


def attribute_asked(vocabulary: DialogVocabulary, move: Move) -> int:
    """Return the attribute that a question asks for, by itself or by a value; -1 for none."""
    return vocabulary.values[move.value][0] if move.value >= 0 else move.attribute


class AnswerBalance:
    """The answers of a window so far. Attributes are counted apart, so that none of them gives answers away.

    A label and an attribute have counts of their own: with "yes" 18 times and "no" 9 times to "Are there other things
    of its color?", "yes" is refused until "no" has caught up, and other shapes are asked for all the same. How far one
    may lead is drawn after each answer, or else yes would follow no in three of four. Questions that seek a value are
    not counted: their answers come out even by themselves.
    """

    def __init__(self, vocabulary: DialogVocabulary, seed: int, first: int) -> None:
        """`first`: the index of the window's first scene. Counts start at a coin, so that no answer comes first."""
        self._vocabulary, self._seed, self._first = vocabulary, seed, first
        self._counts: dict[tuple[str, int], AnswerCounts] = {}
        self._given: Counter[tuple[str, int]] = Counter()

    def refused(self, label: str, attribute: int) -> frozenset[Value]:
        """Return the answers that are too common among questions of a label about an attribute."""
        return NONE_REFUSED if label.startswith("seek") else self._of(label, attribute).refused

    def refused_at_first(self, label: str, attribute: int) -> frozenset[Value]:
        """Return the answers that are too common before a dialog has found any one object.

        Dialogs about several cubes find one object by a count of 1: that is refused only beyond half of the counts.
        """
        refused = self.refused(label, attribute)
        is_half = 1 in refused and self._of(label, attribute).count(1) * 2 > self._given[label, attribute]
        return refused if is_half else refused - {1}

    def add(self, move: Move, answer: int | str) -> None:
        """Count the answer of a round."""
        if not move.label.startswith("seek"):
            attribute = attribute_asked(self._vocabulary, move)
            self._of(move.label, attribute).add(answer)
            self._given[move.label, attribute] += 1

    def _of(self, label: str, attribute: int) -> AnswerCounts:
        if (label, attribute) not in self._counts:
            known, leading = (INTEGERS, LEADING_NUMBERS) if label.startswith("count") else (("yes", "no"), 2)
            coins = stream(self._seed, f"answers of {label} {attribute}", self._first)
            self._counts[label, attribute] = AnswerCounts(known, leading, coins, SLACK_BY_WORDS)
        return self._counts[label, attribute]
