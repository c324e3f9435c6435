"""Places for objects by the rules as they read: the slow twin of `vqagen.world.sampler.Ground`."""

from __future__ import annotations

from vqagen.rng import Random
from vqagen.world.sampler import _broken_rule, _rounded
from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.solids import Solid


class PlainGround:
    """The solids placed so far, and places beside them for further ones, by the rules as they read."""

    def __init__(self, rules: SamplingRules) -> None:
        self._rules = rules
        self._placed: list[Solid] = []

    def clear(self) -> None:
        """Remove all solids."""
        self._placed.clear()

    def place(self, kind: str, radius: float, rng: Random) -> Solid | None:
        """Return a new solid beside those placed before, or None after too many tries."""
        low, high = self._rules.area
        for _ in range(self._rules.tries_per_object):
            x, y = low + (high - low) * rng.random(), low + (high - low) * rng.random()
            solid = _rounded(kind, radius, x, y, 360 * rng.random())
            if _broken_rule(self._rules, solid, self._placed) is None:
                self._placed.append(solid)
                return solid
        return None
