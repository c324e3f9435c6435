"""The ways to describe each object of a scene, attribute by attribute: for descriptions too many to be listed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from vqagen.bits import Objects, indexes
from vqagen.language.wording import Random
from vqagen.search.vocabulary import Vocabulary
from vqagen.world.scene import Scene


class Drawn(NamedTuple):
    """A description and the objects of the whole scene that it fits."""

    code: int
    fits: Objects


class Span(NamedTuple):
    """The attributes that a description must say, and those that it may say or leave open."""

    must: tuple[int, ...]
    may: tuple[int, ...]


class WideTable:
    """The ways to describe each object of a scene.

    rows[i][k] — for object i and attribute k of the vocabulary, every (part of the code, objects that fit).
    """

    def __init__(self, vocabulary: Vocabulary, scene: Scene) -> None:
        self.vocabulary = vocabulary
        self.scene = scene
        self.visible = indexes(scene.everything)
        self.rows: list[list[list[Drawn]]] = [[] for _ in range(scene.size)]
        for attribute, digits in zip(vocabulary.attributes, vocabulary.digits, strict=True):
            having, recorded = scene.having[attribute.name], scene.values[attribute.name]
            ways = {value: Drawn(digits[value], objects) for value, objects in having.items() if objects}
            for row, value in zip(self.rows, recorded, strict=True):
                row.append([ways[word] for word in attribute.sayable(value) if word in ways])
        self.fullest = [self._fullest(i) for i in range(scene.size)]
        """Object -> the objects that nothing tells from it."""
        self._sets: dict[Span, DescribedSets | None] = {}

    def sets(self, span: Span) -> DescribedSets | None:
        """Return the sets of objects that descriptions of this span fit; None if they are too many to be listed."""
        if span not in self._sets:
            self._sets[span] = described_sets(self, span)
        return self._sets[span]

    def described(self, i: int, said: list[int], random: Random) -> Drawn | None:
        """Describe object i by these attributes; None if the object has no value of one of them."""
        code, fits, row = 0, self.scene.everything, self.rows[i]
        for k in said:
            ways = row[k]
            if not ways:
                return None
            digit, having = ways[0] if len(ways) == 1 else ways[int(random() * len(ways))]
            code += digit
            fits &= having
        return Drawn(code, fits)

    def absent(self, said: list[int], random: Random) -> Drawn:
        """Draw a value for each of these attributes; the description most often fits no object."""
        code, fits = 0, self.scene.everything
        for k in said:
            attribute = self.vocabulary.attributes[k]
            word = attribute.values[int(random() * len(attribute.values))]
            code += self.vocabulary.digits[k][word]
            fits &= self.scene.having[attribute.name][word]
        return Drawn(code, fits)

    def _fullest(self, i: int) -> Objects:
        fits = self.scene.everything
        for ways in self.rows[i]:
            for way in ways:
                fits &= way.fits
        return fits


MOST_SETS = 20_000
"""Entries of `DescribedSets` above which a scene has none. Eight objects with 11 attributes have 1,500."""


class Steps(NamedTuple):
    """The ways in which one attribute, said or left open, makes a description fit some objects."""

    before: list[Objects]
    """What the attributes before it fit."""
    digits: list[int]
    """Its part of the code; 0 where it is left open."""
    weights: list[float]

    def add(self, before: Objects, digit: int, weight: float) -> None:
        """Add a way."""
        self.before.append(before)
        self.digits.append(digit)
        self.weights.append(weight)


class DescribedSets:
    """The sets of objects that descriptions fit, and how to draw a description of a set.

    weights[objects]: how many descriptions fit just these objects. Where an attribute can be said in several ways of
    one object, each way counts as a part of one, and the mean over the objects is taken (`weight`: over some of them).
    """

    def __init__(self, rows: Sequence[list[list[Drawn]]], span: Span, parts: dict[int, list[dict[Objects, float]]]):
        """`parts`: object -> for each number of attributes, what the first ones fit -> how many ways there are."""
        self._rows, self._span, self._parts = rows, span, parts
        self._are_even = all(len(ways) < 2 for row in rows for ways in row)
        """True if a set has as many descriptions of each of its objects."""
        self._steps: dict[tuple[int, int, Objects], Steps] = {}
        self.weights: dict[Objects, float] = {}
        for part in parts.values():
            for objects, weight in part[-1].items():
                self.weights[objects] = self.weights.get(objects, 0.0) + weight
        for objects in self.weights:
            self.weights[objects] /= objects.bit_count()

    def weight(self, objects: Objects, subjects: Objects) -> float:
        """Return how many descriptions of an object among the `subjects` fit just these objects: the mean over them."""
        if self._are_even:
            return self.weights[objects]
        return sum(self._parts[i][-1][objects] for i in indexes(subjects)) / subjects.bit_count()

    def draw(self, objects: Objects, subjects: Objects, random: Random) -> int:
        """Return the code of a description that fits just these objects, drawn as one of an object of the `subjects`.

        The subjects are some of the objects.
        """
        members = indexes(subjects)
        i = members[drawn_place([self._parts[each][-1][objects] for each in members], random)]
        code = 0
        for k in range(len(self._rows[i]) - 1, -1, -1):
            key = (i, k, objects)
            steps = self._steps.get(key)
            if steps is None:
                steps = self._steps[key] = self._steps_of(i, k, objects)
            at = drawn_place(steps.weights, random) if len(steps.weights) > 1 else 0
            objects = steps.before[at]
            code += steps.digits[at]
        return code

    def _steps_of(self, i: int, k: int, objects: Objects) -> Steps:
        """Return how descriptions of object i fit just these objects from attribute k on."""
        before, span, ways = self._parts[i][k], self._span, self._rows[i][k]
        steps = Steps([], [], [])
        if k not in span.must and objects in before:
            steps.add(objects, 0, before[objects])
        for digit, having in ways if k in span.must or k in span.may else ():
            if not objects & ~having:
                for fits, weight in before.items():
                    if fits & having == objects:
                        steps.add(fits, digit, weight / len(ways))
        return steps


def described_sets(table: WideTable, span: Span) -> DescribedSets | None:
    """Count, attribute by attribute, the descriptions of each object by what they fit; None if that is too much."""
    parts: dict[int, list[dict[Objects, float]]] = {}
    size = 0
    for i in table.visible:
        part = parts[i] = [{table.scene.everything: 1.0}]
        for k, ways in enumerate(table.rows[i]):
            before = part[-1]
            after = {} if k in span.must else before.copy()
            if k in span.must or k in span.may:
                for _, having in ways:
                    for objects, weight in before.items():
                        both = objects & having
                        after[both] = after.get(both, 0.0) + weight / len(ways)
            part.append(after)
            size += len(after)
            if size > MOST_SETS:
                return None
    return DescribedSets(table.rows, span, parts)


def drawn_place(weights: Sequence[float], random: Random) -> int:
    """Draw a place by weight; the last one if all weights are 0, as where no object is visible."""
    totals = list(accumulate(weights))
    return min(bisect_right(totals, random() * totals[-1]), len(totals) - 1)
