"""A program on many scenes at once: the scenes of a pool as arrays, and a twin of each of vqagen's functions.

    set of objects   a uint64 mask for each scene
    object           its index
    number, truth    an int64, a bool
    value            its number among the attribute's leaves

A scene in which a step has no result is out of the running; what its arrays hold from then on means nothing. Programs
with functions of plug-ins, with list-valued attributes, or about scenes of more than 64 objects have no twin: then the
caller runs each scene by itself. 1,000 scenes take about 60 µs a program so, and 5 ms one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vqagen.language.catalogue import Catalogue, Value
from vqagen.language.program import Program
from vqagen.world.attribute import Attribute
from vqagen.world.scene import Scene

Array = NDArray[Any]
Twin = Callable[..., Array]
"""(running scenes, *inputs, *values) -> results. Scenes without a result are taken out of the running, in place."""
ONE = np.uint64(1)
WORD_BITS = 64
"""The most objects whose set fits an entry of an array."""


class Pool:
    """The scenes of one window, and each program's answers in them."""

    def __init__(self, scenes: Sequence[Scene], catalogue: Catalogue) -> None:
        self.scenes = scenes
        self._catalogue = catalogue
        self._attributes = {attribute.name: attribute for attribute in catalogue.domain.attributes}
        self._fits = max((scene.size for scene in scenes), default=0) <= WORD_BITS
        self._places = np.arange(len(scenes))
        self._tables: dict[Any, Array] = {}
        self._twins: dict[str, Twin | None] = {}

    def run(self, program: Program) -> Run | None:
        """Run a program on all scenes; None if one of its functions has no twin."""
        twins = [self._twin(node.function) for node in program.nodes]
        if not self._fits or any(twin is None for twin in twins):
            return None
        return Run(self, program, [twin for twin in twins if twin is not None])

    def answer(self, program: Program, found: int) -> Value:
        """Return the answer that an array of answers of this program has as a number."""
        kind = program.answer_type
        if kind == "Bool":
            return bool(found)
        if kind == "Integer":
            return int(found)
        attribute = self._catalogue.domain.attribute_of(kind)
        assert attribute is not None
        return attribute.leaves[found]

    @cached_property
    def everything(self) -> Array:
        """All objects of each scene."""
        return self._masks(scene.start for scene in self.scenes)

    # Tables ----------------------------------------------------------------------------------------------------------

    def _masks(self, objects: Iterator[int]) -> Array:
        return np.fromiter(objects, np.uint64, len(self.scenes))

    def having(self, name: str, value: str) -> Array:
        """Return the objects with a value, in each scene."""
        if (name, value) not in self._tables:
            self._tables[name, value] = self._masks(scene.having[name][value] for scene in self.scenes)
        return self._tables[name, value]

    def values(self, attribute: Attribute) -> Array:
        """Return [scene, object] -> the number of its value; -1 if it has none."""
        key = ("values", attribute.name)
        if key not in self._tables:
            numbers = {leaf: number for number, leaf in enumerate(attribute.leaves)}
            rows = ([numbers.get(str(value), -1) for value in scene.values[attribute.name]] for scene in self.scenes)
            self._tables[key] = self._padded(rows, np.int64, -1)
        return self._tables[key]

    def alike(self, attribute: Attribute) -> Array:
        """Return [scene, object] -> the objects with the same value."""
        key = ("alike", attribute.name)
        if key not in self._tables:
            rows = (
                [scene.having[attribute.name][str(value)] if value else 0 for value in scene.values[attribute.name]]
                for scene in self.scenes
            )
            self._tables[key] = self._padded(rows, np.uint64, 0)
        return self._tables[key]

    def related(self, relation: str) -> tuple[Array, Array]:
        """Return [scene, object] -> the objects in a relation to it, and which scenes know the relation."""
        if ("related", relation) not in self._tables:
            rows = (scene.related.get(relation, ()) for scene in self.scenes)
            self._tables["related", relation] = self._padded(rows, np.uint64, 0)
            known = np.fromiter((relation in scene.related for scene in self.scenes), bool, len(self.scenes))
            self._tables["known", relation] = known
        return self._tables["related", relation], self._tables["known", relation]

    def _padded(self, rows: Iterator[Sequence[int]], kind: type, padding: int) -> Array:
        width = max((scene.size for scene in self.scenes), default=0) or 1
        table: Array = np.full((len(self.scenes), width), padding, kind)
        for place, row in enumerate(rows):
            table[place, : len(row)] = row
        return table

    def at(self, table: Array, objects: Array) -> Array:
        """Return a table's entry for one object of each scene."""
        found: Array = table[self._places, objects]
        return found

    def _twin(self, name: str) -> Twin | None:
        """Return what runs a function on all scenes; None for one of a plug-in, or of lists."""
        if name not in self._twins:
            function = self._catalogue[name]
            self._twins[name] = None if function.source else self._make_twin(name, function.run)
        return self._twins[name]

    def _make_twin(self, name: str, run: Callable[..., Any]) -> Twin | None:
        if name in _AS_WRITTEN:
            return lambda running, *inputs: run(None, *inputs)
        if name in _TWINS:
            return partial(_TWINS[name], self)
        for prefix, twin in _ATTRIBUTE_TWINS.items():
            attribute = self._attributes.get(name.removeprefix(prefix)) if name.startswith(prefix) else None
            if attribute is not None and (prefix == "filter_" or not attribute.multi):
                return partial(twin, self, attribute)
        return None


