"""Every description that fits at least one object of a scene, which objects it fits, and the pairs with a relation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import compress
from operator import or_
from typing import Any, NamedTuple

from vqagen.bits import Objects
from vqagen.search.description import Description, draw_turns
from vqagen.search.vocabulary import REMEMBERED, Vocabulary
from vqagen.world.scene import Scene

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


LARGE = 64
"""Objects of a scene above which the pairs of an anchor are not kept: of 100 objects one in eight comes again."""


class DescriptionTable:
    """The descriptions that fit at least one object of a scene, in a fixed order; the first leaves everything open.

    codes[k], fits[k] — a description, and the objects it fits; fits_of[code] is the same by code.
    used[k] — the set of attributes that the description says.
    singles — the k whose description fits exactly one object; single_patterns — the sets of attributes that they say,
    by their numbers in the vocabulary, as bits.
    """

    def __init__(self, vocabulary: Vocabulary, scene: Scene) -> None:
        rows = [scene.values[attribute.name] for attribute in vocabulary.attributes]
        fits_of: dict[int, Objects] = {}
        used_of: dict[int, int] = {}
        codes_of: dict[int, Sequence[int]] = {}
        for i, values in enumerate(zip(*rows, strict=True) if rows else [()] * scene.size):
            bit = 1 << i & scene.everything
            if bit:
                codes, used = vocabulary.codes_of(values)
                used_of.update(zip(codes, used, strict=True))
                for code in codes:
                    fits_of[code] = fits_of.get(code, 0) | bit
                codes_of[i] = codes
        self.vocabulary = vocabulary
        self.scene = scene
        self.fits_of = fits_of
        self.codes = list(fits_of)
        self.fits = list(fits_of.values())
        self.used = [used_of[code] for code in self.codes]
        self.everything = list(range(len(self.codes)))
        self.singles = [k for k, objects in enumerate(self.fits) if not objects & (objects - 1)]
        self.single_patterns = sum([1 << vocabulary.patterns[used] for used in {self.used[k] for k in self.singles}])
        self.relations = list(scene.related)
        self._codes_of = codes_of
        self._shortened: dict[Any, tuple[int, Objects]] = {}
        self._options: dict[tuple[str | None, int, str | None], RelationOptions] = {}
        self._grid: RelationGrid | None = None

    def relation_options(self, reducer: str | None, anchor: int, relation: str | None = None) -> RelationOptions:
        """The pairs that describe objects by way of an anchor: with one relation, or with any for None.

        For `unique` pairs that name one object, for `not_unique` pairs that name several, for None pairs that name
        any, for `count` and `exist` all pairs.
        """
        key = (reducer, anchor, relation)
        options = self._options.get(key)
        if options is None:
            if self._grid is None:
                self._grid = self._make_grid()
            options = self._grid.options(reducer, anchor, self._columns(relation))
            if self.scene.size <= LARGE:
                self._options[key] = options
        return options

    def shortened(self, node: Description, k: int, among: Objects, random: Callable[[], float]) -> tuple[int, Objects]:
        """Return description k as short as `node.shortened` makes it, in random order, and the objects that it fits.

        Remembered for all nodes whose constraints allow the same: of 101,000 in 300 scenes 65 % come again.
        """
        code, turns = self.codes[k], draw_turns(self.used[k].bit_count(), random)
        key = (node if node.checks_words else node.patterns, code, among, *turns)
        found = self._shortened.get(key)
        if found is None:
            if len(self._shortened) > REMEMBERED:
                self._shortened.clear()
            found = self._shortened[key] = node.shortened(self.scene, code, among, turns)
        return found

    def _make_grid(self) -> RelationGrid:
        bit_of = {code: 1 << k for k, code in enumerate(self.codes)}
        described = [
            reduce(or_, [bit_of[code] for code in self._codes_of.get(i, ())], 0) for i in range(self.scene.size)
        ]
        return RelationGrid(described, len(self.codes), [self.scene.related[name] for name in self.relations])

    def _columns(self, relation: str | None) -> slice:
        """The flat indexes of the pairs with a relation; of all pairs for None."""
        width = len(self.fits)
        if relation is None:
            return slice(0, len(self.relations) * width)
        if relation not in self.relations:
            return slice(0, 0)
        first = self.relations.index(relation) * width
        return slice(first, first + width)


class SceneTables:
    """The description tables of one scene, made when first asked for. The scene itself is never written to."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._tables: dict[Vocabulary, DescriptionTable] = {}

    def of(self, vocabulary: Vocabulary) -> DescriptionTable:
        """The scene's table for a vocabulary."""
        table = self._tables.get(vocabulary)
        if table is None:
            table = self._tables[vocabulary] = DescriptionTable(vocabulary, self.scene)
        return table
