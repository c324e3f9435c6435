"""The rules by which a careful reader concludes one fact from others; spec: nothing that follows is asked.

Each rule reads `Knowledge` and adds its conclusions; `close` applies all of them until none adds anything. Every rule
is true of any scene in which relations are strict orders and each object has one value of each attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from vqagen.judge.dialogs.facts import ALL, MANY, Quantity
from vqagen.judge.dialogs.knowledge import Knowledge

Rule = Callable[[Knowledge], None]
MOST_PASSES = 60
"""Passes after which conclusions stop; contradictory facts can go on for ever."""


def close(known: Knowledge) -> None:
    """Draw conclusions until no rule adds one. Nothing more is concluded from facts that contradict each other."""
    known.has_changed = True
    for _ in range(MOST_PASSES):
        if not known.has_changed or not known.is_consistent:
            return
        known.has_changed = False
        for rule in RULES:
            rule(known)


# Numbers ----------------------------------------------------------------------------------------------------------


def _sum(known: Knowledge, total: Quantity, parts: Sequence[Quantity], reason: str, extra: int = 0) -> None:
    """Conclude from total = sum of parts + extra."""
    least = [known.least(part) for part in parts]
    most = [known.most(part) for part in parts]
    low, high = sum(least), sum(most)
    if low + extra > 0 or high < MANY:
        known.bound(total, low + extra, high + extra if high < MANY else MANY, reason)
    whole_least, whole_most = known.range_of(total)
    for part, part_least, part_most in zip(parts, least, most, strict=True):
        others_most = high - part_most
        up = whole_most - extra - (low - part_least) if whole_most < MANY else MANY
        down = whole_least - extra - others_most if others_most < MANY else 0
        if up < part_most or down > part_least:
            known.bound(part, down, up, reason)


def _offset(known: Knowledge, one: Quantity, other: Quantity, extra: int, reason: str) -> None:
    """Conclude from one = other + extra."""
    _sum(known, one, [other], reason, extra)


def _at_least(known: Knowledge, one: Quantity, other: Quantity, extra: int, reason: str) -> None:
    """Conclude from one >= other + extra."""
    known.bound(one, known.least(other) + extra, MANY, reason)
    most = known.most(one)
    if most < MANY:
        known.bound(other, 0, most - extra, reason)


def each_object_has_one_value(known: Knowledge) -> None:
    """The objects with the values of an attribute are, together, all objects (rule 10)."""
    for attribute, leaves in known.logic.leaves.items():
        parts = [("value", attribute, value) for value in leaves]
        _sum(known, ALL, parts, f"every object has one {attribute}")


def members_have_one_value(known: Knowledge) -> None:
    """The members of a set with the values of an attribute are, together, the set (rule 8)."""
    asked = dict.fromkeys((key[1], key[2]) for key in known.bounds if key[0] == "within")
    for entity, attribute in asked:
        definition = known.definitions.get(entity)
        if definition is None:
            continue
        leaves = known.logic.leaves[attribute]
        for value in leaves:
            part = ("within", entity, attribute, value)
            _at_least(known, ("value", attribute, value), part, 0, f"all {value} ones are at least those of the set")
            if definition == ALL:
                _offset(known, part, ("value", attribute, value), 0, "the set is all objects")
        described = known.value(entity, attribute)
        if described is not None:
            reason = f"all members are {described}"
            for value in leaves:
                if value != described:
                    known.bound(("within", entity, attribute, value), 0, 0, reason)
        parts = [("within", entity, attribute, value) for value in leaves]
        _sum(known, definition, parts, f"every member has one {attribute}")


def others_alike_are_one_fewer(known: Knowledge) -> None:
    """The others with an object's value are all with that value but one (rules 5 to 7)."""
    for key in [key for key in known.bounds if key[0] == "alike"]:
        value = known.value(key[1], key[2])
        if value is not None:
            _offset(known, key, ("value", key[2], value), -1, f"the object itself is one of the {value} ones")
        else:
            _at_least(known, ALL, key, 1, "the object itself is another")