class Run:
    """One program on all scenes of a pool."""

    def __init__(self, pool: Pool, program: Program, twins: Sequence[Twin]) -> None:
        self._pool, self._nodes, self._twins = pool, program.nodes, twins
        self._running: list[Array] = []
        """Node -> the scenes in which it has a result."""
        self._results: list[Array] = []
        running = np.ones(len(pool.scenes), bool)
        for number in range(len(self._nodes)):
            self._results.append(self._step(number, self._results, running))
            self._running.append(running.copy())

    @property
    def answers(self) -> Array:
        """The answer in each scene, as a number; see `Pool.answer`."""
        return self._results[-1]

    @property
    def answered(self) -> Array:
        """The scenes in which the program has an answer."""
        return self._running[-1]

    def needs(self, relation: int) -> Array:
        """Return the scenes in which the answer changes, or is lost, if node `relation` gives all but its anchor."""
        anchor = self._nodes[relation].inputs[0]
        results, running = list(self._results), self._running[anchor].copy()
        changed = {relation}
        results[relation] = self._pool.everything & ~_masks_of(self._results[anchor])
        for number in range(relation + 1, len(self._nodes)):
            if changed.isdisjoint(self._nodes[number].inputs):
                running &= self._running[number]
            else:
                changed.add(number)
                results[number] = self._step(number, results, running)
        needed: Array = ~running | (results[-1] != self._results[-1])
        return needed

    def _step(self, number: int, results: Sequence[Array], running: Array) -> Array:
        _, inputs, values = self._nodes[number]
        return self._twins[number](running, *[results[i] for i in inputs], *values)


def _masks_of(objects: Array) -> Array:
    """Return the set of each one object."""
    masks: Array = ONE << objects.astype(np.uint64)
    return masks


# Twins: (pool, attribute if it is of one, running scenes, *inputs, *values) -> results --------------------------------


def _relate(pool: Pool, running: Array, anchors: Array, relation: str) -> Array:
    table, known = pool.related(relation)
    running &= known
    return pool.at(table, anchors)


def _unique(pool: Pool, running: Array, objects: Array) -> Array:
    running &= np.bitwise_count(objects) == 1
    return (np.bitwise_count(objects - ONE) * running).astype(np.int64)


def _not_unique(pool: Pool, running: Array, objects: Array) -> Array:
    running &= objects & (objects - ONE) != 0
    return objects


def _count(pool: Pool, running: Array, objects: Array) -> Array:
    return np.bitwise_count(objects).astype(np.int64)


def _subtract(pool: Pool, running: Array, left: Array, right: Array) -> Array:
    running &= left >= right
    return left - right


def _choose(pool: Pool, running: Array, objects: Array, number: str) -> Array:
    running &= np.bitwise_count(objects) >= int(number)
    return np.full(len(objects), int(number))


def _filter(pool: Pool, attribute: Attribute, running: Array, objects: Array, value: str) -> Array:
    return objects & pool.having(attribute.name, value)


def _query(pool: Pool, attribute: Attribute, running: Array, anchors: Array) -> Array:
    found = pool.at(pool.values(attribute), anchors)
    running &= found >= 0
    return found


def _same(pool: Pool, attribute: Attribute, running: Array, anchors: Array) -> Array:
    _query(pool, attribute, running, anchors)
    return pool.at(pool.alike(attribute), anchors) & ~_masks_of(anchors)


def _different(pool: Pool, attribute: Attribute, running: Array, anchors: Array) -> Array:
    _query(pool, attribute, running, anchors)
    known: Array = np.bitwise_or.reduce([pool.having(attribute.name, leaf) for leaf in attribute.leaves])
    return known & ~pool.at(pool.alike(attribute), anchors)


def _count_different(pool: Pool, attribute: Attribute, running: Array, objects: Array) -> Array:
    each = [(pool.having(attribute.name, leaf) & objects) != 0 for leaf in attribute.leaves]
    return np.asarray(np.sum(each, axis=0, dtype=np.int64))


_AS_WRITTEN = {
    *("union", "intersect", "difference", "exist", "add", "addition"),
    *("equal_integer", "less_than", "greater_than", "equal_object"),
}
"""Functions of one operator that numpy has too: arrays in place of their inputs give an array of results."""
_TWINS: dict[str, Twin] = {
    "scene": lambda pool, running: pool.everything,
    "relate": _relate,
    "unique": _unique,
    "not_unique": _not_unique,
    "count": _count,
    **dict.fromkeys(("subtract", "subtraction"), _subtract),
    "and": lambda pool, running, left, right: left & right,
    "or": lambda pool, running, left, right: left | right,
    "not": lambda pool, running, value: ~value,
    "choose": _choose,
}
_ATTRIBUTE_TWINS: dict[str, Twin] = {
    "filter_": _filter,
    "query_": _query,
    "same_": _same,
    "different_": _different,
    "equal_": lambda pool, attribute, running, left, right: left == right,
    "count_different_": _count_different,
}
"""What a function's name begins with -> its twin for the attribute that the name ends with."""
