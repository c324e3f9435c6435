"""Every description that fits at least one object of a scene, and which objects it fits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from vqagen.bits import Objects
from vqagen.search.vocabulary import Vocabulary
from vqagen.search.wide_table import WideTable
from vqagen.world.scene import Scene

WORD_BITS = 64
"""Largest scene whose object sets fit a numpy word; those of larger ones take several."""


class RelationOptions(NamedTuple):
    """For one object, the (relation, description) pairs a node may pick, as flat indexes `relation * n + description`.

    A pair is idle when the relation adds nothing: the description alone names the same objects.
    """

    telling: list[int]
    idle: list[int]


class DescriptionTable:
    """The descriptions that fit at least one object of a scene, in a fixed order; the first leaves everything open.

    codes[k], fits[k] — a description, and the objects it fits; fits_of[code] is the same by code.
    used[k] — the set of attributes that the description says.
    singles — the k whose description fits exactly one object; single_patterns — the sets of attributes that they say,
    as bits.
    """

    def __init__(self, vocabulary: Vocabulary, scene: Scene) -> None:
        rows = [scene.values[attribute.name] for attribute in vocabulary.attributes]
        fits_of: dict[int, Objects] = {}
        used_of: dict[int, int] = {}
        for i, values in enumerate(zip(*rows, strict=True)):
            bit = 1 << i & scene.everything
            if bit:
                codes, used = vocabulary.codes_of(values)
                used_of.update(zip(codes, used, strict=True))
                for code in codes:
                    fits_of[code] = fits_of.get(code, 0) | bit
        if not rows and scene.everything:
            fits_of[0], used_of[0] = scene.everything, 0
        self.vocabulary = vocabulary
        self.scene = scene
        self.fits_of = fits_of
        self.codes = list(fits_of)
        self.fits = list(fits_of.values())
        self.used = [used_of[code] for code in self.codes]
        self.everything = list(range(len(self.codes)))
        self.singles = [k for k, objects in enumerate(self.fits) if not objects & (objects - 1)]
        self.single_patterns = reduce(or_, [1 << self.used[k] for k in self.singles], 0)
        self.relations = list(scene.related)
        self._options: dict[tuple[str | None, int, str | None], RelationOptions] = {}
        self._grid: _Grid | _LargeGrid | None = None

    def relation_options(self, reducer: str | None, anchor: int, relation: str | None = None) -> RelationOptions:
        """The pairs that describe objects by way of an anchor: with one relation, or with any for None.

        For `unique` pairs that name one object, for `not_unique` pairs that name several, for None pairs that name
        any, for `count` and `exist` all pairs.
        """
        key = (reducer, anchor, relation)
        options = self._options.get(key)
        if options is None:
            if self._grid is None:
                self._grid = _Grid(self) if self.scene.size <= WORD_BITS else _LargeGrid(self)
            options = self._grid.options(reducer, anchor, self._columns(relation))
            if self.scene.size <= WORD_BITS:  # one in eight is asked for again where there are 100 objects
                self._options[key] = options
        return options

    def _columns(self, relation: str | None) -> slice:
        """The flat indexes of the pairs with a relation; of all pairs for None."""
        width = len(self.fits)
        if relation is None:
            return slice(0, len(self.relations) * width)
        if relation not in self.relations:
            return slice(0, 0)
        first = self.relations.index(relation) * width
        return slice(first, first + width)


class _Grid:
    """All (relation, description) pairs of all anchors of a scene at once: arrays [anchor, relation * n + k].

    One numpy expression for a scene takes about 30 µs; a Python loop over one anchor's pairs takes as long.
    """

    def __init__(self, table: DescriptionTable) -> None:
        scene = table.scene
        tables = [scene.related[name] for name in table.relations]
        related = np.array(tables, dtype=np.uint64).reshape(len(tables), scene.size)
        fits = np.array(table.fits, dtype=np.uint64)
        reached = related.T[:, :, None] & fits
        flat = (scene.size, len(table.relations) * len(table.fits))
        self.reached = reached.reshape(flat)
        self.telling = (reached != fits).reshape(flat)
        self._allowed: dict[str | None, Any] = {}

    def options(self, reducer: str | None, anchor: int, columns: slice) -> RelationOptions:
        allowed = self._allow(reducer)
        return _options(self.telling[anchor, columns], None if allowed is None else allowed[anchor, columns], columns)

    def _allow(self, reducer: str | None) -> Any:
        """Which pairs name enough objects for the node; None for all."""
        if reducer in ("count", "exist"):
            return None
        if reducer not in self._allowed:
            some = self.reached != 0
            several = self.reached & (self.reached - 1) != 0
            self._allowed[reducer] = {"unique": some & ~several, "not_unique": several}.get(reducer or "", some)
        return self._allowed[reducer]


class _LargeGrid:
    """The (relation, description) pairs of a scene of more objects than a word has bits, counted anchor by anchor.

    Sets of objects are arrays [word, set] of as many words as are needed. The pairs of one anchor of 500 objects take
    40 µs and 3 kB; those of all anchors took 110 ms and 170 MB as Python ints (`bench sizes`).
    """

    def __init__(self, table: DescriptionTable) -> None:
        size = table.scene.size
        self._fits = _words(table.fits, size)
        sets = [objects for name in table.relations for objects in table.scene.related[name]]
        self._related = _words(sets, size).reshape(len(self._fits), len(table.relations), size)
        self._sizes = np.tile(np.bitwise_count(self._fits).sum(axis=0, dtype=np.uint32), len(table.relations))
        self._counts: dict[int, Any] = {}

    def options(self, reducer: str | None, anchor: int, columns: slice) -> RelationOptions:
        counts = self._of(anchor)[columns]
        return _options(counts != self._sizes[columns], _enough(reducer, counts), columns)

    def _of(self, anchor: int) -> Any:
        """How many objects each pair of an anchor names."""
        counts = self._counts.get(anchor)
        if counts is None:
            reached = self._related[:, :, anchor, None] & self._fits[:, None, :]
            counts = self._counts[anchor] = np.bitwise_count(reached).sum(axis=0, dtype=np.uint32).reshape(-1)
        return counts


def _enough(reducer: str | None, counts: Any) -> Any:
    """Which pairs name enough objects for the node; None for all."""
    if reducer in ("count", "exist"):
        return None
    if reducer == "unique":
        return counts == 1
    return counts > (1 if reducer == "not_unique" else 0)


def _words(sets: Sequence[Objects], size: int) -> Any:
    """Sets of objects as an array [word, set] of 64-bit words, the objects 0 to 63 in the first."""
    words = -(-size // WORD_BITS)
    joined = b"".join([objects.to_bytes(words * 8, "little") for objects in sets])
    return np.frombuffer(joined, dtype="<u8").reshape(len(sets), words).T.copy()


def _options(telling: Any, allowed: Any, columns: slice) -> RelationOptions:
    """The allowed pairs of some columns; all if `allowed` is None."""
    if allowed is None:
        return RelationOptions(_indexes(telling, columns), _indexes(~telling, columns))
    return RelationOptions(_indexes(allowed & telling, columns), _indexes(allowed & ~telling, columns))


def _indexes(are_in: Any, columns: slice) -> list[int]:
    """The flat indexes of the true ones of some columns."""
    found: list[int] = (are_in.nonzero()[0] + columns.start).tolist()
    return found


class SceneTables:
    """The description tables of one scene, made when first asked for. The scene itself is never written to."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._tables: dict[Vocabulary, DescriptionTable] = {}
        self._wide: dict[Vocabulary, WideTable] = {}
        self.chains: dict[Any, list[Any]] = {}
        """What was found for plug-ins' composite nodes (see `chain`)."""

    def wide(self, vocabulary: Vocabulary) -> WideTable:
        """The scene's table for a vocabulary that is too wide to list its descriptions."""
        table = self._wide.get(vocabulary)
        if table is None:
            table = self._wide[vocabulary] = WideTable(vocabulary, self.scene)
        return table

    def of(self, vocabulary: Vocabulary) -> DescriptionTable:
        """The scene's table for a vocabulary."""
        table = self._tables.get(vocabulary)
        if table is None:
            table = self._tables[vocabulary] = DescriptionTable(vocabulary, self.scene)
        return table
