"""Levels of difficulty, and which of them an index of an environment has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from random import Random

from vqagen.errors import UsageError
from vqagen.rng import pick

ALL, CURRICULUM = "all", "curriculum"
CURRICULUM_SAMPLES = 2000
"""Samples of a level in the curriculum before the next one begins."""


@dataclass(frozen=True)
class Level:
    """How difficult questions are. Ranges are pairs: the least and the most, both allowed."""

    objects: tuple[int, int]
    """Objects in a scene."""
    steps: tuple[int, int] = (1, 100)
    """Nodes of the program, `scene` among them."""
    relations: tuple[int, int] = (0, 10)
    """Steps from an object to others: by a relation, or by an attribute that they have in common."""
    visible: float = 0.0
    """Share of the pixels of each object that other objects leave visible, at least."""
    samples: int = 0
    """How many indices have this level before the next one begins; 0 for one that stays."""

    def __post_init__(self) -> None:
        for name in ("objects", "steps", "relations"):
            low, high = getattr(self, name)
            if not 0 <= low <= high:
                raise UsageError(f"level: {name} must be two numbers from 0 on, the smaller first; found {low}, {high}")
        if not 0 <= self.visible <= 1:
            raise UsageError(f"level: visible must be a share from 0 to 1, found {self.visible}")
        if self.samples < 0:
            raise UsageError(f"level: samples must be 0 or more, found {self.samples}")


LEVELS = (
    Level(objects=(3, 4), steps=(1, 6), relations=(0, 0), visible=0.9),
    Level(objects=(3, 6), steps=(1, 12), relations=(0, 1), visible=0.7),
    Level(objects=(4, 7), steps=(4, 16), relations=(1, 2), visible=0.5),
    Level(objects=(5, 8), steps=(6, 22), relations=(1, 3), visible=0.3),
    Level(objects=(6, 10), steps=(8, 100), relations=(2, 10)),
)
"""From easy to hard; by number, from 1."""

Levels = str | int | Level | Sequence[int | Level]
"""`all`, `curriculum`, a number in `LEVELS`, a level, or several of these."""


class Schedule:
    """Which level each index has.

    Levels with `samples` come first, in their order; behind them the others are mixed. The last one stays if there are
    no others.
    """

    def __init__(self, levels: Levels) -> None:
        """Raise UsageError for an unknown name or number."""
        self.levels = _listed(levels)
        timed = [number for number, level in enumerate(self.levels) if level.samples]
        self._timed, self._ends = timed, list(accumulate(self.levels[number].samples for number in timed))
        self._mixed = [number for number, level in enumerate(self.levels) if not level.samples] or timed[-1:]

    def at(self, index: int, rng: Random) -> int:
        """Return the place among `levels` of an index's level, drawn if several are mixed."""
        for number, end in zip(self._timed, self._ends, strict=True):
            if index < end:
                return number
        return pick(rng, self._mixed)


def _listed(levels: Levels) -> tuple[Level, ...]:
    if levels == ALL:
        return LEVELS
    if levels == CURRICULUM:
        return (*(replace(level, samples=CURRICULUM_SAMPLES) for level in LEVELS[:-1]), LEVELS[-1])
    given = [levels] if isinstance(levels, int | Level) else levels
    found = []
    for each in given if not isinstance(given, str) else [given]:
        if isinstance(each, Level):
            found.append(each)
        elif isinstance(each, int) and 1 <= each <= len(LEVELS):
            found.append(LEVELS[each - 1])
        else:
            known = f"{ALL!r}, {CURRICULUM!r}, a number from 1 to {len(LEVELS)}, or a Level"
            raise UsageError(f"levels must be {known}, or a list of numbers and Levels; found {each!r}")
    if not found:
        raise UsageError("levels must not be empty")
    return tuple(found)
