"""Quotas: how many rounds of each family a dialog may have after each round, and what a good dialog is.

Shares are fractions of the rounds so far: after round t of at least `FIRST_ROUND`, a family must have
`floor(least * t)` to `ceil(most * t)` rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, floor
from typing import NamedTuple

from vqagen.tasks.dialog.round_kind import FAMILIES

UNLIMITED = 10**6
FIRST_ROUND = 4


class Objective(NamedTuple):
    """The score of a dialog: how many rounds of each sort count for it, and what a repeated label costs."""

    ellipses: int = 1
    """Questions that repeat the one before in a few words (labels with imm2)."""
    similar: int = 1
    """Questions that ask the same of another object (labels with sim)."""
    early: int = 6
    """Questions about an object of an earlier round (labels with early)."""
    repeats: int = 1
    """Cost of each round with the label of the round before."""


DEFAULT_OBJECTIVE = Objective()


class RoundCounts(NamedTuple):
    """Rounds so far."""

    counts: int = 0
    exists: int = 0
    seeks: int = 0
    standalone: int = 0
    """Rounds whose questions do not refer to an object or a group."""

    def add(self, family: str, is_standalone: bool) -> RoundCounts:
        """Return the counts after another round."""
        return RoundCounts(
            self.counts + (family == "count"),
            self.exists + (family == "exist"),
            self.seeks + (family == "seek"),
            self.standalone + is_standalone,
        )


Limits = tuple[tuple[int, int], tuple[int, int], tuple[int, int], int, int]
"""(least, most) of count, exist and seek; most of count and exist together; most standalone."""
FREE: Limits = ((0, UNLIMITED), (0, UNLIMITED), (0, UNLIMITED), UNLIMITED, UNLIMITED)


@dataclass(frozen=True)
class Quotas:
    """Quotas for dialogs of any length."""

    name: str
    shares: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Family -> its least and its most share."""
    together: float = 1.0
    """The most that count and exist have together."""
    standalone: float = 1.0
    table: Mapping[int, Limits] = field(default_factory=dict)
    """Limits by round, in place of shares; rounds beyond the last one have its shares."""
    objective: Objective = DEFAULT_OBJECTIVE
    spared: tuple[tuple[int, ...], ...] = ((0, 1), (0, 0, 1), (0, 1, 2, 3))
    """Of each sort of the objective, the rounds that the plan of a dialog may do without: each draws one number."""

    @property
    def are_free(self) -> bool:
        """True if anything goes."""
        return not self.table and not self.shares and self.together == self.standalone == 1.0

    def limits(self, round: int) -> Limits:
        """Return the limits after a round."""
        if self.table:
            return self._from_table(round)
        if round < FIRST_ROUND or self.are_free:
            return FREE
        spans = [(floor(least * round + EPSILON), ceil(most * round - EPSILON)) for least, most in self._spans()]
        together, standalone = (ceil(share * round - EPSILON) for share in (self.together, self.standalone))
        return spans[0], spans[1], spans[2], together, max(standalone, 1)

    def _spans(self) -> list[tuple[float, float]]:
        return [self.shares.get(family, (0.0, 1.0)) for family in FAMILIES]

    def _from_table(self, round: int) -> Limits:
        last = max(self.table)
        if round <= last:
            return self.table.get(round, FREE)
        spans = [(least * round // last, ceil(most * round / last)) for least, most in self.table[last][:3]]
        together, standalone = (ceil(most * round / last) for most in self.table[last][3:])
        return spans[0], spans[1], spans[2], together, standalone

    def admits(self, round: int, counts: RoundCounts) -> bool:
        """True if a dialog may have these rounds after a round."""
        count, exist, seek, together, standalone = self.limits(round)
        return (
            count[0] <= counts.counts <= count[1]
            and exist[0] <= counts.exists <= exist[1]
            and seek[0] <= counts.seeks <= seek[1]
            and counts.counts + counts.exists <= together
            and counts.standalone <= standalone
        )


EPSILON = 1e-9
PRESETS = {
    "smooth": Quotas("smooth", {"count": (0.1, 0.3), "exist": (0.1, 0.3), "seek": (0.3, 0.7)}, 0.4, 0.1),
    "paper": Quotas("paper", {"count": (0.1, 0.2), "exist": (0.1, 0.2), "seek": (0.3, 0.6)}, 0.4, 0.1),
    "reference": Quotas(
        "reference",
        table={
            4: ((0, 1), (0, 1), (1, 4), 2, 1),
            5: ((0, 1), (0, 1), (2, 4), 2, 1),
            6: ((0, 2), (0, 2), (2, 5), 3, 1),
            7: ((0, 2), (0, 2), (2, 5), 3, 1),
            8: ((0, 2), (0, 2), (3, 5), 3, 2),
            9: ((0, 3), (0, 3), (3, 6), 3, 2),
            10: ((0, 3), (0, 3), (3, 6), 4, 2),
        },
        objective=Objective(UNLIMITED, UNLIMITED, 4, 0),
        spared=((0,), (0,), (0,)),
    ),
    "none": Quotas("none"),
}
"""`paper`: the shares of Kottur et al. 2019; `reference`: the table of their code; `smooth`: more room, so that its
place does not give away the family of a round."""
