"""A scene as dialogs read it: values and directions by their numbers, as tables of sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import dist, inf
from typing import Any

from vqagen.bits import Objects, indexes, union_of
from vqagen.tasks.dialog.vocabulary import DialogVocabulary
from vqagen.world.scene import Scene

NONE, TIE = -1, -2
"""Entries of `DialogScene.next`: nothing lies in the direction, or no object there is the first."""
PLACES = (("3d_coords", 3), ("pixel_coords", 2))
"""Keys of an object's places in space and in the picture, and how many of their numbers are distances."""
MARGIN = 1.2
"""Every other object of a direction is so many times as far away as the nearest one, if that is to be clear."""
Values = int
"""A set of values, by their numbers in the vocabulary."""


class DialogScene:
    """A scene and its tables; never changed.

    widths — how many values, attributes and relations there are
    having[value] — the objects with the value; counts[value] — how many they are
    value_at[attribute][i] — the value of object i; values_of[i] — all its values
    related[relation][i] — the objects that stand in the relation to object i
    placed[relation] — the objects to which every other one stands in the relation or in its inverse
    next[relation][i] — the one of these that is next to i in the order; NONE or TIE if there is none
    clear_next[i] — the relations in which that one is also clearly the nearest, in space and in the picture
    filled[i] — the relations in which any object stands to object i, as a set of their numbers
    """

    def __init__(self, scene: Scene, vocabulary: DialogVocabulary) -> None:
        self.scene, self.vocabulary = scene, vocabulary
        self.size, self.everything = scene.size, scene.everything
        names = [each.name for each in vocabulary.attributes]
        self.widths = len(vocabulary.values), len(vocabulary.attributes), len(vocabulary.relations)
        self.having = [scene.having[names[attribute]][value] for attribute, value in vocabulary.values]
        self.counts = [objects.bit_count() for objects in self.having]
        self.present: Values = sum(1 << value for value, count in enumerate(self.counts) if count)
        self.repeated: Values = sum(1 << value for value, count in enumerate(self.counts) if count > 1)
        self.value_at = [self._row(numbers) for numbers in vocabulary.numbers_of]
        self.values_of: list[Values] = [sum(1 << row[i] for row in self.value_at) for i in range(self.size)]
        self.related = [scene.related[name] for name in vocabulary.relations]
        self.placed = [self._placed(relation) for relation in range(len(self.related))]
        self.next = [[_next(table, i) for i in range(self.size)] for table in self.related]
        places = _places(scene.record["objects"])
        self.clear_next = [
            sum(1 << relation for relation in range(len(self.related)) if self._is_clear(relation, i, places))
            for i in range(self.size)
        ]
        self.filled = [
            sum(1 << relation for relation, table in enumerate(self.related) if table[i]) for i in range(self.size)
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

    def _row(self, values: range) -> list[int]:
        """Return object -> its value among those of one attribute."""
        row = [-1] * self.size
        for value in values:
            for i in indexes(self.having[value]):
                row[i] = value
        return row


def _next(table: Sequence[Objects], i: int) -> int:
    """Return the object of `table[i]` that no other of them lies before."""
    there = table[i]
    if not there:
        return NONE
    for j in indexes(there):
        if there & ~(1 << j) & ~table[j] == 0:
            return j
    return TIE


def _places(objects: Sequence[Mapping[str, Any]]) -> list[list[list[float]]]:
    """Return the places of the objects: in space, in the picture, or both, as far as all of them have one."""
    found = [[_numbers(each.get(key))[:count] for each in objects] for key, count in PLACES]
    return [rows for rows, (_, count) in zip(found, PLACES, strict=True) if all(len(row) == count for row in rows)]


def _numbers(place: Any) -> list[float]:
    """Return a place of a record; no scene is refused for one that is of no use."""
    is_place = isinstance(place, list) and all(isinstance(each, int | float) for each in place)
    return place if is_place else []
