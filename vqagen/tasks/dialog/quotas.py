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
from vqagen.search.balance import INTEGERS, AnswerCounts
from vqagen.tasks.dialog.knowledge import Move
from vqagen.tasks.dialog.rounds import FAMILIES
from vqagen.tasks.dialog.scene import DialogVocabulary
from vqagen.tasks.dialog.situation import NONE_REFUSED

UNLIMITED = 10**6
FIRST_ROUND = 4
EPSILON = 1e-9
LEADING_NUMBERS = 3
"""Counts that run neck and neck: 0, 1 and 2 would be two thirds of the answers with two."""


# Quotas ---------------------------------------------------------------------------------------------------------------


class Wanted(NamedTuple):
    """Rounds that a dialog should have, known by a part of their labels: each counts for its score, up to `most`."""

    part: str
    most: int
    points: int = 1
    spared: tuple[int, ...] = (0,)
    """The rounds that a dialog does without: each draws one of these numbers."""


WANTED = (
    Wanted("imm2", 1, 2, spared=(0, 1)),  # repeats the question before in a few words: "And its size?"
    Wanted("sim", 1, 2, spared=(0, 0, 1)),  # asks the same of another object
    Wanted("early", 6, spared=(0, 1, 2, 3)),  # asks about an object of an earlier round
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
        added = (*(family == each for each in FAMILIES), is_standalone)
        return RoundCounts(*(number + more for number, more in zip(self, added, strict=True)))


NO_ROUNDS = RoundCounts()
Limits = tuple[tuple[float, float], ...]
"""(least, most) of count, exist and seek, of count and exist together, and of standalone rounds."""
FREE: Limits = ((0, UNLIMITED),) * 5


@dataclass(frozen=True)
class Quotas:
    """Quotas for dialogs of any length."""

    name: str
    shares: Limits = ()
    """As fractions of the rounds."""
    table: Mapping[int, Limits] = field(default_factory=dict)
    """Limits by round, in place of shares; rounds beyond the last one have its shares."""
    wanted: tuple[Wanted, ...] = WANTED
    repeated: int = 1
    """Points that a round costs whose label is that of the round before."""

    @property
    def are_free(self) -> bool:
        """True if anything goes."""
        return not self.table and not self.shares

    def limits(self, round: int) -> Limits:
        """Return the limits after a round.

        After 7 rounds of at least a tenth and at most 30 % counts, 0 to 3 of them count.
        """
        last = max(self.table, default=0)
        if round <= last:
            return self.table.get(round, FREE)
        if last:
            return tuple((least * round // last, ceil(most * round / last)) for least, most in self.table[last])
        if round < FIRST_ROUND or self.are_free:
            return FREE
        *spans, (_, alone) = (
            (floor(least * round + EPSILON), ceil(most * round - EPSILON)) for least, most in self.shares
        )
        return (*spans, (0, max(alone, 1)))

    def admits(self, round: int, counts: RoundCounts) -> bool:
        """True if a dialog may have these rounds after a round."""
        *families, standalone = counts
        numbers = *families, counts.counts + counts.exists, standalone
        return all(least <= number <= most for number, (least, most) in zip(numbers, self.limits(round), strict=True))

    def gain(self, wants: Wants, label: str, before: str) -> tuple[int, Wants]:
        """Return the points that a round adds to the score of a dialog, and what the dialog should have after it."""
        had = [each.part in label and left > 0 for each, left in zip(self.wanted, wants, strict=True)]
        points = sum(each.points for each, is_had in zip(self.wanted, had, strict=True) if is_had)
        left = tuple(left - is_had for left, is_had in zip(wants, had, strict=True))
        return points - self.repeated * (label == before), left


PRESETS = {
    "smooth": Quotas("smooth", ((0.1, 0.3), (0.1, 0.3), (0.3, 0.7), (0, 0.4), (0, 0.1))),
    "paper": Quotas("paper", ((0.1, 0.2), (0.1, 0.2), (0.3, 0.6), (0, 0.4), (0, 0.1))),
    "reference": Quotas(
        "reference",
        table={
            4: ((0, 1), (0, 1), (1, 4), (0, 2), (0, 1)),
            5: ((0, 1), (0, 1), (2, 4), (0, 2), (0, 1)),
            6: ((0, 2), (0, 2), (2, 5), (0, 3), (0, 1)),
            7: ((0, 2), (0, 2), (2, 5), (0, 3), (0, 1)),
            8: ((0, 2), (0, 2), (3, 5), (0, 3), (0, 2)),
            9: ((0, 3), (0, 3), (3, 6), (0, 3), (0, 2)),
            10: ((0, 3), (0, 3), (3, 6), (0, 4), (0, 2)),
        },
        wanted=(Wanted("imm2", UNLIMITED), Wanted("sim", UNLIMITED), Wanted("early", 4)),
        repeated=0,
    ),
    "none": Quotas("none"),
}
"""`paper`: the shares of Kottur et al. 2019; `reference`: the table of their code; `smooth`: more room, so that its
place does not give away the family of a round."""


# Balance of answers -----------------------------------------------------------------------------------------------


def attribute_asked(vocabulary: DialogVocabulary, move: Move) -> int:
    """Return the attribute that a question asks for, by itself or by a value; -1 for none."""
    return vocabulary.values[move.value][0] if move.value >= 0 else move.attribute


class AnswerBalance:
    """The answers of a window so far. Attributes are counted apart, so that none of them gives answers away.

    A label and an attribute have counts of their own: with "yes" 12 times and "no" 9 times to "Are there other things
    of its color?", "yes" is refused until "no" has caught up, and other shapes are asked for all the same. Questions
    that seek a value are not counted: their answers come out even by themselves.
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
        found = self._counts.get((label, attribute))
        if found is None:
            known, leading = (INTEGERS, LEADING_NUMBERS) if label.startswith("count") else (("yes", "no"), 2)
            coins = stream(self._seed, f"answers of {label} {attribute}", self._first)
            found = self._counts[label, attribute] = AnswerCounts(known, leading, coins)
        return found
