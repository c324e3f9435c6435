"""Places for objects, each drawn at random until one keeps all distances from the objects placed before.

`PlainGround` reads as the rules do, and counts those that are broken. `Ground` draws the same places: it judges a place
as it was drawn, by sorted offsets and squares of distances, and leaves to the plain rules, on rounded numbers, what is
too close to call. (Nine of ten places are refused. An object takes 12 us in place of 58: `scripts/bench sampling`.)
"""

from __future__ import annotations

import math
from bisect import bisect, insort
from collections import Counter
from random import Random
from typing import NamedTuple

from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.solids import Solid, overlap, reach

DIGITS = 6
"""Decimals of every float written. Rules are applied to the rounded numbers, so they hold for the written scene."""
CLOSE_CALL = 1e-5
"""The distance from a limit within which rounding to `DIGITS` may decide, as a share of the area's size where that is
more than 1. Rounding moves a point by at most 1e-6."""


class PlainGround:
    """The solids placed so far, and places beside them for further ones, by the rules as they read."""

    def __init__(self, rules: SamplingRules) -> None:
        self._rules = rules
        self._placed: list[Solid] = []
        self.broken: Counter[str] = Counter()
        """How often each rule forbade a place of the last object."""

    def clear(self) -> None:
        """Remove all solids."""
        self._placed.clear()

    def place(self, kind: str, radius: float, rng: Random) -> Solid | None:
        """Return a new solid beside those placed before, or None after too many tries."""
        self.broken.clear()
        low, high = self._rules.area
        for _ in range(self._rules.tries_per_object):
            x, y = low + (high - low) * rng.random(), low + (high - low) * rng.random()
            solid = _rounded(kind, radius, x, y, 360 * rng.random())
            rule = _broken_rule(self._rules, solid, self._placed)
            if rule is None:
                self._placed.append(solid)
                return solid
            self.broken[rule] += 1
        return None


class _Axis(NamedTuple):
    """A direction in which objects keep a margin, and the offsets along it of those placed, ascending."""

    x: float
    y: float
    offsets: list[float]


class _Round(NamedTuple):
    """A placed object as a disc, and the disc around its corners."""

    x: float
    y: float
    radius: float
    reach: float


class Ground:
    """The solids placed so far, and places beside them for further ones."""

    def __init__(self, rules: SamplingRules) -> None:
        self._rules = rules
        self._placed: list[Solid] = []
        self._rounds: list[_Round] = []
        directions = {(x, y) for x, y, _ in rules.relation_directions.values() if x or y}
        self._axes = [_Axis(x, y, []) for x, y in sorted({max((x, y), (-x, -y)) for x, y in directions})]
        self._close = CLOSE_CALL * max(1.0, *map(abs, rules.area))
        both_ways = all((-x, -y) in directions for x, y in directions)
        self._narrow = rules.margin - self._close if both_ways else 0.0
        """Offsets of more than a close call break the margin if they are less than this."""
        self._wide = rules.margin + self._close
        self.clear()

    def clear(self) -> None:
        """Remove all solids."""
        self._placed.clear()
        self._rounds.clear()
        for axis in self._axes:
            axis.offsets[:] = [-math.inf, math.inf]

    def place(self, kind: str, radius: float, rng: Random) -> Solid | None:
        """Return a new solid beside those placed before, or None after too many tries."""
        random, keeps_margin, keeps_distance = rng.random, self._keeps_margin, self._keeps_distance
        low, width, far = self._rules.area[0], self._rules.area[1] - self._rules.area[0], reach(kind, radius)
        for _ in range(self._rules.tries_per_object):
            x, y = low + width * random(), low + width * random()
            rotation = 360 * random()
            verdict = keeps_margin(x, y)
            if verdict is False:
                continue
            distant = keeps_distance(x, y, radius, far)
            if distant is False:
                continue
            solid = _rounded(kind, radius, x, y, rotation)
            if (verdict and distant) or _broken_rule(self._rules, solid, self._placed) is None:
                self._add(solid, far)
                return solid
        return None

    def _add(self, solid: Solid, far: float) -> None:
        x, y, _ = solid.centre
        self._placed.append(solid)
        self._rounds.append(_Round(x, y, solid.radius, far))
        for axis in self._axes:
            insort(axis.offsets, x * axis.x + y * axis.y)

    def _keeps_margin(self, x: float, y: float) -> bool | None:
        """True if a place keeps the margin from all objects, False if not; None if it is too close to call."""
        is_sure = True
        for along_x, along_y, offsets in self._axes:
            own = x * along_x + y * along_y
            after = bisect(offsets, own)
            gap = min(own - offsets[after - 1], offsets[after] - own)
            if gap < self._wide:
                if self._close < gap < self._narrow:
                    return False
                is_sure = False
        return True if is_sure else None

    def _keeps_distance(self, x: float, y: float, radius: float, far: float) -> bool | None:
        """True if a solid that reaches `far` is apart from all, False if not; None if it is too close to call."""
        close, own = self._close, radius + self._rules.min_distance
        is_sure = True
        for other_x, other_y, other_radius, other_far in self._rounds:
            away = (x - other_x) * (x - other_x) + (y - other_y) * (y - other_y)
            least = own + other_radius
            near = least - close
            if away < near * near and near > 0:
                return False
            apart = max(least, far + other_far) + close
            if away <= apart * apart:
                is_sure = False
        return True if is_sure else None


def _rounded(kind: str, radius: float, x: float, y: float, rotation: float) -> Solid:
    """Return a solid that stands on the ground, of numbers as they are written."""
    return Solid(kind, (round(x, DIGITS), round(y, DIGITS), radius), radius, round(rotation, DIGITS))


def _broken_rule(rules: SamplingRules, solid: Solid, placed: list[Solid]) -> str | None:
    """Return the first rule that forbids `solid` beside the objects placed before, or None."""
    for other in placed:
        x, y = solid.centre[0] - other.centre[0], solid.centre[1] - other.centre[1]
        if math.sqrt(x * x + y * y) - solid.radius - other.radius < rules.min_distance:
            return "min_distance"
        for direction in rules.relation_directions.values():
            if 0 < x * direction[0] + y * direction[1] < rules.margin:
                return "margin"
        if overlap(solid, other):
            return "radius"
    return None
