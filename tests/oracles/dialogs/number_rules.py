"""Rules about numbers and values: how many objects have a value, are in a set, or are left."""

from __future__ import annotations

from collections.abc import Iterator
from operator import add

from oracles.dialogs.arithmetic import conclude_at_least, conclude_offset, conclude_sum
from oracles.dialogs.facts import ALL, MANY, Quantity
from oracles.dialogs.knowledge import Knowledge


def each_object_has_one_value(known: Knowledge) -> None:
    """The objects with the values of an attribute are, together, all objects (rule 10)."""
    for attribute, leaves in known.logic.leaves.items():
        parts = [("value", attribute, value) for value in leaves]
        conclude_sum(known, ALL, parts, f"every object has one {attribute}")


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
            conclude_at_least(
                known, ("value", attribute, value), part, 0, f"all {value} ones are at least those of the set"
            )
            if definition == ALL:
                conclude_offset(known, part, ("value", attribute, value), 0, "the set is all objects")
        described = known.value(entity, attribute)
        if described is not None:
            reason = f"all members are {described}"
            for value in leaves:
                if value != described:
                    known.bound(("within", entity, attribute, value), 0, 0, reason)
        parts = [("within", entity, attribute, value) for value in leaves]
        conclude_sum(known, definition, parts, f"every member has one {attribute}")


def others_alike_are_one_fewer(known: Knowledge) -> None:
    """The others with an object's value are all with that value but one (rules 5 to 7)."""
    for key in [key for key in known.bounds if key[0] == "alike"]:
        value = known.value(key[1], key[2])
        if value is not None:
            conclude_offset(known, key, ("value", key[2], value), -1, f"the object itself is one of the {value} ones")
        else:
            conclude_at_least(known, ALL, key, 1, "the object itself is another")


def the_rest_is_all_but_the_mentioned(known: Knowledge) -> None:
    """All objects are the rest and the mentioned ones."""
    for rest, mentioned in known.mentioned.items():
        quantity: Quantity = ("rest", rest)
        singles = [entity for entity in mentioned if entity in known.singles]
        sizes = [known.size_of(entity) for entity in dict.fromkeys(mentioned)]
        beside = (_number_beside(known, each, singles) for each in dict.fromkeys(mentioned))
        least = max([known.number_of_different(singles), *map(add, (size[0] for size in sizes), beside)])
        most = sum(size[1] for size in sizes)
        low, high = known.range_of(quantity)
        reason = "all objects are those mentioned and the rest"
        known.bound(ALL, low + least, min(high + most, MANY), reason)
        known.bound(quantity, max(known.least(ALL) - most, 0), max(known.most(ALL) - least, 0), reason)


def _number_beside(known: Knowledge, entity: int, singles: list[int]) -> int:
    """Return how many single objects, at least, are not of a set: beside all behind a cube, the cube itself."""
    match known.definitions.get(entity, ALL):
        case ("related", int(of), str(relation)):
            back = known.logic.inverse.get(relation)
            outside = [each for each in singles if each == of or (each, back, of) in known.standing]
            return known.number_of_different(outside)
    return 0


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


def known_members_count(known: Knowledge) -> None:
    """A set has at least as many red members as are known."""
    for entity, attribute, value in [key[1:] for key in known.bounds if key[0] == "within"]:
        members = [each for each in known.members(entity) if known.value(each, attribute) == value]
        if members:
            quantity: Quantity = ("within", entity, attribute, value)
            known.bound(quantity, known.number_of_different(members), MANY, "so many members are known")


def the_rest_lacks_what_was_mentioned(known: Knowledge) -> None:
    """If all red ones were mentioned, none of the rest is red; if some were, that many fewer are left."""
    for entity, definition in known.sets:
        mentioned = known.mentioned.get(definition[1], ()) if definition[0] == "rest" else ()
        for attribute, value in _values_mentioned(known, mentioned):
            known.bound(("within", entity, attribute, value), 0, 0, f"all {value} ones were mentioned")
        singles = [each for each in mentioned if each in known.singles]
        for attribute, value in dict.fromkeys(key for each in singles for key in known.values_of(each)):
            having = [each for each in singles if known.value(each, attribute) == value]
            most = known.most(("value", attribute, value)) - known.number_of_different(having)
            known.bound(("within", entity, attribute, value), 0, max(most, 0), f"the other {value} ones were mentioned")


def _values_mentioned(known: Knowledge, mentioned: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    """Yield (attribute, value) of which all objects were mentioned: as a set, or as one and all others alike."""
    for each in mentioned:
        match known.definitions.get(each, ALL):
            case ("value", str(attribute), str(value)):
                yield attribute, value
            case ("alike", int(of), str(attribute)) if of in mentioned:
                shared = known.value(of, attribute)
                if shared is not None:
                    yield attribute, shared


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


_OF_VALUES = ("value", "within")
"""Quantities that end with an attribute and a value."""


def only_one_value_is_left(known: Knowledge) -> None:
    """An object, or a member of a set, has the only value of an attribute that others leave."""
    limited = [key for key, bounds in known.bounds.items() if bounds[1] < MANY]
    limited += [definition for _, definition in known.sets]
    counted = dict.fromkeys((key[-2], key[-1]) for key in limited if key[0] in _OF_VALUES)
    for attribute, leaves in known.logic.leaves.items():
        if sum((attribute, value) in counted for value in leaves) < len(leaves) - 1:
            continue
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
    if known.most(("within", entity, attribute, value)) == 0 or _is_of_no_set(known, entity, attribute, value):
        return False
    without = [each for each, _ in known.sets if known.most(("within", each, attribute, value)) == 0]
    if any(entity in known.members(each) for each in without):
        return False
    most = known.most(("value", attribute, value))
    if most >= MANY or entity not in known.singles:
        return True
    others = [each for each in known.singles if known.value(each, attribute) == value and known.differ(each, entity)]
    return known.number_of_different(others) < most


def _is_of_no_set(known: Knowledge, entity: int, attribute: str, value: str) -> bool:
    """Return whether none of all objects with a value has another value that the entity is known to have."""
    sets = [each for each, definition in known.sets if definition == ("value", attribute, value)]
    return any(
        known.most(("within", each, other, known_value)) == 0
        for each in sets
        for other, known_value in known.values_of(entity)
    )
