"""The slow, complete test of redundancy: find by counting if the answer of a question follows from what is known.

The search avoids most redundant questions by facts alone (`knowledge`). What remains follows from several facts at
once: a thing has not the color whose only bearer is another; four things lie behind the second thing from the front
when there are six. Numbers are therefore kept between bounds, which narrow each other until nothing changes. Objects
introduced one by one count as different ones, so a question is rather taken to be redundant than not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import product
from operator import or_
from typing import NamedTuple

from vqagen.bits import Objects, indexes
from vqagen.tasks.dialog.knowledge import Knowledge, Move
from vqagen.tasks.dialog.rounds import (
    ROUND_KINDS,
    Learn,
    alike,
    attribute_of_focus,
    attribute_of_next,
    group_itself,
    having_value,
    having_value_in_group,
    related,
    rest,
    whole_scene,
)
from vqagen.tasks.dialog.scene import DialogScene, Values
from vqagen.tasks.dialog.template import GROUP

MANY = 1 << 30


class Bounds:
    """The least and the most that a number can be."""

    __slots__ = ("least", "most")

    def __init__(self, least: int = 0, most: int = MANY) -> None:
        self.least, self.most = least, most

    def narrow(self, least: int = 0, most: int = MANY) -> bool:
        """Narrow the bounds; return true if that changed them."""
        if least <= self.least and most >= self.most:
            return False
        self.least, self.most = max(self.least, least), min(self.most, most)
        return True

    @property
    def is_known(self) -> bool:
        """True if there is one number left."""
        return self.least >= self.most


def answer_follows(scene: DialogScene, knowledge: Knowledge, move: Move) -> bool:
    """Return whether the answer of a question is known before it is asked."""
    has_numbers = knowledge.value_counts or knowledge.related_counts or knowledge.size_known or knowledge.all_seen
    is_found = (knowledge.links and move.relation >= 0) or knowledge.lacks or knowledge.parts or knowledge.at_least
    kind = ROUND_KINDS[move.label]
    if not has_numbers and not is_found and kind.learn is not rest:
        return False
    is_about_order = move.relation >= 0 or kind.refers == GROUP or kind.learn is rest
    may_tell_size = bool(knowledge.related_counts) and not knowledge.size_known
    attribute = scene.vocabulary.values[move.value][0] if move.value >= 0 else move.attribute
    with_all = is_about_order or may_tell_size or attribute < 0
    return (Consequences(scene, knowledge) if with_all else Consequences(scene, knowledge, attribute)).decide(move)


class _Side(NamedTuple):
    """Bounds of the number of objects in a direction of an object, and those that they depend on."""

    there: Bounds
    opposite: Bounds
    is_total: bool
    """True if every other object lies in the direction or opposite to it."""
    beyond: Sequence[Bounds]
    """Of each object known to lie there: the number of objects in the same direction."""
    next_ones: Sequence[Bounds]
    """Of these, the objects known to be next, which have exactly one object fewer there."""


class Consequences:
    """All that follows from what is known about numbers: of the scene, of values, of things in a direction."""

    def __init__(self, scene: DialogScene, knowledge: Knowledge, attribute: int = -1) -> None:
        """With an attribute, work out what follows for its values alone: nothing for others, nor for directions."""
        self.scene, self.known = scene, knowledge
        self.singles = indexes(knowledge.singles)
        self.size = Bounds(max(len(self.singles), knowledge.least_size, 1))
        has_all, numbers_of = attribute < 0, scene.vocabulary.numbers_of
        self._numbers_of = numbers_of if has_all else numbers_of[attribute : attribute + 1]
        self.values = {value: self._value(value) for numbers in self._numbers_of for value in numbers}
        relations = range(len(scene.related) if has_all else 0)
        self.related = {(i, relation): self._related(i, relation) for i in self.singles for relation in relations}
        self._ordered = self._order() if has_all else []
        placed = [indexes(scene.placed[relation] & knowledge.singles) for relation in relations]
        self._rows = [[self.related[i, relation] for i in row] for relation, row in enumerate(placed)]
        self._sides = [self._side(i, relation) for i, relation in self.related]
        if knowledge.size_known or knowledge.all_seen:
            self.size.narrow(scene.size, scene.size)
        for i, relation, least in knowledge.at_least if has_all else ():
            self.related[i, relation].narrow(least)
        for value, others, count in knowledge.parts:
            if value in self.values:
                self._narrow_part(value, others, count)
        for value, group, count in knowledge.counted:
            others = scene.everything & ~group
            if value in self.values and self.size.is_known and not others & ~knowledge.mentioned:
                self._narrow_part(value, others, count)
        while self._narrow_values() | self._narrow_order():
            pass

    # What is known at first -------------------------------------------------------------------------------------------

    def _bearers(self, value: int) -> Objects:
        """Return the objects introduced one by one that are known to have a value."""
        having = self.known.singles & self.scene.having[value]
        return having & ~self._unknown(having, value)

    def _value(self, value: int) -> Bounds:
        known, count = self.known, self.scene.counts[value]
        if known.value_counts >> value & 1:
            return Bounds(count, count)
        if known.value_exists >> value & 1 and not count:
            return Bounds(0, 0)
        least = 2 if known.several >> value & 1 else known.value_exists >> value & 1
        return Bounds(max(least, self._bearers(value).bit_count()))

    def _related(self, i: int, relation: int) -> Bounds:
        place, count = i * len(self.scene.related) + relation, self.scene.related[relation][i].bit_count()
        if self.known.related_counts >> place & 1:
            return Bounds(count, count)
        if self.known.related_exists >> place & 1:
            return Bounds(1) if count else Bounds(0, 0)
        return Bounds()

    def _narrow_part(self, value: int, others: Objects, count: int) -> None:
        """Narrow how many objects have a value, of which so many are not among `others`."""
        unknown = self._unknown(others, value)
        having = (others & ~unknown & self.scene.having[value]).bit_count()
        self.values[value].narrow(count + having, count + having + unknown.bit_count())

    # What follows -----------------------------------------------------------------------------------------------------

    def _narrow_values(self) -> bool:
        """Narrow values and the size: for each attribute, the numbers of its values add up to the size."""
        changed = False
        for numbers in self._numbers_of:
            bounds = [self.values[value] for value in numbers]
            least, most = sum(each.least for each in bounds), sum(each.most for each in bounds)
            changed |= self.size.narrow(least, most)
            for each in bounds:
                changed |= each.narrow(self.size.least - (most - each.most), self.size.most - (least - each.least))
            if self.known.rest is not None:
                changed |= self._narrow_rest(numbers, *self.known.rest)
        return changed

    def _narrow_rest(self, numbers: range, others: Objects, size: int, lacking: Values) -> bool:
        """Narrow values of one attribute: those of all objects but some others, `size` of them, add up to that."""
        if self._unknown(others, numbers.start):
            return False
        left = [value for value in numbers if not lacking >> value & 1]
        told = [(self.values[value], (others & self.scene.having[value]).bit_count()) for value in left]
        least, most = sum(each.least - count for each, count in told), sum(each.most - count for each, count in told)
        changed = False
        for each, count in told:
            changed |= each.narrow(
                size - (most - (each.most - count)) + count, size - (least - (each.least - count)) + count
            )
        return changed

    def _unknown(self, objects: Objects, value: int) -> Objects:
        """Return those of the objects whose value of the attribute is not known."""
        width, attribute = len(self.scene.value_at), self.scene.vocabulary.values[value][0]
        return sum(1 << i for i in indexes(objects) if not self.known.known >> i * width + attribute & 1)

    def _side(self, i: int, relation: int) -> _Side:
        bounds, back = self.related, self.scene.vocabulary.inverse[relation]
        bounds[i, relation].narrow(self._ordered[relation][i].bit_count())
        beyond = indexes(self._ordered[relation][i] & self.known.singles)
        next_ones = [j for j in beyond if self._is_next(i, relation, j)]
        return _Side(
            bounds[i, relation],
            bounds[i, back],
            self.scene.placed[relation] >> i & 1 == 1,
            [bounds[j, relation] for j in beyond],
            [bounds[j, relation] for j in next_ones],
        )

    def _order(self) -> list[list[Objects]]:
        """Return relation -> object -> the objects known to lie there, near or far."""
        size, everything, objects = self.scene.size, self.scene.everything, range(self.scene.size)
        relations = range(len(self.scene.related))
        facts = [
            [self.known.ordered >> (i * len(relations) + each) * size & everything for i in objects]
            for each in relations
        ]
        changed = self.known.ordered != 0
        while changed:
            changed = False
            for relation, i in product(relations, self.singles):
                table = facts[relation]
                far = reduce(or_, (table[j] for j in indexes(table[i])), table[i])
                changed |= far != table[i]
                table[i] = far
                for j in indexes(far):
                    if self._is_next(i, relation, j):
                        beyond = table[j] | far & ~(1 << j)
                        changed |= beyond != table[j]
                        table[j] = beyond
        return facts

    def _is_next(self, i: int, relation: int, j: int) -> bool:
        """True if object j is known to be next to object i, or i to j, and exactly one fewer lies beyond it."""
        back, relations = self.scene.vocabulary.inverse[relation], len(self.scene.related)
        is_told = self.known.links >> i * relations + relation & 1 and self.scene.next[relation][i] == j
        is_told = is_told or (self.known.links >> j * relations + back & 1 and self.scene.next[back][j] == i)
        table = self.scene.related[relation]
        return bool(is_told) and table[i] == table[j] | 1 << j

    def _narrow_order(self) -> bool:
        """Narrow what lies in directions: all others lie on either side, and those beyond a thing lie beyond it.

        Of six things, c is known to have two or more in front of it: at most three are behind it. If d is behind c, and
        two are behind d, at least three are behind c; if d is the next one behind c, exactly three.
        """
        changed, size = False, self.size
        for there, opposite, is_total, beyond, next_ones in self._sides:
            changed |= there.narrow(most=size.most - 1 - opposite.least)
            if is_total:
                changed |= there.narrow(size.least - 1 - opposite.most)
                changed |= size.narrow(most=there.most + opposite.most + 1)
            changed |= size.narrow(there.least + opposite.least + 1)
            for each in beyond:
                changed |= there.narrow(each.least + 1) | each.narrow(most=there.most - 1)
            for each in next_ones:
                changed |= there.narrow(most=each.most + 1) | each.narrow(there.least - 1)
        for row in self._rows:
            changed |= self._narrow_places(row)
        return changed

    def _narrow_places(self, row: Sequence[Bounds]) -> bool:
        """Narrow the places of objects in one order: no two have the same one, and as many lie beyond as must.

        With exactly two things behind c, and two or more behind a, three or more are behind a: c has that place. With
        at most one behind e and f, and two or more behind b, both e and f lie behind b.
        """
        changed = False
        for here in row:
            beyond = sum(1 for other in row if other.most < here.least)
            changed |= here.narrow(beyond)
            for other in row if here.is_known else ():
                if other is not here and other.least == here.least and not other.is_known:
                    changed |= other.narrow(here.least + 1)
                elif other is not here and other.most == here.least and not other.is_known:
                    changed |= other.narrow(most=here.least - 1)
        return changed

    def attribute_is_known(self, i: int, attribute: int) -> bool:
        """True if an object lacks all values of an attribute but one: as many others as can be have them."""
        left, lacks = 0, self.known.lacks >> i * len(self.scene.counts)
        for value in self.scene.vocabulary.numbers_of[attribute]:
            others = self._bearers(value) & ~(1 << i)
            left += not lacks >> value & 1 and others.bit_count() < self.values[value].most
        return left <= 1

    # Questions --------------------------------------------------------------------------------------------------------

    def decide(self, move: Move) -> bool:
        """Return whether the answer of a question follows; False if `_DECISIONS` does not know how it is answered."""
        kind = ROUND_KINDS[move.label]
        decision = _DECISIONS.get(kind.learn)
        return decision is not None and decision(self, move, kind.family == "count")

    def of_rest(self, move: Move, is_count: bool) -> bool:
        """Decide whether there are objects that were not mentioned, or how many."""
        return self.of_size(move, is_count) or self._all_are_mentioned()

    def _all_are_mentioned(self) -> bool:
        """True if it is known that all objects were mentioned: on both sides of one, or of every value there is."""
        if self.known.mentioned != self.scene.everything:
            return False
        exists, inverse = self.known.related_exists, self.scene.vocabulary.inverse
        both_sides = any(
            exists >> i * len(inverse) + relation & exists >> i * len(inverse) + inverse[relation] & 1
            for i, relation in self.related
        )
        exhausted = self.known.exhausted
        missing = {value for value, each in self.values.items() if not exhausted >> value & 1 and each.most}
        return both_sides or any(missing.isdisjoint(numbers) for numbers in self.scene.vocabulary.numbers_of)

    def of_size(self, move: Move, is_count: bool) -> bool:
        """Decide how many objects there are, or whether there are more than those mentioned."""
        return self._decides(self.size, is_count, self.known.mentioned.bit_count())

    def of_value(self, move: Move, is_count: bool) -> bool:
        """Decide how many objects have a value."""
        return self._decides(self.values[move.value], is_count)

    def of_value_in_group(self, move: Move, is_count: bool) -> bool:
        """Decide how many objects of the group have a value."""
        bounds, anchor = self.values[move.value], self.known.anchor
        if self.known.group == self.scene.everything and self.known.is_sized:
            return self._decides(bounds, is_count)
        members = self._ordered[anchor[1]][anchor[0]] if anchor and not self.known.described else 0
        if bounds.most == 0 or (not is_count and members & self._bearers(move.value) != 0):
            return True
        if self._decides(self._part_of_group(move.value), is_count):
            return True
        return self.size.most == len(self.singles) and self._none_of_group(move.value)

    def _part_of_group(self, value: int) -> Bounds:
        """Return the bounds of the members with a value: the numbers of members with each value add up to the group."""
        group, parts = self.known.group, dict[int, Bounds]()
        for each in self.scene.vocabulary.numbers_of[self.scene.vocabulary.values[value][0]]:
            bearers = self._bearers(each)
            outside = (bearers & ~group).bit_count()
            parts[each] = Bounds((bearers & group).bit_count(), self.values[each].most - outside)
        own = parts.pop(value)
        size = group.bit_count() if self.known.is_sized else 1
        own.narrow(size - sum(each.most for each in parts.values()))
        if self.known.is_sized:
            own.narrow(most=size - sum(each.least for each in parts.values()))
        return own

    def _none_of_group(self, value: int) -> bool:
        """True if none of the objects that may be of the group can have a value: each object is known."""
        known, asked = self.known, self.known.move
        members = known.singles & ~known.rest_of
        if asked is not None and ROUND_KINDS[asked.label].learn is alike:
            members &= ~(1 << asked.focus)
        for described in indexes(known.described):
            members &= self._unknown(members, described) | self.scene.having[described]
        return not (self._unknown(members, value) | members & self.scene.having[value])

    def of_group(self, move: Move, is_count: bool) -> bool:
        """Decide how many objects the question before asked for."""
        asked = self.known.move
        if asked is None:
            return any(self.values[value].is_known for value in indexes(self.known.described))
        return self.decide(asked._replace(label=asked.label.replace("exist", "count", 1)))

    def of_related(self, move: Move, is_count: bool) -> bool:
        """Decide how many objects stand in a relation to the focus."""
        return self._decides(self.related[move.focus, move.relation], is_count)

    def of_alike(self, move: Move, is_count: bool) -> bool:
        """Decide how many other objects have the focus's value."""
        value = self.scene.value_at[move.attribute][move.focus]
        return self._decides(self.values[value], is_count, 1)

    def of_attribute(self, move: Move, is_count: bool) -> bool:
        """Decide the value of the focus."""
        return self.attribute_is_known(move.focus, move.attribute)

    def of_next(self, move: Move, is_count: bool) -> bool:
        """Decide that nothing lies in a direction, or that something does and only one value is left for it."""
        there, j = self.related[move.focus, move.relation], self.scene.next[move.relation][move.focus]
        return there.most == 0 or (there.least > 0 and self.attribute_is_known(j, move.attribute))

    def _decides(self, bounds: Bounds, is_count: bool, beyond: int = 0) -> bool:
        """Return whether the bounds decide a number, or whether it is more than `beyond`."""
        return bounds.is_known or (not is_count and (bounds.least > beyond or bounds.most <= beyond))


_DECISIONS: Mapping[Learn, Callable[[Consequences, Move, bool], bool]] = {
    whole_scene: Consequences.of_size,
    rest: Consequences.of_rest,
    having_value: Consequences.of_value,
    having_value_in_group: Consequences.of_value_in_group,
    group_itself: Consequences.of_group,
    related: Consequences.of_related,
    alike: Consequences.of_alike,
    attribute_of_focus: Consequences.of_attribute,
    attribute_of_next: Consequences.of_next,
}
"""How a question is answered -> whether the answer follows: (question, whether it counts) -> bool."""
