"""The ways to describe each object of a scene, attribute by attribute: for descriptions too many to be listed."""

from __future__ import annotations

from typing import NamedTuple

from vqagen.bits import Objects, indexes
from vqagen.language.wording import Random
from vqagen.search.vocabulary import Vocabulary
from vqagen.world.scene import Scene


class Drawn(NamedTuple):
    """A description and the objects of the whole scene that it fits."""

    code: int
    fits: Objects


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

    def fullest(self, i: int) -> Objects:
        """The objects that nothing tells from object i."""
        fits = self.scene.everything
        for ways in self.rows[i]:
            for way in ways:
                fits &= way.fits
        return fits
