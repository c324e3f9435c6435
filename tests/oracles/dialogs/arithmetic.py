"""Conclusions from sums and differences of quantities."""

from __future__ import annotations

from collections.abc import Sequence

from oracles.dialogs.facts import MANY, Quantity
from oracles.dialogs.knowledge import Knowledge


def conclude_sum(known: Knowledge, total: Quantity, parts: Sequence[Quantity], reason: str, extra: int = 0) -> None:
    """Conclude from total = sum of parts + extra."""
    least = [known.least(part) for part in parts]
    most = [known.most(part) for part in parts]
    low, high = sum(least), sum(most)
    if low + extra > 0 or high < MANY:
        known.bound(total, low + extra, high + extra if high < MANY else MANY, reason)
    whole_least, whole_most = known.range_of(total)
    for part, part_least, part_most in zip(parts, least, most, strict=True):
        others_most = high - part_most
        up = whole_most - extra - (low - part_least) if whole_most < MANY else MANY
        down = whole_least - extra - others_most if others_most < MANY else 0
        if up < part_most or down > part_least:
            known.bound(part, down, up, reason)


def conclude_offset(known: Knowledge, one: Quantity, other: Quantity, extra: int, reason: str) -> None:
    """Conclude from one = other + extra."""
    conclude_sum(known, one, [other], reason, extra)


def conclude_at_least(known: Knowledge, one: Quantity, other: Quantity, extra: int, reason: str) -> None:
    """Conclude from one >= other + extra."""
    known.bound(one, known.least(other) + extra, MANY, reason)
    most = known.most(one)
    if most < MANY:
        known.bound(other, 0, most - extra, reason)