def two_sides_are_all_others(known: Knowledge) -> None:
    """In a total order, the objects on both sides of one are all but that one; else at most those."""
    for entity, relation in dict.fromkeys((key[1], key[2]) for key in known.bounds if key[0] == "related"):
        inverse = known.logic.inverse.get(relation)
        if inverse is None:
            continue
        sides: list[Quantity] = [("related", entity, relation), ("related", entity, inverse)]
        reason = f"every other object is on one of the two sides ({relation}, {inverse})"
        if relation in known.logic.total or (entity, relation) in known.extremes:
            _sum(known, ALL, sides, reason, 1)
        else:
            known.bound(ALL, known.least(sides[0]) + known.least(sides[1]) + 1, MANY, reason)
            for side, other in (sides, sides[::-1]):
                known.bound(side, 0, known.most(ALL) - 1 - known.least(other), reason)


def the_rest_is_all_but_the_mentioned(known: Knowledge) -> None:
    """All objects are the rest and the mentioned ones."""
    for rest, mentioned in known.mentioned.items():
        quantity: Quantity = ("rest", rest)
        singles = [entity for entity in mentioned if entity in known.singles]
        sizes = [known.size_of(entity) for entity in dict.fromkeys(mentioned)]
        least = max([known.number_of_different(singles), *(size[0] for size in sizes)])
        most = sum(size[1] for size in sizes)
        low, high = known.range_of(quantity)
        reason = "all objects are those mentioned and the rest"
        known.bound(ALL, low + least, min(high + most, MANY), reason)
        known.bound(quantity, max(known.least(ALL) - most, 0), max(known.most(ALL) - least, 0), reason)


def nothing_is_left_beside_all(known: Knowledge) -> None:
    """If an object and all on both sides of it were mentioned, or all with each value, there is no rest."""
    for rest, mentioned in known.mentioned.items():
        sets = {known.definitions[each] for each in mentioned if each in known.definitions}
        both_sides = any(
            ("related", each, relation) in sets and ("related", each, known.logic.inverse[relation]) in sets
            for each in mentioned
            for relation in known.logic.total
        )
        every_value = any(
            all(("value", attribute, value) in sets for value in leaves)
            for attribute, leaves in known.logic.leaves.items()
        )
        if both_sides or every_value or ALL in sets:
            known.bound(("rest", rest), 0, 0, "all objects were mentioned")


def the_rest_lacks_what_was_mentioned(known: Knowledge) -> None:
    """If all red ones were mentioned, none of the rest is red; if some were, that many fewer are left."""
    for entity, definition in known.sets:
        mentioned = known.mentioned.get(definition[1], ()) if definition[0] == "rest" else ()
        for each in mentioned:
            if known.definitions.get(each, ALL)[0] == "value":
                _, attribute, value = known.definitions[each]
                known.bound(("within", entity, attribute, value), 0, 0, f"all {value} ones were mentioned")
        singles = [each for each in mentioned if each in known.singles]
        for attribute, value in dict.fromkeys(key for each in singles for key in known.values_of(each)):
            having = [each for each in singles if known.value(each, attribute) == value]
            most = known.most(("value", attribute, value)) - known.number_of_different(having)
            known.bound(("within", entity, attribute, value), 0, max(most, 0), f"the other {value} ones were mentioned")


# Places -----------------------------------------------------------------------------------------------------------


def the_next_has_one_fewer_before_it(known: Knowledge) -> None:
    """Beyond the next object lies all that lies beyond the one before it, except itself (rules 1 and 3)."""
    for (of, relation), entity in list(known.following.items()):
        inverse = known.logic.inverse.get(relation)
        if inverse is None:
            continue
        reason = f"one is next in {relation} to the other"
        _offset(known, ("related", entity, relation), ("related", of, relation), -1, reason)
        if relation in known.logic.total:
            _offset(known, ("related", entity, inverse), ("related", of, inverse), 1, reason)


