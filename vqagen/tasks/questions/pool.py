"""A program on many scenes at once: the scenes of a pool side by side in one int, so that one AND is made for all.

A scene has a lane: a bit for each object that the largest scene has, and above them its mark.

    scenes             their marks
    objects            for each scene a set, or one object, in its lane
    any other results  value -> the scenes that have it

An example: three scenes of at most three objects, so lanes of four bits. The cubes are 0010 0111 0000: one in the third
scene, three in the second, none in the first. There is any in 1000 1000 0000; "unique" leaves 1000 0000 0000.

What a step gives is kept: programs share their beginnings, and of two that differ in one word the rest is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from vqagen.bits import Objects, first_n, only, union
from vqagen.language.catalogue import Catalogue, Function, Value
from vqagen.language.program import Step
from vqagen.plugin import Undefined
from vqagen.search.vocabulary import Memo
from vqagen.world.attribute import Attribute
from vqagen.world.scene import Scene

Lanes = int
"""Objects or marks of all scenes of a pool."""
KEPT = 50_000_000
"""Bits of the columns that are kept before they start anew: 4,500 columns of 1,000 scenes of ten objects, in 20 MB."""
MOST_TABLES = 10_000
"""Values, and relations, whose objects are kept before they start anew."""
SETS = {"Object", "ObjectSet"}
"""Types of results that a column has as objects."""
ALL_BUT = "all but"
"""What stands in place of a relation that holds of everything: all objects but its anchor."""


class Column:
    """What one step gives in all scenes: `objects`, or `values`, in those scenes in which it gives something."""

    __slots__ = ("objects", "scenes", "values")

    def __init__(self, scenes: Lanes, objects: Lanes = 0, values: Mapping[Value, Lanes] | None = None) -> None:
        self.scenes, self.objects, self.values = scenes, objects, values or {}


Twin = Callable[..., Column]
"""(pool, scenes in which all inputs are there, *input columns, *values) -> what a function gives in them."""


class ScenePool:
    """Scenes of one window, and what programs give in them."""

    def __init__(self, scenes: Sequence[Scene], catalogue: Catalogue) -> None:
        self.scenes, self.catalogue = scenes, catalogue
        self._attributes = {attribute.name: attribute for attribute in catalogue.domain.attributes}
        self._width = 1 + max((scene.size for scene in scenes), default=0)
        self._lows = self._joined(1 for _ in scenes)
        self.everyone = self._lows << self._width - 1
        """All scenes."""
        self.everything = self._joined(scene.start for scene in scenes)
        """All objects of each scene."""
        self.having: Memo[tuple[str, str], Lanes] = Memo(self._make_having, MOST_TABLES)
        """(attribute, value) -> the objects that have the value."""
        self.related: Memo[str, tuple[Lanes, list[Lanes]]] = Memo(self._make_related, MOST_TABLES)
        """Relation -> the scenes that know it, and object -> the objects in this relation to it."""
        self._twins: Memo[str, Twin] = Memo(self._make_twin, len(catalogue) + 1)
        self._columns: Memo[tuple[Any, ...], Column] = Memo(self._make_column, KEPT // (1 + self.everyone.bit_length()))

    def run(self, steps: Sequence[Step], columns: Sequence[Column] = ()) -> list[Column]:
        """Return what each node of a program gives; `columns` are those of the program before these nodes."""
        made = [*columns]
        for function, inputs, values in steps:
            made.append(self._column(function, values, [made[i] for i in inputs]))
        return made

    def running(self, columns: Sequence[Column]) -> Lanes:
        """Return the scenes in which all of some steps give something."""
        scenes = self.everyone
        for column in columns:
            if column.scenes != scenes:
                scenes &= column.scenes
        return scenes

    def needing(self, steps: Sequence[Step], columns: Sequence[Column], relation: int) -> Lanes:
        """Return the scenes in which the answer changes, or is lost, if node `relation` gives all but its anchor."""
        changed = [*columns]
        changed[relation] = self._column(ALL_BUT, (), [columns[steps[relation][1][0]]])
        for number in range(relation + 1, len(steps)):
            function, inputs, values = steps[number]
            if any(changed[i] is not columns[i] for i in inputs):
                changed[number] = self._column(function, values, [changed[i] for i in inputs])
        without = changed[-1].values
        same = union(having & without.get(answer, 0) for answer, having in columns[-1].values.items())
        return self.everyone ^ (same & self.running(changed))

    def mark(self, lane: int) -> Lanes:
        """Return one scene."""
        return 1 << lane * self._width + self._width - 1

    def lanes(self, scenes: Lanes, first: int = 0) -> Iterator[int]:
        """Yield the lanes of some scenes in order, from lane `first` on; after the last come those before it."""
        at = first * self._width
        for part, before in ((scenes >> at, first), (scenes & first_n(at), 0)):
            left = part
            while left:
                lowest = left & -left
                yield before + lowest.bit_length() // self._width - 1
                left ^= lowest

    # Steps -----------------------------------------------------------------------------------------------------------

    def _column(self, name: str, values: tuple[str, ...], inputs: Sequence[Column]) -> Column:
        return self._columns[name, values, *inputs]  # columns are equal if they are the same

    def _make_column(self, key: tuple[Any, ...]) -> Column:
        name, values, *inputs = key
        return self._twins[name](self, self.running(inputs), *inputs, *values)

    def _make_twin(self, name: str) -> Twin:
        if name == ALL_BUT:
            return _all_but
        function = self.catalogue[name]
        if not function.source:
            if name in _TWINS:
                return _TWINS[name]
            for prefix, twin in _ATTRIBUTE_TWINS.items():
                attribute = self._attributes.get(name.removeprefix(prefix)) if name.startswith(prefix) else None
                if attribute is not None and (prefix == "filter_" or not attribute.multi):
                    return partial(twin, attribute)
            if not function.values and SETS.isdisjoint(function.inputs):
                return partial(_by_value, function.run)
        return partial(_scene_by_scene, function)

    # Lanes -----------------------------------------------------------------------------------------------------------

    def _joined(self, parts: Iterable[int]) -> Lanes:
        """Return sets, one of each scene, as one."""
        return sum([part << lane * self._width for lane, part in enumerate(parts)])

    def in_lane(self, lane: int, objects: Objects) -> Lanes:
        """Return the objects of one scene."""
        return objects << lane * self._width

    def result(self, column: Column, kind: str, lane: int) -> Value:
        """Return what a column has for one scene, which is among its scenes."""
        if kind not in SETS:
            return next(value for value, having in column.values.items() if having & self.mark(lane))
        objects = column.objects >> lane * self._width & first_n(self._width - 1)
        return only(objects) if kind == "Object" else objects

    def less_one(self, objects: Lanes) -> Lanes:
        """Return each scene's set without its first object, and the marks of the scenes that had one.

        Bits may be set where there is no object: `&` takes what is wanted of it.
        """
        return (objects | self.everyone) - self._lows

    def with_object(self, index: int, objects: Lanes) -> Lanes:
        """Return the scenes whose set has one object."""
        return objects << self._width - 1 - index & self.everyone

    def spread(self, scenes: Lanes) -> Lanes:
        """Return all bits of objects in the lanes of some scenes."""
        return scenes - (scenes >> self._width - 1)

    def _make_having(self, value: tuple[str, str]) -> Lanes:
        name, word = value
        return self._joined(scene.having[name][word] for scene in self.scenes)

    def _make_related(self, relation: str) -> tuple[Lanes, list[Lanes]]:
        tables = [scene.related.get(relation) for scene in self.scenes]
        known = self._joined(table is not None for table in tables) << self._width - 1
        largest = range(self._width - 1)
        return known, [self._joined(table[i] if table and i < len(table) else 0 for table in tables) for i in largest]


# Twins: (pool, scenes, *inputs, *values) -> column --------------------------------------------------------------------


def _all_but(pool: ScenePool, scenes: Lanes, anchor: Column) -> Column:
    return Column(scenes, pool.everything ^ (pool.everything & anchor.objects))


def _unique(pool: ScenePool, scenes: Lanes, among: Column) -> Column:
    less_one = pool.less_one(among.objects)
    some = scenes & less_one
    return Column(some ^ (some & pool.less_one(among.objects & less_one)), among.objects)


def _not_unique(pool: ScenePool, scenes: Lanes, among: Column) -> Column:
    return Column(scenes & pool.less_one(among.objects & pool.less_one(among.objects)), among.objects)


def _exist(pool: ScenePool, scenes: Lanes, among: Column) -> Column:
    some = scenes & pool.less_one(among.objects)
    return Column(scenes, 0, {True: some, False: scenes ^ some})


def _count(pool: ScenePool, scenes: Lanes, among: Column) -> Column:
    # one object of each scene is taken away at a time; the scenes that have none left had so many
    values, objects, left = dict[Value, Lanes](), among.objects, scenes
    while left:
        less_one = pool.less_one(objects)
        objects &= less_one
        more = left & less_one
        values[len(values)], left = left ^ more, more
    return Column(scenes, 0, values)


def _relate(pool: ScenePool, scenes: Lanes, anchor: Column, relation: str) -> Column:
    known, rows = pool.related[relation]
    related = 0
    for i, row in enumerate(rows):
        having = pool.with_object(i, anchor.objects)
        if having:
            related |= row & pool.spread(having)
    return Column(scenes & known, related)


def _filter(attribute: Attribute, pool: ScenePool, scenes: Lanes, among: Column, value: str) -> Column:
    return Column(scenes, among.objects & pool.having[attribute.name, value])


def _query(attribute: Attribute, pool: ScenePool, scenes: Lanes, anchor: Column) -> Column:
    values, left = dict[Value, Lanes](), scenes
    for leaf in attribute.leaves:
        having = left & pool.less_one(anchor.objects & pool.having[attribute.name, leaf])
        if having:
            values[leaf] = having
            left ^= having
            if not left:
                break
    return Column(scenes ^ left, 0, values)


def _same(attribute: Attribute, pool: ScenePool, scenes: Lanes, anchor: Column) -> Column:
    asked = _query(attribute, pool, scenes, anchor)
    alike = union(pool.having[attribute.name, leaf] & pool.spread(having) for leaf, having in asked.values.items())
    return Column(asked.scenes, alike ^ (alike & anchor.objects))


def _by_value(run: Callable[..., Value], pool: ScenePool, scenes: Lanes, *inputs: Column) -> Column:
    """Run a function that knows nothing of the scene once for all scenes with the same inputs."""
    alike: list[tuple[tuple[Value, ...], Lanes]] = [((), scenes)]
    for each in inputs:
        alike = [
            ((*values, value), both)
            for values, among in alike
            for value, having in each.values.items()
            if (both := among & having)
        ]
    running, results = 0, dict[Value, Lanes]()
    for values, having in alike:
        try:
            result = run(None, *values)
        except Undefined:
            continue
        running |= having
        results[result] = results.get(result, 0) | having
    return Column(running, 0, results)


def _scene_by_scene(function: Function, pool: ScenePool, scenes: Lanes, *inputs: Any) -> Column:
    """Run a function of a plug-in, of lists, or a seldom one."""
    running, objects, values = 0, 0, dict[Value, Lanes]()
    columns, words = inputs[: len(function.inputs)], inputs[len(function.inputs) :]
    for lane in pool.lanes(scenes):
        arguments = [pool.result(each, kind, lane) for each, kind in zip(columns, function.inputs, strict=True)]
        try:
            result = function.run(pool.scenes[lane], *arguments, *words)
        except Undefined:
            continue
        running |= pool.mark(lane)
        if function.output in SETS:
            objects |= pool.in_lane(lane, 1 << result if function.output == "Object" else result)
        else:
            values[result] = values.get(result, 0) | pool.mark(lane)
    return Column(running, objects, values)


_TWINS: dict[str, Twin] = {
    "scene": lambda pool, scenes: Column(scenes, pool.everything),
    "relate": _relate,
    "unique": _unique,
    "not_unique": _not_unique,
    "count": _count,
    "exist": _exist,
    "union": lambda pool, scenes, left, right: Column(scenes, left.objects | right.objects),
    "intersect": lambda pool, scenes, left, right: Column(scenes, left.objects & right.objects),
    "difference": lambda pool, scenes, left, right: Column(scenes, left.objects ^ (left.objects & right.objects)),
}
_ATTRIBUTE_TWINS: dict[str, Callable[..., Column]] = {"filter_": _filter, "query_": _query, "same_": _same}
"""What a function's name begins with -> its twin for the attribute that the name ends with."""
