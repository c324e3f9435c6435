"""The (relation, description) pairs that describe objects by way of an anchor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import compress
from typing import NamedTuple

from vqagen.bits import Objects

_AS_NUMBERS = bytes.maketrans(b"01", b"\0\1")


class RelationOptions:
    """For one object, the (relation, description) pairs a node may pick, as flat indexes `relation * n + description`.

    telling — those in which the relation tells something. The others are idle: the description alone names the same
    objects. They are listed when they are first asked for: half of the lists are never drawn from.
    """

    __slots__ = ("_idle", "_list_idle", "idle_count", "telling")

    def __init__(self, telling: list[int], idle_count: int, list_idle: Callable[[], list[int]]) -> None:
        self.telling, self.idle_count, self._list_idle = telling, idle_count, list_idle
        self._idle: list[int] | None = None

    @property
    def idle(self) -> list[int]:
        """The idle pairs."""
        if self._idle is None:
            self._idle = self._list_idle()
        return self._idle


class _Pairs(NamedTuple):
    """The pairs of one anchor, as sets of flat indexes (bits of an int)."""

    some: int
    """Those that name at least one object."""
    several: int
    """Those that name at least two."""
    telling: int


class RelationGrid:
    """The pairs of each anchor of a scene.

    Sets of descriptions are ints too, so all pairs of an anchor are counted at once, object by object.
    """

    def __init__(self, described: Sequence[int], width: int, related: Sequence[Sequence[Objects]]) -> None:
        """`described`: object -> the set of descriptions that fit it, of `width` descriptions.

        `related`: relation -> its table, as in a scene.
        """
        self._described, self._width, self._related = described, width, related
        self._flat = list(range(width * len(related)))
        self._pairs: dict[int, _Pairs] = {}

    def options(self, reducer: str | None, anchor: int, columns: slice) -> RelationOptions:
        """The pairs of an anchor, within some flat indexes, that name enough objects for the reducer."""
        pairs = self._pairs.get(anchor)
        if pairs is None:
            pairs = self._pairs[anchor] = self._count(anchor)
        allowed = (1 << columns.stop) - (1 << columns.start)
        if reducer == "unique":
            allowed &= pairs.some & ~pairs.several
        elif reducer == "not_unique":
            allowed &= pairs.several
        elif reducer is None:
            allowed &= pairs.some
        idle = allowed & ~pairs.telling
        return RelationOptions(self._members(allowed & pairs.telling), idle.bit_count(), partial(self._members, idle))

    def _count(self, anchor: int) -> _Pairs:
        some = several = telling = place = 0
        for table in self._related:
            reached, once, twice, left_out = table[anchor], 0, 0, 0
            for descriptions in self._described:
                if reached & 1:
                    twice |= once & descriptions
                    once |= descriptions
                else:
                    left_out |= descriptions
                reached >>= 1
            some |= once << place
            several |= twice << place
            telling |= left_out << place
            place += self._width
        return _Pairs(some, several, telling)

    def _members(self, pairs: int) -> list[int]:
        """The members of a set of pairs, ascending: of a hundred in a third of the time of `bits.indexes`."""
        return list(compress(self._flat, f"{pairs:b}".encode().translate(_AS_NUMBERS)[::-1]))
