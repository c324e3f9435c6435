"""Every description that fits at least one object of a scene, and which objects it fits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vqagen.bits import Objects
from vqagen.search.vocabulary import Vocabulary
from vqagen.search.wide_table import WideTable
from vqagen.world.scene import Scene

WORD_BITS = 63
"""Largest scene whose object sets fit a numpy word; larger ones use Python ints in the same expressions."""


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
    singles — the k whose description fits exactly one object.
    """

    def __init__(self, vocabulary: Vocabulary, scene: Scene) -> None:
        rows = [scene.values[attribute.name] for attribute in vocabulary.attributes]
        fits_of: dict[int, Objects] = {}
        for i, values in enumerate(zip(*rows, strict=True)):
            bit = 1 << i & scene.everything
            if bit:
                for code in vocabulary.codes_of(values):
                    fits_of[code] = fits_of.get(code, 0) | bit
        if not rows and scene.everything:
            fits_of[0] = scene.everything
        self.vocabulary = vocabulary
        self.scene = scene
        self.fits_of = fits_of
        self.codes = list(fits_of)
        self.fits = list(fits_of.values())
        self.used = [vocabulary.said(code).used for code in self.codes]
        self.everything = range(len(self.codes))
        self.singles = [k for k, objects in enumerate(self.fits) if not objects & (objects - 1)]
        self.relations = list(scene.related)
        self._options: dict[tuple[str | None, int, str | None], RelationOptions] = {}
        self._grid: _Grid | None = None

    def relation_options(self, reducer: str | None, anchor: int, relation: str | None = None) -> RelationOptions:
        """The pairs that describe objects by way of an anchor: with one relation, or with any for None.

        For `unique` pairs that name one object, for `not_unique` pairs that name several, for None pairs that name
        any, for `count` and `exist` all pairs.
        """
        key = (reducer, anchor, relation)
        options = self._options.get(key)
        if options is None:
            if self._grid is None:
                self._grid = _Grid(self)
            options = self._options[key] = self._grid.options(reducer, anchor, self._columns(relation))
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
        word: Any = np.uint64 if scene.size <= WORD_BITS else object
        tables = [scene.related[name] for name in table.relations]
        related = np.array(tables, dtype=word).reshape(len(tables), scene.size)
        fits = np.array(table.fits, dtype=word)
        reached = related.T[:, :, None] & fits
        flat = (scene.size, len(table.relations) * len(table.fits))
        self.reached = reached.reshape(flat)
        self.telling = (reached != fits).reshape(flat)
        self._allowed: dict[str | None, Any] = {}

    def options(self, reducer: str | None, anchor: int, columns: slice) -> RelationOptions:
        telling = self.telling[anchor, columns]
        allowed = self._allow(reducer)
        if allowed is None:
            return RelationOptions(_indexes(telling, columns), _indexes(~telling, columns))
        row = allowed[anchor, columns]
        return RelationOptions(_indexes(row & telling, columns), _indexes(row & ~telling, columns))

    def _allow(self, reducer: str | None) -> Any:
        """Which pairs name enough objects for the node; None for all."""
        if reducer in ("count", "exist"):
            return None
        if reducer not in self._allowed:
            some = self.reached != 0
            several = self.reached & (self.reached - 1) != 0
            self._allowed[reducer] = {"unique": some & ~several, "not_unique": several}.get(reducer or "", some)
        return self._allowed[reducer]


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
