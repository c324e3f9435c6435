"""Meanings of questions: the answer in one world of the whole scene, and the facts that it tells."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from oracles.dialogs.discourse import Answer, Discourse, Entity, Request, World
from oracles.dialogs.facts import ALL, MANY, Bounds, Defined, Fact, Mentioned, Next, Quantity, Single, Size, Valued
from oracles.dialogs.labels import LABELS

from vqagen.bits import Objects, indexes, only
from vqagen.world.scene import Scene

NONE_THERE = "none"
YES, NO = "yes", "no"


class Outcome(NamedTuple):
    """An answer, and the objects that it is about."""

    answer: Answer
    result: Objects


# Answers ----------------------------------------------------------------------------------------------------------


def outcomes(request: Request, scene: Scene, world: World, discourse: Discourse) -> list[Outcome]:
    """Return the outcome in a world; several if the question does not say which object it seeks."""
    label = LABELS[request.label]
    if label.family == "seek":
        return _sought(request, scene, world)
    result = _counted(request, scene, world, discourse)
    answer: Answer = result.bit_count() if label.family == "count" else YES if result else NO
    return [Outcome(answer, result)]


def _counted(request: Request, scene: Scene, world: World, discourse: Discourse) -> Objects:
    group = scene.everything if request.group is None else world[request.group]
    match LABELS[request.label].about:
        case "other":
            return scene.everything & ~mentioned_in(world, discourse)
        case "attribute" | "attribute-group":
            return group & scene.having[request.attribute][request.value]
        case "obj-rel":
            return scene.related[request.relation][_focus(request, world)]
        case "obj-exclude":
            focus = _focus(request, world)
            return scene.having[request.attribute][_value(scene, request.attribute, focus)] & ~(1 << focus)
    return group


def _sought(request: Request, scene: Scene, world: World) -> list[Outcome]:
    focus = _focus(request, world)
    if LABELS[request.label].about != "attr-rel":
        return [Outcome(_value(scene, request.attribute, focus), 1 << focus)]
    found = objects_found(scene, request.relation, focus)
    return [Outcome(_value(scene, request.attribute, each), 1 << each) for each in found] or [Outcome(NONE_THERE, 0)]


def objects_found(scene: Scene, relation: str, of: int) -> list[int]:
    """Return the objects that "the next thing left of it" can be.

    The next is an object with no other between; several if they are tied.
    """
    there = indexes(scene.related[relation][of])
    near = [one for one in there if not any(scene.related[relation][other] >> one & 1 for other in there)]
    return near or there


def is_nearest(scene: Scene, relation: str, of: int, found: int) -> bool:
    """Return whether no other object in a relation to one is as near to it, in space or in the picture.

    Scenes without places, and objects without one, say nothing of it.
    """
    objects = scene.record["objects"]
    for key, count in (("3d_coords", 3), ("pixel_coords", 2)):
        places = {i: each[key][:count] for i, each in enumerate(objects) if _is_place(each.get(key), count)}
        there = [i for i in indexes(scene.related[relation][of]) if i in places and i != found]
        if of in places and found in places and there:
            nearest = min(math.dist(places[of], places[i]) for i in there)
            if math.dist(places[of], places[found]) >= nearest:
                return False
    return True


def _is_place(place: Any, count: int) -> bool:
    return isinstance(place, list) and len(place) >= count and all(isinstance(each, int | float) for each in place)


def mentioned_in(world: World, discourse: Discourse) -> Objects:
    """Return the objects that were mentioned: those of the caption, of results and of what was asked about."""
    objects = 0
    for entity in discourse.entities:
        if entity.is_mentioned:
            objects |= world[entity.number]
    return objects


def _focus(request: Request, world: World) -> int:
    assert request.focus is not None
    return only(world[request.focus])


def _value(scene: Scene, attribute: str, of: int) -> str:
    value = scene.values[attribute][of]
    assert isinstance(value, str)
    return value


# Facts ------------------------------------------------------------------------------------------------------------


def quantity_of(request: Request, at: int) -> Quantity:
    """Return the quantity that a count or exist question asks for; `at` is its round."""
    match LABELS[request.label].about:
        case "other":
            return ("rest", -at)
        case "attribute":
            return ("value", request.attribute, request.value)
        case "attribute-group":
            return ("within", request.group, request.attribute, request.value)
        case "obj-rel":
            return ("related", request.focus, request.relation)
        case "obj-exclude":
            return ("alike", request.focus, request.attribute)
    return ALL


def presupposed(request: Request, discourse: Discourse) -> list[Fact]:
    """Return the facts that a question says before it is answered."""
    if LABELS[request.label].about == "other":
        mentioned = tuple(entity.number for entity in discourse.entities if entity.is_mentioned)
        return [Mentioned(-discourse.round, mentioned)]
    return []


def answered(request: Request, answer: Answer, at: int, result: Entity | None) -> list[Fact]:
    """Return the facts that an answer tells; `result` is the entity that it is about."""
    if LABELS[request.label].family == "seek":
        return list(_sought_facts(request, answer, result))
    if request.label == "count-all-group":
        assert result is not None
        return [Size(result.number, int(answer)), *_values_of(result)]
    quantity = quantity_of(request, at)
    if isinstance(answer, int):
        facts: list[Fact] = [Bounds(quantity, answer, answer)]
    else:
        facts = [Bounds(quantity, 1, MANY) if answer == YES else Bounds(quantity, 0, 0)]
    if result is not None:
        facts += [Defined(result.number, quantity), *_values_of(result)]
    return facts


def _values_of(entity: Entity) -> list[Fact]:
    told: list[Fact] = [Valued(entity.number, attribute, each.value) for attribute, each in entity.values.items()]
    return [Single(entity.number), *told] if entity.is_single else told


def _sought_facts(request: Request, answer: Answer, result: Entity | None) -> list[Fact]:
    if LABELS[request.label].about != "attr-rel":
        assert result is not None
        return _values_of(result)
    assert request.focus is not None
    beyond: Quantity = ("related", request.focus, request.relation)
    if result is None:
        return [Bounds(beyond, 0, 0)]
    return [*_values_of(result), Next(result.number, request.relation, request.focus)]
