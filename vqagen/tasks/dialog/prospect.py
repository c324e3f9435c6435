"""Looking ahead: which rounds a dialog can still have under its quotas, and what they can add to its objective."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import NamedTuple

from vqagen.tasks.dialog.quotas import UNLIMITED, Objective, Quotas, RoundCounts
from vqagen.tasks.dialog.round_kind import FAMILIES, NOTHING, RoundKind
from vqagen.tasks.dialog.rounds import ROUND_KINDS, kinds_after

HORIZON = 12
"""Rounds that the objective looks ahead: more take long, and change nothing."""


class Gains(NamedTuple):
    """Rounds of a dialog that its objective counts."""

    ellipses: int = 0
    similar: int = 0
    early: int = 0

    def add(self, label: str) -> Gains:
        """Return the gains after another round."""
        return Gains(
            self.ellipses + ("imm2" in label), self.similar + ("sim" in label), self.early + ("early" in label)
        )

    def capped(self, objective: Objective) -> Gains:
        """Return the gains as far as they count."""
        return Gains(*map(min, self, objective))


NO_ROUNDS, NO_GAINS = RoundCounts(), Gains()


class Prospect:
    """The rounds that can still come in dialogs of a given length. Answers are kept: there are few different ones.

    Looking ahead takes every kind of round to have a question, whatever is known by then.
    """

    def __init__(self, quotas: Quotas, rounds: int) -> None:
        self.quotas, self.rounds = quotas, rounds
        self.can_finish = cache(self._can_finish)
        self.counts_after = cache(self._find_counts_after)
        self.gains_after = cache(self._find_gains_after)
        self.most_gain = cache(self._find_most)
        self._most_gain = cache(self._find_most_gain)
        self._alike = cache(_alike)
        self._unlike_kinds_after = cache(self._find_unlike_kinds)

    def _find_counts_after(self, counts: RoundCounts, label: str) -> RoundCounts:
        """Return the counts of a dialog after a round with a label, as far as the quotas look at them."""
        kind = ROUND_KINDS[label]
        return counts if self.quotas.are_free else counts.add(kind.family, kind.refers == NOTHING)

    def _find_gains_after(self, gains: Gains, label: str) -> Gains:
        """Return the gains of a dialog after a round with a label, as far as they count."""
        return gains.add(label).capped(self.quotas.objective)

    def _can_finish(self, round: int, counts: RoundCounts) -> bool:
        """True if the quotas admit these counts after a round, and some way on to the end of the dialog."""
        if round and not self.quotas.admits(round, counts):
            return False
        if round == self.rounds or self.quotas.are_free:
            return True
        return any(
            self.can_finish(round + 1, counts.add(family, is_standalone))
            for family, is_standalone in product(FAMILIES, (False, True))
        )

    def _find_most(self, round: int, counts: RoundCounts, gains: Gains, label: str) -> int:
        """Return the most that the rounds after one with this label can add; 0 if the end is beyond the horizon."""
        if self.rounds - round > HORIZON:
            return 0
        objective = self.quotas.objective
        finite = (gain if most < UNLIMITED else 0 for gain, most in zip(gains, objective, strict=False))
        return self._most_gain(round, counts, Gains(*finite), self._alike(label))

    def _find_most_gain(self, round: int, counts: RoundCounts, gains: Gains, label: str) -> int:
        objective, best = self.quotas.objective, 0
        left = sum(objective[: len(gains)]) - sum(gains)
        if round == self.rounds:
            return 0
        for kind in self._unlike_kinds_after(label):
            if best == left:
                break
            then = self.counts_after(counts, kind.label)
            if self.can_finish(round + 1, then):
                gained = self.gains_after(gains, kind.label)
                more = self.most_gain(round + 1, then, gained, kind.label)
                best = max(best, sum(gained) - sum(gains) + more)
        return best

    def _find_unlike_kinds(self, label: str) -> tuple[RoundKind, ...]:
        """Return one kind of round of those that may follow a label, change the counts alike and lead on alike.

        That halves the time of a run's first scene, which was 0.8 s with every kind (10 rounds, quotas `smooth`). Kinds
        that gain come first, for they often gain all that is left: a whole dialog is looked ahead in 0.001 s, not 0.3.
        """
        found = {
            (kind.family, kind.refers == NOTHING, NO_GAINS.add(kind.label), self._alike(kind.label)): kind
            for kind in kinds_after(label)
        }
        return tuple(sorted(found.values(), key=lambda kind: sum(NO_GAINS.add(kind.label)), reverse=True))


def _alike(label: str) -> str:
    """Return the first label that the same kinds of rounds may follow; "" if none but those that may follow any."""
    follow = [kind.label for kind in ROUND_KINDS.values() if label in kind.after]
    for other in ROUND_KINDS if follow else ():
        if follow == [kind.label for kind in ROUND_KINDS.values() if other in kind.after]:
            return other
    return ""
