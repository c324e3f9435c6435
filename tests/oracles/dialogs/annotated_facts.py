"""Facts in the `knowledge_delta` of a round: each must be true in the scene, and the answer's own among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from oracles.dialogs.discourse import Turn, World
from oracles.dialogs.labels import LABELS
from oracles.dialogs.meanings import NO, NONE_THERE

from vqagen.bits import Objects, indexes, only, union_of
from vqagen.world.scene import Scene

Fact = Mapping[str, Any]


def fact_fault(fact: object, scene: Scene) -> str:
    """Return what is wrong with a fact; "" if it is true in the scene."""
    if not isinstance(fact, Mapping) or fact.get("fact") not in _CLAIMS:
        return "no such kind of fact"
    claim = _CLAIMS[fact["fact"]]
    try:
        expected = claim(fact, scene)
    except (KeyError, IndexError, TypeError, AttributeError):
        return "a key is missing, or names nothing in the scene"
    wrong = {key: value for key, value in expected.items() if fact.get(key) != value}
    return f"the scene says {wrong}" if wrong else ""


def _having(fact: Fact, scene: Scene) -> Objects:
    return scene.having[fact["attribute"]][fact["value"]]


def _related(fact: Fact, scene: Scene) -> Objects:
    return scene.related[fact["relation"]][fact["object"]]


def _alike(fact: Fact, scene: Scene) -> Objects:
    attribute, one = fact["attribute"], fact["object"]
    return scene.having[attribute][str(scene.values[attribute][one])] & ~union_of([one])


def _group(fact: Fact, scene: Scene) -> dict[str, Any]:
    objects = fact["objects"]
    if union_of(objects) & ~scene.everything:
        raise IndexError
    values = {
        attribute: value
        for attribute, value in fact["values"].items()
        if not union_of(objects) & ~scene.having[attribute][value]
    }
    return {"values": values, **({} if fact["size"] is None else {"size": len(objects)})}


_CLAIMS: Mapping[str, Callable[[Fact, Scene], Mapping[str, Any]]] = {
    "attribute": lambda fact, scene: {"value": scene.values[fact["attribute"]][fact["object"]]},
    "value-count": lambda fact, scene: {"count": _having(fact, scene).bit_count()},
    "value-exists": lambda fact, scene: {"exists": _having(fact, scene) != 0},
    "related-count": lambda fact, scene: {"count": _related(fact, scene).bit_count()},
    "related-exists": lambda fact, scene: {"exists": _related(fact, scene) != 0},
    "alike-count": lambda fact, scene: {"count": _alike(fact, scene).bit_count()},
    "alike-exists": lambda fact, scene: {"exists": _alike(fact, scene) != 0},
    "scene-count": lambda fact, scene: {"count": scene.size},
    "rest-exists": lambda fact, scene: {"exists": fact["exists"]},
    "group": _group,
}
"""Kind of fact -> the keys that the scene decides, with their values there."""


def missing_fact(facts: Sequence[Fact], turn: Turn, world: World) -> Fact | None:
    """Return the fact that an answer tells by itself, if the facts of its round lack it."""
    expected = _told(turn, world)
    if not expected or any(_says(fact, each) for fact in facts for each in expected):
        return None
    return expected[0]


def _says(fact: Fact, expected: Fact) -> bool:
    return all(fact.get(key) == value for key, value in expected.items())


def _told(turn: Turn, world: World) -> list[Fact]:
    """Return the fact of an answer, in each of the ways to write it; none for what is told of sets."""
    request, answer = turn.request, turn.answer
    label = LABELS[request.label]
    one = None if request.focus is None else only(world[request.focus])
    if label.family == "seek" and label.about != "attr-rel":
        return [{"fact": "attribute", "object": one, "attribute": request.attribute, "value": answer}]
    if label.about == "attr-rel":
        if answer == NONE_THERE:
            return _counts("related", {"object": one, "relation": request.relation}, 0)
        found = indexes(world[turn.result]) if turn.result is not None else [None]
        return [{"fact": "attribute", "object": found[0], "attribute": request.attribute, "value": answer}]
    match label.about:
        case "all":
            return [{"fact": "scene-count", "count": answer}]
        case "attribute":
            return _counts("value", {"attribute": request.attribute, "value": request.value}, answer)
        case "obj-rel":
            return _counts("related", {"object": one, "relation": request.relation}, answer)
        case "obj-exclude":
            return _counts("alike", {"object": one, "attribute": request.attribute}, answer)
    return []


def _counts(kind: str, of: Fact, answer: object) -> list[Fact]:
    if isinstance(answer, int):
        number: list[Fact] = [{"fact": f"{kind}-count", **of, "count": answer}]
        return number if answer else [*number, {"fact": f"{kind}-exists", **of, "exists": False}]
    if answer == NO:
        return [{"fact": f"{kind}-exists", **of, "exists": False}, {"fact": f"{kind}-count", **of, "count": 0}]
    return [{"fact": f"{kind}-exists", **of, "exists": True}]
