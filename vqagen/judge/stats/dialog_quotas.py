"""Quotas that a dialog may keep: how many rounds of each type it has after each round from the fourth on.

Presets in percent of the rounds so far; a least number is rounded down, a highest one up. `paper` are CLEVR-Dialog's
published shares, `reference` the bounds in its generator, which end with the tenth round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from vqagen.judge.stats.dialog_facts import HISTORY_OF, RoundFacts

FIRST_ROUND = 4
COUNTED = "count", "exist"
"""The types whose rounds together are limited too."""


class Bounds(NamedTuple):
    """The least and the highest number of rounds of each type, and the highest ones of COUNTED and of standalone."""

    types: Mapping[str, tuple[int, int]]
    counted: int
    standalone: int


SHARES = {
    "smooth": {"count": (10, 30), "exist": (10, 30), "seek": (30, 70)},
    "paper": {"count": (10, 20), "exist": (10, 20), "seek": (30, 60)},
}
_COUNTED_MOST, _STANDALONE_MOST = 40, 10
_REFERENCE = {
    4: ((0, 1), (0, 1), (1, 4), 2, 1),
    5: ((0, 1), (0, 1), (2, 4), 2, 1),
    6: ((0, 2), (0, 2), (2, 5), 3, 1),
    7: ((0, 2), (0, 2), (2, 5), 3, 1),
    8: ((0, 2), (0, 2), (3, 5), 3, 2),
    9: ((0, 3), (0, 3), (3, 6), 3, 2),
    10: ((0, 3), (0, 3), (3, 6), 4, 2),
}
"""Round -> count, exist, seek; count and exist together; standalone."""
PRESETS = (*SHARES, "reference")


def bounds(preset: str, rounds: int) -> Bounds | None:
    """Return the bounds after so many rounds; None if there are none."""
    if rounds < FIRST_ROUND:
        return None
    if preset == "reference":
        if rounds not in _REFERENCE:
            return None
        count, exist, seek, counted, standalone = _REFERENCE[rounds]
        return Bounds({"count": count, "exist": exist, "seek": seek}, counted, standalone)
    types = {name: (least * rounds // 100, _up(most * rounds)) for name, (least, most) in SHARES[preset].items()}
    return Bounds(types, _up(_COUNTED_MOST * rounds), max(1, _up(_STANDALONE_MOST * rounds)))


def _up(percent: int) -> int:
    return -(-percent // 100)


def kept_quotas(rounds: Sequence[RoundFacts]) -> Iterator[str]:
    """Yield the presets that a dialog keeps after every round."""
    broken: set[str] = set()
    types: Counter[str] = Counter()
    standalone = 0
    for number, each in enumerate(rounds, 1):
        types[each.family] += 1
        standalone += each.label in HISTORY_OF
        for preset in PRESETS:
            bound = bounds(preset, number)
            if bound is not None and not _is_within(bound, types, standalone):
                broken.add(preset)
    yield from (preset for preset in PRESETS if preset not in broken)


def _is_within(bound: Bounds, types: Mapping[str, int], standalone: int) -> bool:
    return (
        all(least <= types[name] <= most for name, (least, most) in bound.types.items())
        and sum(types[name] for name in COUNTED) <= bound.counted
        and standalone <= bound.standalone
    )
