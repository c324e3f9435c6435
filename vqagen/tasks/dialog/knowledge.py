"""The questioner's partial knowledge of a scene: the facts that a dialog has conveyed so far.

Facts are true, so knowledge only says *which* facts are known; the scene has their content. Sets of facts are ints:
`told` and `alike_*` have the bit `i * values + value` for object i, `known` the bit `i * attributes + attribute`, and
`related_*` the bit `i * relations + relation`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import NamedTuple

from vqagen.bits import Objects, indexes, is_single, only
from vqagen.tasks.dialog.scene import DialogScene, Values

RECENT = 2
"""What one of so many last rounds was about is recent."""
ROUND_BITS = 12
"""Bits of a round's number in `Knowledge.revealed`."""


class Move(NamedTuple):
    """A round that could be next: the kind of round by its label, and what fills its slots; -1 for what it lacks."""

    label: str
    focus: int = -1
    """The object that the question refers back to."""
    relation: int = -1
    attribute: int = -1
    value: int = -1
    descriptor: int = -1
    """The value by which the focus is named: "the earlier red thing"."""

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

    singles: Objects = 0
    """Objects introduced as one object each."""
    told: int = 0
    """Values that the text tells of singles."""
    known: int = 0
    """Attributes of objects, also of members of sets, that need not be asked any more."""
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
    value_exists: Values = 0
    """Values of which it is known whether any object has them."""
    related_counts: int = 0
    related_exists: int = 0
    alike_counts: int = 0
    """Known: how many other objects have the value of the object."""
    alike_exists: int = 0
    links: int = 0
    """Known: which object is next to the object in the relation."""
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
    names: tuple[tuple[int, int, Values], ...] = ()
    """(round, object, values) by which the last rounds named an object: "the red thing"; then also called "it"."""
    revealed: int = 0
    """The round that told an attribute of an object: `ROUND_BITS` for each bit of `known`."""

    def copy(self) -> Knowledge:
        """Return knowledge that can be changed."""
        return Knowledge(*_content(self))

    def key(self) -> tuple[object, ...]:
        """Return what distinguishes this knowledge from other knowledge, whenever it was revealed."""
        return _distinctive(self)


_ordered = attrgetter("related_counts", "links")
_content = attrgetter(*(each.name for each in fields(Knowledge)))
_distinctive = attrgetter(*(each.name for each in fields(Knowledge) if each.name not in ("revealed", "move", "names")))


def reveal_round(scene: DialogScene, knowledge: Knowledge, i: int, value: int) -> int:
    """Return the round that told a value of an object."""
    place = i * len(scene.value_at) + scene.vocabulary.values[value][0]
    return knowledge.revealed >> place * ROUND_BITS & (1 << ROUND_BITS) - 1


class Learner:
    """Adds what a round conveys to a copy of what was known, with all that follows from it."""

    def __init__(self, scene: DialogScene, before: Knowledge, round: int) -> None:
        self.scene, self.before, self.round = scene, before, round
        self.after = before.copy()
        self._values, self._attributes, self._relations = scene.widths

    # Objects and sets ------------------------------------------------------------------------------------------------

    def tell(self, i: int, value: int) -> None:
        """Tell a value of one object."""
        after, attribute = self.after, self.scene.vocabulary.values[value][0]
        if after.told & (told := 1 << value) << i * self._values == 0:
            others = after.singles & ~(1 << i) if not after.several & told else 0
            if others and any(after.told >> other * self._values & told for other in indexes(others)):
                after.several |= told
            after.told |= told << i * self._values
        after.value_exists |= told
        self.note(i, attribute)

    def note(self, i: int, attribute: int) -> None:
        """Note that an attribute of an object is known."""
        after, place = self.after, i * self._attributes + attribute
        if not after.known >> place & 1:
            after.known |= 1 << place
            after.revealed |= self.round << place * ROUND_BITS

    def introduce(self, i: int, is_found: bool = False) -> None:
        """Introduce one object, which "it" then stands for; it `is_found` by an answer, or it was referred to."""
        after = self.after
        if is_found and after.singles >> i & 1:
            after.is_alias = True
        after.singles |= 1 << i
        after.mentioned |= 1 << i
        after.topic, after.result = i, 1 << i

    def call(self, i: int, values: Values) -> None:
        """Note that this round names an object by some of these values; as "it", for none, it keeps its recent name."""
        recent = {each[1]: each for each in self.after.names if each[0] > self.round - RECENT}
        values = values or recent.get(i, (0, 0, 0))[2]
        self.after.names = (*recent.values(), (self.round, i, values)) if values else tuple(recent.values())

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
            self.call(i, described)
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
        bit = 1 << i * self._relations + relation
        self.after.related_counts |= bit
        self.after.related_exists |= bit
        there = self.scene.related[relation][i]
        if is_single(there):
            self.find_related(only(there), self.scene.vocabulary.inverse[relation])

    def find_related(self, i: int, relation: int) -> None:
        """Learn whether any object stands in a relation to object i; if none does, that is their number."""
        bit = 1 << i * self._relations + relation
        self.after.related_exists |= bit
        if not self.scene.related[relation][i]:
            self.after.related_counts |= bit

    def link(self, i: int, relation: int, j: int) -> None:
        """Learn that object j stands in a relation to object i, next to it in the order."""
        self.relate(i, relation, j)
        self.after.links |= 1 << i * self._relations + relation

    def relate(self, i: int, relation: int, j: int) -> None:
        """Learn that object j stands in a relation to object i, and the same from the other side."""
        self.find_related(i, relation)
        self.find_related(j, self.scene.vocabulary.inverse[relation])

    def count_alike(self, i: int, value: int) -> None:
        """Learn how many other objects have the value of object i, and so how many have it."""
        bit = 1 << i * self._values + value
        self.after.alike_counts |= bit
        self.after.alike_exists |= bit
        self.learn_value(value)

    def find_alike(self, i: int, value: int) -> None:
        """Learn whether any other object has the value of object i."""
        self.after.alike_exists |= 1 << i * self._values + value
        if self.scene.counts[value] > 1:
            self.after.several |= 1 << value
        else:
            self.learn_value(value)

    # What follows ----------------------------------------------------------------------------------------------------

    def conclude(self) -> Knowledge:
        """Return the knowledge with all that follows from it."""
        before, after = self.before, self.after
        is_sized = after.size_known and not before.size_known
        if is_sized or after.value_counts != before.value_counts:
            self._conclude_counts()
        is_sized = after.size_known and not before.size_known
        if is_sized or _ordered(after) != _ordered(before):
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
        after, inverse = self.after, self.scene.vocabulary.inverse
        if not after.related_counts:
            return
        before = -1
        while before != after.related_counts:
            before = after.related_counts
            for i, relation in self._pairs(after.links):
                j = self.scene.next[relation][i]
                counted = after.related_counts
                if (counted >> i * self._relations + relation | counted >> j * self._relations + relation) & 1:
                    self.count_related(i, relation)
                    self.count_related(j, relation)
            for i, relation in self._pairs(after.related_counts):
                back, there = inverse[relation], self.scene.related[relation][i]
                if there and not after.size_known:
                    continue
                if not self.scene.placed[relation] >> i & 1:
                    continue  # an object beside it in neither direction
                if after.size_known:
                    self.count_related(i, back)
                elif after.mentioned & ~(1 << i):
                    self.find_related(i, back)

    def _pairs(self, facts: int) -> Iterator[tuple[int, int]]:
        """Yield (object, relation) of facts about relations."""
        return (divmod(place, self._relations) for place in indexes(facts))
