"""The questioner's partial knowledge of a scene: the facts that a dialog has conveyed so far.

Facts are true, so knowledge only says *which* facts are known; the scene has their content. What is known of single
objects stands in lists with a set for each object: `related_counts[2]` holds the relations in which the number of
objects that stand to object 2 is known.

After "There is a blue thing." and "How many things are left of it? 3" about a scene whose only blue thing is object 2,
`singles` is {2}, `told[2]` is {blue}, `related_counts[2]` is {left}, `group` is the three objects and `topic` is -1:
"it" is nothing now, and "they" are the three. Sets are the bits of an int.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, NamedTuple

from vqagen.bits import Objects, indexes, is_single, only
from vqagen.tasks.dialog.scene import DialogScene, Values

RECENT = 2
"""What one of so many last rounds was about is recent."""


Answer = int | str


class Move(NamedTuple):
    """A round that could be next: the kind of round by its label, and what fills its slots; -1 for what it lacks."""

    label: str
    focus: int = -1
    """The object that the question refers back to."""
    relation: int = -1
    attribute: int = -1
    value: int = -1
    name: Values = 0
    """The values by which the focus is named: "the earlier red cube"; none if it is "it"."""

    @property
    def is_count(self) -> bool:
        """True if it asks for a number."""
        return is_counting(self.label)


def is_counting(label: str) -> bool:
    """True if the questions of a label ask for a number; labels begin with their family."""
    return label.startswith("count")


@dataclass(slots=True)
class Knowledge:
    """Facts known after a round, and what the round leaves to refer to. Never changed once the round is over."""

    told: list[Values]
    """Object -> the values that the text tells of it as a single object."""
    known: list[int]
    """Object -> its attributes that need not be asked any more, also as a member of a set."""
    related_counts: list[int]
    """Object -> the relations in which it is known how many objects stand to it."""
    related_exists: list[int]
    """Object -> the relations in which it is known whether any object stands to it."""
    links: list[int]
    """Object -> the relations in which it is known which object is next to it."""
    alike_counts: list[Values]
    """Object -> the values of which it is known how many other objects have them."""
    alike_exists: list[Values]
    """Object -> the values of which it is known whether any other object has them."""
    names: list[Values]
    """Object -> the values by which it was named last."""
    revealed: dict[tuple[int, int], int]
    """(object, attribute) -> the round that told it, or its values as those of a set."""
    singles: Objects = 0
    """Objects introduced as one object each."""
    closed: int = 0
    """Attributes that describe a set. Its members are not asked for them, so nobody is: the answer would be another."""
    plural: Values = 0
    """Values that describe a set of several or of an unknown size: they cannot name one object."""
    several: Values = 0
    """Values that at least two objects are known to have."""
    mentioned: Objects = 0
    uncounted: Objects = 0
    """Objects mentioned as a set whose number is not told: nobody can say how many were mentioned."""
    value_counts: Values = 0
    """Values of which it is known how many objects have them."""
    value_exists: Values = 0
    """Values of which it is known whether any object has them."""
    is_alias: bool = False
    """True if the round found an object that was introduced before, which the text does not say."""
    size_known: bool = False
    rest_known: bool = False
    """True if it was asked whether there are further objects."""
    all_seen: bool = False
    """True if there are none."""
    label: str = ""
    """The round's label."""
    move: Move | None = None
    topic: int = -1
    """The object that "it" stands for."""
    group: Objects = 0
    """The objects that "they" stands for."""
    is_sized: bool = False
    """True if the size of the group is known."""
    described: Values = 0
    """Values that the members of the group are told to have."""
    result: Objects = 0
    """The objects that the answer was about."""

    @staticmethod
    def of_nothing(size: int) -> Knowledge:
        """Return what is known of a scene of so many objects before a dialog."""
        tables: list[Any] = [*([0] * size for _ in range(8)), {}]
        return Knowledge(*tables)

    def copy(self) -> Knowledge:
        """Return knowledge that can be changed."""
        content: list[Any] = [value.copy() if isinstance(value, list | dict) else value for value in _content(self)]
        return Knowledge(*content)

    def key(self) -> tuple[object, ...]:
        """Return what distinguishes this knowledge from other knowledge, whenever it was revealed."""
        return tuple(tuple(value) if isinstance(value, list) else value for value in _distinctive(self))


_FIELDS = [field.name for field in fields(Knowledge)]
_content = attrgetter(*_FIELDS)
_distinctive = attrgetter(*(name for name in _FIELDS if name not in ("revealed", "move", "names")))


def reveal_round(scene: DialogScene, knowledge: Knowledge, i: int, values: Values) -> int:
    """Return the round that told the last of some values of an object."""
    return max(knowledge.revealed[i, scene.vocabulary.values[value][0]] for value in indexes(values))


