"""Rules about places and identity: which object stands where, and which entities are one."""

from __future__ import annotations

from itertools import combinations

from oracles.dialogs.arithmetic import conclude_at_least, conclude_offset, conclude_sum
from oracles.dialogs.facts import ALL, MANY, Quantity
from oracles.dialogs.knowledge import Knowledge


def two_sides_are_all_others(known: Knowledge) -> None:
    """In a total order, the objects on both sides of one are all but that one; else at most those."""
    for entity, relation in dict.fromkeys((key[1], key[2]) for key in known.bounds if key[0] == "related"):
        inverse = known.logic.inverse.get(relation)
        if inverse is None:
            continue
        sides: list[Quantity] = [("related", entity, relation), ("related", entity, inverse)]
        reason = f"every other object is on one of the two sides ({relation}, {inverse})"
        if relation in known.logic.total or (entity, relation) in known.extremes:
            conclude_sum(known, ALL, sides, reason, 1)
        else:
            known.bound(ALL, known.least(sides[0]) + known.least(sides[1]) + 1, MANY, reason)
            for side, other in (sides, sides[::-1]):
                known.bound(side, 0, known.most(ALL) - 1 - known.least(other), reason)


def the_next_has_one_fewer_before_it(known: Knowledge) -> None:
    """Beyond the next object lies all that lies beyond the one before it, except itself (rules 1 and 3)."""
    for (of, relation), entity in list(known.following.items()):
        inverse = known.logic.inverse.get(relation)
        if inverse is None:
            continue
        reason = f"one is next in {relation} to the other"
        conclude_offset(known, ("related", entity, relation), ("related", of, relation), -1, reason)
        if relation in known.logic.total:
            conclude_offset(known, ("related", entity, inverse), ("related", of, inverse), 1, reason)


def orders_are_transitive(known: Knowledge) -> None:
    """An object left of one that is left of a third is left of the third."""
    beyond: dict[tuple[int, str], list[int]] = {}
    for entity, relation, of in known.standing:
        beyond.setdefault((entity, relation), []).append(of)
    for one, relation, middle in list(known.standing):
        if relation in known.logic.inverse:
            for of in beyond.get((middle, relation), ()):
                known.set_standing(one, relation, of)


def what_lies_beyond_is_fewer(known: Knowledge) -> None:
    """If one object stands in a relation to another, fewer stand in it to the one (rules 1 and 2; transitivity)."""
    for entity, relation, of in list(known.standing):
        if relation in known.logic.inverse:
            reason = f"one stands in {relation} to the other"
            conclude_at_least(known, ("related", of, relation), ("related", entity, relation), 1, reason)
        else:
            known.bound(("related", of, relation), 1, MANY, "one of them is known")


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