def what_lies_beyond_is_fewer(known: Knowledge) -> None:
    """If one object stands in a relation to another, fewer stand in it to the one (rules 1 and 2; transitivity)."""
    for entity, relation, of in list(known.standing):
        if relation in known.logic.inverse:
            reason = f"one stands in {relation} to the other"
            _at_least(known, ("related", of, relation), ("related", entity, relation), 1, reason)
        else:
            known.bound(("related", of, relation), 1, MANY, "one of them is known")


def values_are_of_the_rest_or_the_mentioned(known: Knowledge) -> None:
    """The red ones are those of the rest and those that were mentioned."""
    for entity, attribute, value in [key[1:] for key in known.bounds if key[0] == "within"]:
        definition = known.definitions.get(entity, ALL)
        if definition[0] != "rest":
            continue
        mentioned = dict.fromkeys(known.mentioned.get(definition[1], ()))
        possible = [each for each in mentioned if known.value(each, attribute) in (None, value)]
        having = [each for each in mentioned if known.value(each, attribute) == value]
        least, most = known.range_of(("within", entity, attribute, value))
        singles = known.number_of_different(each for each in having if each in known.singles)
        there = max([singles, *(known.size_of(each)[0] for each in having)])
        most = min(most + sum(known.size_of(each)[1] for each in possible), MANY)
        reason = f"the {value} ones are those mentioned and those of the rest"
        known.bound(("value", attribute, value), least + there, most, reason)


def orders_are_transitive(known: Knowledge) -> None:
    """An object left of one that is left of a third is left of the third."""
    beyond: dict[tuple[int, str], list[int]] = {}
    for entity, relation, of in known.standing:
        beyond.setdefault((entity, relation), []).append(of)
    for one, relation, middle in list(known.standing):
        if relation in known.logic.inverse:
            for of in beyond.get((middle, relation), ()):
                known.set_standing(one, relation, of)


def different_objects_have_different_places(known: Knowledge) -> None:
    """In a total order no two objects have the same number before them; nothing else is where the leftmost thing is."""
    placed = [
        (entity, relation, known.range_of(("related", entity, relation)))
        for entity in known.singles
        for relation in known.logic.inverse
        if relation in known.logic.total or (entity, relation) in known.extremes
    ]
    for entity, relation, (least, most) in placed:
        if least != most:
            continue
        for other in known.singles:
            if known.differ(entity, other):
                beyond: Quantity = ("related", other, relation)
                low, high = known.range_of(beyond)
                reason = f"another object has the place with {least} in {relation}"
                known.bound(beyond, low + (low == least), high - (high == least), reason)


def known_ones_count(known: Knowledge) -> None:
    """There are at least as many objects as are known to be different ones (rule 9)."""
    singles = list(known.singles)
    known.bound(ALL, known.number_of_different(singles), MANY, "so many are known")
    for attribute, leaves in known.logic.leaves.items():
        for value in leaves:
            having = [entity for entity in singles if known.value(entity, attribute) == value]
            if having:
                reason = "so many are known"
                known.bound(("value", attribute, value), known.number_of_different(having), MANY, reason)
    for entity, definition in known.sets:
        known.bound(ALL, known.least(definition), MANY, "so many are known")
        for attribute in known.logic.leaves:
            described = known.value(entity, attribute)
            if described is not None:
                known.bound(("value", attribute, described), known.least(definition), MANY, "so many are known")
    for of, relation in dict.fromkeys((of, relation) for _, relation, of in known.standing):
        there = [one for one, r, other in known.standing if (r, other) == (relation, of) and one in known.singles]
        known.bound(("related", of, relation), known.number_of_different(there), MANY, "so many are known")


def members_are_as_their_set(known: Knowledge) -> None:
    """A set, and one object of it, has the values and the places of the set's definition."""
    for entity, _ in known.sets:
        for definition in known.lineage(entity):
            match definition:
                case ("value", str(attribute), str(value)):
                    known.set_value(entity, attribute, value)
                case ("alike", int(of), str(attribute)):
                    shared = known.value(of, attribute)
                    if shared is not None:
                        known.set_value(entity, attribute, shared)
                case ("within", int(of), str(attribute), str(value)):
                    known.set_value(entity, attribute, value)
                    for other in known.logic.leaves:
                        inherited = known.value(of, other)
                        if inherited is not None:
                            known.set_value(entity, other, inherited)
                case ("related", int(of), str(relation)) if entity in known.singles:
                    if known.range_of(definition) == (1, 1):
                        known.set_next(entity, relation, of)
                    known.set_standing(entity, relation, of)