class Learner:
    """Adds what a round conveys to a copy of what was known, with all that follows from it."""

    def __init__(self, scene: DialogScene, before: Knowledge, round: int) -> None:
        self.scene, self.before, self.round = scene, before, round
        self.after = before.copy()

    # Objects and sets ------------------------------------------------------------------------------------------------

    def tell(self, i: int, value: int) -> None:
        """Tell a value of one object."""
        after, told = self.after, 1 << value
        if any(after.told[other] & told for other in indexes(after.singles & ~(1 << i))):
            after.several |= told
        after.told[i] |= told
        after.value_exists |= told
        self.note(i, self.scene.vocabulary.values[value][0])

    def note(self, i: int, attribute: int) -> None:
        """Note that an attribute of an object is known."""
        self.after.known[i] |= 1 << attribute
        self.after.revealed.setdefault((i, attribute), self.round)

    def introduce(self, i: int, is_found: bool = False) -> None:
        """Introduce one object, which "it" then stands for; it `is_found` by an answer, or it was referred to."""
        after = self.after
        if is_found and after.singles >> i & 1:
            after.is_alias = True
        after.singles |= 1 << i
        after.mentioned |= 1 << i
        after.topic, after.result = i, 1 << i

    def introduce_set(self, objects: Objects, described: Values, is_sized: bool) -> None:
        """Introduce the objects that an answer is about; only one object is "it" if their number is known."""
        after = self.after
        after.mentioned |= objects
        after.result = objects
        if is_single(objects) and is_sized:
            i = only(objects)
            self.introduce(i, is_found=True)
            for value in indexes(described):
                self.tell(i, value)
            return
        after.group, after.is_sized, after.described = objects, is_sized, described
        after.uncounted = after.uncounted & ~objects if is_sized else after.uncounted | objects
        if objects:
            self._describe(objects, described, is_sized)

    def _describe(self, objects: Objects, described: Values, is_sized: bool) -> None:
        after = self.after
        after.plural |= described
        after.value_exists |= described
        if is_sized:
            after.several |= described
        for value in indexes(described):
            attribute = self.scene.vocabulary.values[value][0]
            after.closed |= 1 << attribute
            for i in indexes(objects):
                self.note(i, attribute)

    # Facts -----------------------------------------------------------------------------------------------------------

    def learn_value(self, value: int, is_counted: bool = True) -> None:
        """Learn how many objects have a value, or only whether any has it; if none has, that is its count."""
        after, count = self.after, self.scene.counts[value]
        after.value_exists |= 1 << value
        if is_counted or not count:
            after.value_counts |= 1 << value
        if is_counted and count > 1:
            after.several |= 1 << value

    def count_related(self, i: int, relation: int) -> None:
        """Learn how many objects stand in a relation to object i."""
        self.after.related_counts[i] |= 1 << relation
        self.after.related_exists[i] |= 1 << relation
        there = self.scene.related[relation][i]
        if is_single(there):
            self.find_related(only(there), self.scene.vocabulary.inverse[relation])

    def find_related(self, i: int, relation: int) -> None:
        """Learn whether any object stands in a relation to object i; if none does, that is their number."""
        self.after.related_exists[i] |= 1 << relation
        if not self.scene.related[relation][i]:
            self.after.related_counts[i] |= 1 << relation

    def relate(self, i: int, relation: int, j: int) -> None:
        """Learn that object j stands in a relation to object i, and the same from the other side."""
        self.find_related(i, relation)
        self.find_related(j, self.scene.vocabulary.inverse[relation])

    def count_alike(self, i: int, value: int) -> None:
        """Learn how many other objects have the value of object i, and so how many have it."""
        self.after.alike_counts[i] |= 1 << value
        self.after.alike_exists[i] |= 1 << value
        self.learn_value(value)

    def find_alike(self, i: int, value: int) -> None:
        """Learn whether any other object has the value of object i."""
        self.after.alike_exists[i] |= 1 << value
        if self.scene.counts[value] > 1:
            self.after.several |= 1 << value
        else:
            self.learn_value(value)

    # What follows ----------------------------------------------------------------------------------------------------

    def conclude(self) -> Knowledge:
        """Return the knowledge with what follows from numbers; other consequences are not drawn."""
        before, after = self.before, self.after
        if after.size_known != before.size_known or after.value_counts != before.value_counts:
            self._conclude_counts()
        if after.size_known != before.size_known or (after.related_counts, after.links) != (
            before.related_counts,
            before.links,
        ):
            self._conclude_order()
        return after

    def _conclude_counts(self) -> None:
        """Conclude counts of values from the number of objects, and that number from counts of all values."""
        after, counts = self.after, self.scene.counts
        for of_attribute in self.scene.vocabulary.value_sets:
            if not of_attribute & ~after.value_counts:
                after.size_known = True
        if not after.size_known:
            return
        for of_attribute in self.scene.vocabulary.value_sets:
            unknown = of_attribute & ~after.value_counts
            counted = sum(counts[value] for value in indexes(of_attribute & ~unknown))
            if is_single(unknown) or (unknown and counted == self.scene.size):
                for value in indexes(unknown):
                    self.learn_value(value)

    def _conclude_order(self) -> None:
        """Conclude how many objects lie in a direction from those next to them, and from the opposite direction.

        From the front, six things stand in the order a b c d e f. "What is next behind c?" told of d, and three things
        are behind c: so two are behind d. And if there are known to be six in all, two are in front of c, and three in
        front of d. Without that number, "nothing is behind f" still tells that something is in front of it.
        """
        after, scene, inverse = self.after, self.scene, self.scene.vocabulary.inverse
        before: list[int] = []
        while before != after.related_counts:
            before = after.related_counts.copy()
            for i, relation in _pairs(after.links):
                j = scene.next[relation][i]
                if (after.related_counts[i] | after.related_counts[j]) >> relation & 1:
                    self.count_related(i, relation)
                    self.count_related(j, relation)
            for i, relation in _pairs(after.related_counts):
                if not scene.placed[relation] >> i & 1:
                    continue  # an object beside it in neither direction
                if after.size_known:
                    self.count_related(i, inverse[relation])
                elif not scene.related[relation][i] and after.mentioned & ~(1 << i):
                    self.find_related(i, inverse[relation])


def _pairs(table: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pairs of an object and a relation in a table of relations by objects."""
    return [(i, relation) for i, relations in enumerate(table) for relation in indexes(relations)]
