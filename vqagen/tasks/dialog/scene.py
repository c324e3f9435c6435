"""What dialogs talk about: a domain's values and directions by numbers, and a scene as tables of sets of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import dist, inf
from typing import Any

from vqagen.bits import Objects, indexes, union_of
from vqagen.errors import UsageError
from vqagen.world.attribute import Attribute
from vqagen.world.domain import DEFAULT_DIRECTIONS, Domain, RelationOrder, relation_order
from vqagen.world.scene import Scene

NONE, TIE = -1, -2
"""Entries of `DialogScene.next`: nothing lies in the direction, or no object there is the first."""
PLACES = (("3d_coords", 3), ("pixel_coords", 2))
"""Keys of an object's places in space and in the picture, and how many of their numbers are distances."""
MARGIN = 1.2
"""Every other object of a direction is so many times as far away as the nearest one, if that is to be clear."""
Values = int
"""A set of values, by their numbers in the vocabulary."""


@dataclass(frozen=True)
class DialogVocabulary:
    """Attributes of which every object has exactly one value, and directions that are orders with an inverse.

    Values are numbered through all attributes; groups of values are not spoken of.
    """

    attributes: tuple[Attribute, ...]
    relations: tuple[str, ...]
    inverse: tuple[int, ...]
    """Relation -> the relation that says the same from the other side, by their numbers."""

    @staticmethod
    def of(domain: Domain) -> DialogVocabulary:
        """Return the vocabulary of a domain. Raises UsageError if it has no attribute or no direction to speak of."""
        attributes = tuple(attribute for attribute in domain.attributes if not (attribute.multi or attribute.optional))
        order = _order(domain)
        relations = tuple(
            name
            for name in domain.relations
            if name in order.transitive and order.inverse.get(name) in order.transitive
        )
        faults = []
        if len(attributes) < 2:
            faults.append("they need two attributes of which every object has one value (neither multi nor optional)")
        if not relations:
            faults.append(
                "they need a relation that is an order with an inverse, such as left and right (`sampling.directions`)"
            )
        if faults:
            raise UsageError(f"no dialogs about the domain {domain.name or domain.source!r}: {'; '.join(faults)}")
        numbers = {name: number for number, name in enumerate(relations)}
        return DialogVocabulary(attributes, relations, tuple(numbers[order.inverse[name]] for name in relations))

    @cached_property
    def values(self) -> tuple[tuple[int, str], ...]:
        """(number of the attribute, value) for each value."""
        return tuple((number, value) for number, of in enumerate(self.attributes) for value in of.leaves)

    @cached_property
    def number(self) -> Mapping[tuple[str, str], int]:
        """(attribute, value) -> the number of the value."""
        return {(self.attributes[attribute].name, word): i for i, (attribute, word) in enumerate(self.values)}

    @cached_property
    def numbers_of(self) -> tuple[range, ...]:
        """Attribute -> the numbers of its values."""
        ends = accumulate((len(attribute.leaves) for attribute in self.attributes), initial=0)
        return tuple(range(*span) for span in pairwise(ends))

    @cached_property
    def value_sets(self) -> tuple[int, ...]:
        """Attribute -> its values, as a set of their numbers."""
        return tuple((1 << numbers.stop) - (1 << numbers.start) for numbers in self.numbers_of)

    def described(self, *values: int) -> dict[str, str]:
        """Return values by their numbers as JSON: {attribute: value}."""
        return {self.attributes[attribute].name: word for attribute, word in (self.values[value] for value in values)}


def _order(domain: Domain) -> RelationOrder:
    """Return the logic of the relations; without a `sampling` section, that of the directions known by their names."""
    known = relation_order(domain)
    if known.transitive or "sampling" in domain.record:
        return known
    named = {name: DEFAULT_DIRECTIONS[name] for name in domain.recorded_relations if name in DEFAULT_DIRECTIONS}
    opposite = {tuple(-step for step in direction): name for name, direction in named.items()}
    inverse = {name: opposite[direction] for name, direction in named.items() if direction in opposite}
    return RelationOrder(frozenset(named), inverse)


# A scene ------------------------------------------------------------------------------------------------------------


class DialogScene:
    """A scene and its tables; never changed.

    widths — how many values, attributes and relations there are
    having[value] — the objects with the value; counts[value] — how many they are
    value_at[attribute][i] — the value of object i; values_of[i] — all its values
    related[relation][i] — the objects that stand in the relation to object i
    placed[relation] — the objects to which every other one stands in the relation or in its inverse
    next[relation][i] — the one of these that is next to i in the order; NONE or TIE if there is none
    clear_next[i] — the relations in which that one is also clearly the nearest, in space and in the picture
    """

    def __init__(self, scene: Scene, vocabulary: DialogVocabulary) -> None:
        self.scene, self.vocabulary = scene, vocabulary
        self.size, self.everything = scene.size, scene.everything
        names = [attribute.name for attribute in vocabulary.attributes]
        self.widths = len(vocabulary.values), len(vocabulary.attributes), len(vocabulary.relations)
        self.having = [scene.having[names[attribute]][value] for attribute, value in vocabulary.values]
        self.counts = [objects.bit_count() for objects in self.having]
        self.present: Values = sum(1 << value for value, count in enumerate(self.counts) if count)
        self.repeated: Values = sum(1 << value for value, count in enumerate(self.counts) if count > 1)
        self.value_at = [
            [next(value for value in numbers if self.having[value] >> i & 1) for i in range(self.size)]
            for numbers in vocabulary.numbers_of
        ]
        self.values_of: list[Values] = [sum(1 << row[i] for row in self.value_at) for i in range(self.size)]
        self.related = [scene.related[name] for name in vocabulary.relations]
        self.placed = [self._placed(relation) for relation in range(len(self.related))]
        self.next = [[_next(table, i) for i in range(self.size)] for table in self.related]
        places = _places(scene.record["objects"])
        self.clear_next = [
            sum(1 << relation for relation in range(len(self.related)) if self._is_clear(relation, i, places))
            for i in range(self.size)
        ]

    def _placed(self, relation: int) -> Objects:
        table, opposite = self.related[relation], self.related[self.vocabulary.inverse[relation]]
        return union_of(i for i in range(self.size) if table[i] | opposite[i] | 1 << i == self.everything)

    def _is_clear(self, relation: int, i: int, places: Sequence[Sequence[Sequence[float]]]) -> bool:
        """True if the object next to object i is the nearest one there by a margin, wherever places are known.

        "The next thing behind it" is the next one along the direction; people look for the nearest one.
        """
        j = self.next[relation][i]
        others = indexes(self.related[relation][i] & ~(1 << j)) if j >= 0 else []
        return j >= 0 and all(
            MARGIN * dist(rows[i], rows[j]) < min((dist(rows[i], rows[other]) for other in others), default=inf)
            for rows in places
        )


def _next(table: Sequence[Objects], i: int) -> int:
    """Return the object of `table[i]` that no other of them lies before."""
    there = table[i]
    if not there:
        return NONE
    for j in indexes(there):
        if there & ~(1 << j) & ~table[j] == 0:
            return j
    return TIE


def _places(objects: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """Return the places of the objects: in space, in the picture, or both, as far as all of them have one."""
    tables: list[tuple[list[Any], int]] = [([record.get(key) for record in objects], count) for key, count in PLACES]
    return [[row[:count] for row in rows] for rows, count in tables if all(_is_place(row, count) for row in rows)]


def _is_place(place: Any, count: int) -> bool:
    """True for at least so many numbers; no scene is refused for a place that is of no use."""
    return isinstance(place, list) and len(place) >= count and all(isinstance(number, int | float) for number in place)