# Identity ---------------------------------------------------------------------------------------------------------


def one_definition_is_one_set(known: Knowledge) -> None:
    """Two sets of all objects that one quantity counts are one set."""
    first: dict[Quantity, int] = {}
    for entity, definition in known.sets:
        known.merge(first.setdefault(known.canonical(definition), entity), entity)


def one_place_is_one_object(known: Knowledge) -> None:
    """Two objects are one if they have the same place in a total order, or if each is the only one of a kind."""
    for one, other in combinations(list(known.singles), 2):
        if known.name(one) != known.name(other) and _are_one(known, one, other):
            known.merge(one, other)


def _are_one(known: Knowledge, one: int, other: int) -> bool:
    if known.most(ALL) == 1:
        return True
    for relation in known.logic.total:
        place = known.range_of(("related", one, relation))
        if place[0] == place[1] and place == known.range_of(("related", other, relation)):
            return True
    for attribute in known.logic.leaves:
        value = known.value(one, attribute)
        is_shared = value is not None and value == known.value(other, attribute)
        if is_shared and known.most(("value", attribute, value)) == 1:
            return True
    return False


def the_next_of_the_next_is_back(known: Knowledge) -> None:
    """The next right of the next left of an object is that object."""
    for (of, relation), entity in list(known.following.items()):
        inverse = known.logic.inverse.get(relation)
        if inverse is not None:
            back = known.following.get((known.name(entity), inverse))
            if back is not None:
                known.merge(back, of)


# Values -----------------------------------------------------------------------------------------------------------


_OF_VALUES = ("value", "within")
"""Quantities that end with an attribute and a value."""


def only_one_value_is_left(known: Knowledge) -> None:
    """An object, or a member of a set, has the only value of an attribute that others leave."""
    counted = dict.fromkeys(
        key[-2] for key, bounds in known.bounds.items() if key[0] in _OF_VALUES and bounds[1] < MANY
    )
    for attribute in counted:
        leaves = known.logic.leaves[attribute]
        open_values = [value for value in leaves if known.most(("value", attribute, value)) > 0]
        for entity in (*known.singles, *(entity for entity, _ in known.sets)):
            if known.value(entity, attribute) is None:
                possible = [value for value in open_values if _may_have(known, entity, attribute, value)]
                if len(possible) == 1:
                    known.set_value(entity, attribute, possible[0])


def _may_have(known: Knowledge, entity: int, attribute: str, value: str) -> bool:
    """Return whether an entity may have a value: the number of objects that have it is not reached by others."""
    for definition in known.lineage(entity):
        if definition[0] == "within" and known.most(("within", definition[1], attribute, value)) == 0:
            return False
    if known.most(("within", entity, attribute, value)) == 0:
        return False
    most = known.most(("value", attribute, value))
    if most >= MANY or entity not in known.singles:
        return True
    others = [each for each in known.singles if known.value(each, attribute) == value and known.differ(each, entity)]
    return known.number_of_different(others) < most


RULES: tuple[Rule, ...] = (
    members_are_as_their_set,
    each_object_has_one_value,
    members_have_one_value,
    others_alike_are_one_fewer,
    two_sides_are_all_others,
    the_rest_is_all_but_the_mentioned,
    nothing_is_left_beside_all,
    the_rest_lacks_what_was_mentioned,
    values_are_of_the_rest_or_the_mentioned,
    the_next_has_one_fewer_before_it,
    orders_are_transitive,
    what_lies_beyond_is_fewer,
    different_objects_have_different_places,
    known_ones_count,
    one_definition_is_one_set,
    one_place_is_one_object,
    the_next_of_the_next_is_back,
    only_one_value_is_left,
)
"""All rules, in the order in which a pass applies them."""
