"""A scene as dialogs read it: values and directions by their numbers, as tables of sets."""

from __future__ import annotations

from collections.abc import Sequence

from vqagen.bits import Objects, indexes, union_of
from vqagen.tasks.dialog.vocabulary import DialogVocabulary
from vqagen.world.scene import Scene

NONE, TIE = -1, -2
"""Entries of `DialogScene.next`: nothing lies in the direction, or no object there is the first."""
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
        self.filled = [
            sum(1 << relation for relation, table in enumerate(self.related) if table[i]) for i in range(self.size)
        ]

    def _placed(self, relation: int) -> Objects:
        table, opposite = self.related[relation], self.related[self.vocabulary.inverse[relation]]
        return union_of(i for i in range(self.size) if table[i] | opposite[i] | 1 << i == self.everything)

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
