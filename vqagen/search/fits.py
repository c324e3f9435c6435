"""How many objects descriptions fit, for thousands of descriptions at once: sets of descriptions as ints.

What a position is stands in `tables`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vqagen.bits import Objects, indexes

if TYPE_CHECKING:
    from vqagen.search.tables import DescriptionTable

Positions = int
"""A set of positions."""
ALL: Positions = -1


def member(positions: Positions, rank: int) -> int:
    """Return the member of a set that so many members are above.

    >>> member(0b1011, 1)
    1
    """
    return len(f"{positions:b}".split("1", rank + 1)[-1])


class Fits:
    """How many objects of a set each description fits; or of several sets, as those in each relation to an anchor.

    Each set has a slot of positions: `slot * width + position`, so that all sets are looked at in one go. `spread` puts
    the same positions into all slots, if it is multiplied by them. `relations`: that of each slot; None for a set.
    distinct: of the positions with equal words the first one.
    some, several: the positions whose descriptions fit at least one, and at least two, objects of the slot's set.
    """

    __slots__ = (
        "_addends", "_others", "_planes", "_slots", "_table", "_without", "distinct", "relations", "sets", "several",
        "some", "spread",
    )  # fmt: skip

    def __init__(
        self, table: DescriptionTable, relations: Sequence[str | None], sets: Sequence[Objects], beside: Objects = 0
    ) -> None:
        """Objects of the sets that are `beside` are not counted."""
        self._table, self.relations, self.sets, self.spread = table, relations, sets, 0
        slots = dict[int, Positions]()
        for slot, objects in enumerate(sets):
            unit = 1 << slot * table.width
            self.spread |= unit
            for i in indexes(objects & ~beside):
                slots[i] = slots.get(i, 0) | unit
        self._slots = slots
        """Object -> the slots of the sets that have it."""
        self.distinct = table.distinct * self.spread
        self._addends = [table.described[i] * slot for i, slot in slots.items()]
        self._planes: list[Positions] = []
        self._others: dict[Objects, Positions] = {}
        self._without: dict[Objects, Fits] = {}
        self.some = self.several = 0
        for fitting in self._addends:
            self.several |= self.some & fitting
            self.some |= fitting

    def singling_out(self) -> Positions:
        """Return the positions that are said of an object of the slot's set and fit no other of it."""
        own = sum([self._table.said_of[i] * slot for i, slot in self._slots.items()])
        return self.some & ~self.several & own

    def others(self, beside: Objects = 0) -> Positions:
        """Return the positions whose descriptions fit an object outside the slot's set, not counting those `beside`."""
        positions = self._others.get(beside)
        if positions is None:
            table, rest = self._table, self._table.scene.everything & ~beside
            positions = 0
            for i in indexes(rest):
                positions |= table.described[i] * (self.spread & ~self._slots.get(i, 0))
            self._others[beside] = positions
        return positions

    def without(self, objects: Objects) -> Fits:
        """Return the same of the sets without some objects."""
        fits = self._without.get(objects)
        if fits is None:
            fits = self._without[objects] = Fits(self._table, self.relations, self.sets, objects)
        return fits

    def as_many(self, numbers: int) -> Positions:
        """Return the distinct positions that fit such a number of objects: bit n of `numbers` for n."""
        most = len(self._addends)
        every = (2 << most) - 1
        wanted = numbers & every
        if wanted == every:
            return self.distinct
        if wanted | 1 == every:
            return self.distinct & self.some
        if wanted | 3 == every and not wanted & 3:
            return self.distinct & self.several
        found = 0
        for number in range(most + 1):
            if wanted >> number & 1:
                found |= self.exactly(number)
        return found

    def exactly(self, number: int) -> Positions:
        """Return the distinct positions that fit exactly so many objects."""
        if number < 2:
            return self.distinct & (self.some & ~self.several if number else ~self.some)
        planes = self._planes or self._count()
        if number >> len(planes):
            return 0
        found = self.distinct
        for plane in planes:
            found &= plane if number & 1 else ~plane
            number >>= 1
        return found

    def _count(self) -> list[Positions]:
        """Add up, for all positions at once, the objects that each fits: plane k has bit k of the sums.

        Where a description fits three objects, its position is in planes 0 and 1.
        """
        self._planes = [0] * max(1, len(self._addends).bit_length())
        for fitting in self._addends:
            carry, k = fitting, 0
            while carry:
                self._planes[k], carry = self._planes[k] ^ carry, self._planes[k] & carry
                k += 1
        return self._planes
