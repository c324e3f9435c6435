"""How many objects descriptions fit, for thousands of descriptions at once: sets of descriptions as ints.

What a position is stands in `tables`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from vqagen.bits import Objects, indexes

if TYPE_CHECKING:
    from vqagen.search.tables import DescriptionTable

Positions = int
"""A set of positions."""
ALL: Positions = -1


WRITTEN_OUT = 512
"""Bits of a set whose members are found in its digits; larger ones are halved first."""


def member(positions: Positions, rank: int) -> int:
    """Return the member of a set that so many members are above.

    >>> member(0b1011, 1)
    1
    """
    at = 0
    while (length := positions.bit_length()) > WRITTEN_OUT:
        upper = positions >> length // 2
        above = upper.bit_count()
        if rank < above:
            positions, at = upper, at + length // 2
        else:
            positions, rank = positions & (1 << length // 2) - 1, rank - above
    return at + len(f"{positions:b}".split("1", rank + 1)[-1])


class Fits:
    """How many objects of a set each description fits; or of several sets, as those in each relation to an anchor.

    Each set has a slot of positions: `slot * width + position`, so that all sets are looked at in one go.
    relations: that of each slot; None for a set. sets: the objects of each slot.
    distinct: of the positions with equal words the first one.
    """

    __slots__ = (
        "_others",
        "_parts",
        "_planes",
        "_several",
        "_some",
        "_table",
        "_without",
        "distinct",
        "relations",
        "sets",
    )

    def __init__(self, table: DescriptionTable, relations: Sequence[str | None], sets: Sequence[Objects]) -> None:
        self._table, self.relations, self.sets = table, relations, sets
        self.distinct = table.repeated(table.distinct, len(sets))
        self._some = self._several = 0
        self._planes: list[Positions] = []
        self._others: dict[Objects, Positions] = {}
        self._without: dict[Objects, Fits] = {}
        self._parts = [table.fits(objects) for objects in sets] if len(sets) != 1 else []
        if not self._parts and sets:
            for i in indexes(sets[0]):
                self._several |= self._some & table.described[i]
                self._some |= table.described[i]

    @property
    def some(self) -> Positions:
        """The positions whose descriptions fit at least one object of the slot's set."""
        if self._parts and not self._some:
            self._some = self._table.in_slots([part.some for part in self._parts])
        return self._some

    @property
    def several(self) -> Positions:
        """Those whose descriptions fit at least two."""
        if self._parts and not self._several:
            self._several = self._table.in_slots([part.several for part in self._parts])
        return self._several

    def singling_out(self) -> Positions:
        """Return the positions that are said of an object of the slot's set and fit no other of it."""
        if self._parts:
            return self._table.in_slots([part.singling_out() for part in self._parts])
        return self._some & ~self._several & self._table.of(self.sets[0] if self.sets else 0)

    def others(self, beside: Objects = 0) -> Positions:
        """Return the positions whose descriptions fit an object outside the slot's set, not counting those `beside`."""
        positions = self._others.get(beside)
        if positions is None:
            table, rest = self._table, self._table.scene.everything & ~beside
            parts = [table.fits(rest & ~objects).some for objects in self.sets]
            positions = self._others[beside] = table.in_slots(parts)
        return positions

    def without(self, objects: Objects) -> Fits:
        """Return the same of the sets without some objects."""
        fits = self._without.get(objects)
        if fits is None:
            fits = Fits(self._table, self.relations, [each & ~objects for each in self.sets])
            self._without[objects] = fits
        return fits

    def as_many(self, numbers: int) -> Positions:
        """Return the distinct positions that fit such a number of objects: bit n of `numbers` for n."""
        most = max([objects.bit_count() for objects in self.sets], default=0)
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
        planes = self.planes
        if number >> len(planes):
            return 0
        found = self.distinct
        for plane in planes:
            found &= plane if number & 1 else ~plane
            number >>= 1
        return found

    @property
    def planes(self) -> list[Positions]:
        """How many objects each position fits, in binary: plane k has bit k of the numbers of all positions at once.

        Where a description fits three objects, its position is in planes 0 and 1.
        """
        if self._planes:
            return self._planes
        if self._parts:
            planes = zip_longest(*[part.planes for part in self._parts], fillvalue=0)
            self._planes = [self._table.in_slots(each) for each in planes]
            return self._planes
        objects = self.sets[0] if self.sets else 0
        self._planes = [0] * max(1, objects.bit_count().bit_length())
        for i in indexes(objects):
            carry, k = self._table.described[i], 0
            while carry:
                self._planes[k], carry = self._planes[k] ^ carry, self._planes[k] & carry
                k += 1
        return self._planes
