"""Checks of a dialog's annotations against the dialog as it was understood from its texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from oracles.dialogs.annotated_facts import fact_fault, missing_fact
from oracles.dialogs.antecedents import antecedent_faults
from oracles.dialogs.captions import EXACT
from oracles.dialogs.discourse import Request, Turn
from oracles.dialogs.judging import Judged
from oracles.dialogs.labels import COUNT, LABELS, RELATION, SEVERAL, UNIQUE
from oracles.dialogs.readings import Reading
from oracles.dialogs.verdicts import Verdict

from vqagen.bits import Objects, indexes
from vqagen.errors import as_written, describe
from vqagen.world.scene import Scene

Placed = tuple[int | None, Verdict]
"""A round, or None for the whole dialog, and a fault there."""


def annotation_faults(record: Mapping[str, Any], judged: Judged, scene: Scene) -> Iterator[Placed]:
    """Yield (round, fault) for each field that is not what the texts and the scene say."""
    written = [record["caption"], *record["rounds"]]
    for at, (each, turn) in enumerate(zip(written, judged.discourse.turns, strict=True)):
        for fault in _sentence_faults(at, each, turn, judged, scene):
            yield at, Verdict("annotation", fault)
    for at, each in enumerate(written[1:], 1):
        for fault in antecedent_faults(at, each, written, judged):
            yield at, Verdict("annotation", fault)
    for fault in (*_entity_faults(record, written, judged), *_object_faults(record, scene)):
        yield None, Verdict("annotation", fault)


def _differs(path: str, given: object, expected: object) -> str:
    return f"{path} is {_shown(given)}, expected {_shown(expected)}"


def _shown(value: object) -> str:
    return str(value) if isinstance(value, list | tuple | Mapping) else as_written(value)


# One sentence -----------------------------------------------------------------------------------------------------


def _sentence_faults(at: int, record: Mapping[str, Any], turn: Turn, judged: Judged, scene: Scene) -> Iterator[str]:
    reading = judged.readings[at]
    arguments = _caption_arguments(reading, judged) if at == 0 else _arguments(at, turn.request, judged)
    expected = {"label": reading.label, "args": arguments}
    if record.get("program") != expected:
        yield _differs("program", record.get("program"), expected)
    if record.get("variant") not in reading.variants:
        yield _differs("variant", record.get("variant"), min(reading.variants))
    if at:
        family = LABELS[turn.request.label].family
        if record.get("family") != family:
            yield _differs("family", record.get("family"), family)
        referents = {"focus": _ids(_focus(turn.request, judged)), "result": _ids(judged.outcomes[at - 1].result)}
        if record.get("referents") != referents:
            yield _differs("referents", record.get("referents"), referents)
    yield from _mention_faults(record, at, judged)
    yield from _fact_faults(at, record, turn, judged, scene)


def _focus(request: Request, judged: Judged) -> Objects:
    """Return the objects that a question refers back to."""
    entity = request.group if request.focus is None else request.focus
    return 0 if entity is None else judged.discourse.worlds[0][entity]


def _ids(objects: Objects) -> list[int]:
    return indexes(objects)


def _arguments(at: int, request: Request, judged: Judged) -> dict[str, Any]:
    """Return the arguments of a round's program."""
    label, arguments = LABELS[request.label], dict[str, Any]()
    if label.about == "other":
        arguments["mentioned"] = _ids(judged.mentioned[at - 1])
    if request.focus is not None:
        arguments["focus"] = _ids(_focus(request, judged))[0]
    if request.group is not None:
        arguments["group"] = _ids(_focus(request, judged))
    for name in ("relation", "attribute", "value"):
        if getattr(request, name):
            arguments[name] = getattr(request, name)
    if label.about == "attr-rel":
        arguments["reading"] = "nearest"
    if request.descriptor:
        arguments["descriptor"] = dict(request.descriptor)
    return arguments


def _caption_arguments(reading: Reading, judged: Judged) -> dict[str, Any]:
    """Return the arguments of a caption's program."""
    first, slots = _ids(judged.discourse.worlds[0][0]), reading.slots
    if reading.label == RELATION:
        return {
            "subject": first[0],
            "subject_value": slots["D"],
            "relation": slots["R"],
            "anchor": _ids(judged.discourse.worlds[0][1])[0],
            "anchor_value": slots["D2"],
        }
    if reading.label in (COUNT, SEVERAL):
        ((attribute, value),) = slots["V"].items()
        counted = {"count": slots["K"]} if reading.label == COUNT else {}
        return {"objects": first, "attribute": attribute, "value": value, **counted}
    exactly = {"exactly": reading.form == EXACT} if reading.label == UNIQUE else {}
    return {"object": first[0], "values": slots["D"], **exactly}


# Mentions ---------------------------------------------------------------------------------------------------------


class Mention(NamedTuple):
    """A mention of an entity by a sentence."""

    role: str
    entity: int
    """The entity of the discourse."""


def mentions_of(at: int, judged: Judged) -> list[Mention]:
    """Return the mentions that a sentence makes."""
    turn = judged.discourse.turns[at]
    if at == 0:
        roles = ("subject", "anchor") if turn.request.label == RELATION else ("result",)
        return [Mention(role, entity) for entity, role in enumerate(roles)]
    found = []
    if turn.request.focus is not None:
        found.append(Mention("focus", turn.request.focus))
    if turn.request.group is not None:
        found.append(Mention("group", turn.request.group))
    if turn.result is not None and turn.result not in (turn.request.focus, turn.request.group):
        found.append(Mention("result", turn.result))
    return found


def _mention_faults(record: Mapping[str, Any], at: int, judged: Judged) -> Iterator[str]:
    written = record.get("mentions")
    if not isinstance(written, list) or not all(isinstance(each, Mapping) for each in written):
        yield f"mentions: expected a list of objects, found {describe(written)}"
        return
    spans = judged.readings[at].spans
    roles = [mention.role for mention in mentions_of(at, judged)]
    if sorted(str(each.get("role")) for each in written) != sorted(roles):
        yield _differs("the roles of mentions", [each.get("role") for each in written], roles)
    for each in written:
        span, marked = each.get("span"), spans.get(str(each.get("role")))
        if (None if span is None else tuple(span)) != marked:
            yield _differs(f"the span of the {each.get('role')}", span, marked and list(marked))


# Facts ------------------------------------------------------------------------------------------------------------


def _fact_faults(at: int, record: Mapping[str, Any], turn: Turn, judged: Judged, scene: Scene) -> Iterator[str]:
    facts = record.get("knowledge_delta")
    if not isinstance(facts, list):
        yield f"knowledge_delta: expected a list, found {describe(facts)}"
        return
    for fact in facts:
        fault = fact_fault(fact, scene)
        if fault:
            yield f"knowledge_delta: {_shown(fact)}: {fault}"
    if at:
        missing = missing_fact(facts, turn, judged.discourse.worlds[0])
        if missing:
            yield f"knowledge_delta lacks the fact that the answer tells: {_shown(missing)}"


# Entities ---------------------------------------------------------------------------------------------------------


def _entity_faults(record: Mapping[str, Any], written: Sequence[Mapping[str, Any]], judged: Judged) -> Iterator[str]:
    """Yield faults of the clusters: each has the objects and the mentions that the sentences say."""
    clusters = record.get("entities")
    if not isinstance(clusters, list) or not all(isinstance(each, Mapping) for each in clusters):
        yield f"entities: expected a list of objects, found {describe(clusters)}"
        return
    objects = {each.get("id"): each.get("objects") for each in clusters}
    found: dict[object, list[dict[str, Any]]] = {number: [] for number in objects}
    clusters_of: dict[tuple[int, int], object] = {}
    for at, each in enumerate(written):
        entities = {mention.role: mention.entity for mention in mentions_of(at, judged)}
        for mention in each.get("mentions", ()):
            entity, number = entities.get(str(mention.get("role"))), mention.get("entity")
            if number not in objects:
                yield f"round {at} mentions entity {_shown(number)}, which is not in entities"
                continue
            found[number].append({"round": at, "span": mention.get("span")})
            if entity is None:
                continue
            expected = _ids(judged.discourse.worlds[0][entity])
            if objects[number] != expected:
                yield _differs(f"the objects of entity {number}, mentioned in round {at},", objects[number], expected)
            first = clusters_of.setdefault((entity, len(expected)), number)
            if first != number:
                yield _differs(f"the entity that round {at} mentions as {mention.get('role')}", number, first)
    for each in clusters:
        said = [mention for mention in found[each.get("id")] if mention["span"] is not None]
        listed = each.get("mentions")
        if not isinstance(listed, list) or [m for m in listed if m.get("span") is not None] != said:
            yield _differs(f"entities: the mentions of {each.get('id')}", listed, said)


def _object_faults(record: Mapping[str, Any], scene: Scene) -> Iterator[str]:
    """Yield faults of the places of the mentioned objects in the image."""
    places = record.get("objects")
    if places is None:
        return
    mentioned = {str(i) for cluster in record["entities"] for i in cluster.get("objects", ())}
    if not isinstance(places, Mapping) or set(places) != mentioned:
        yield _differs("the keys of objects", sorted(places), sorted(mentioned))
        return
    for name, place in places.items():
        own = scene.record["objects"][int(name)]
        wrong = {key: value for key, value in place.items() if own.get(key) != value}
        if wrong:
            yield f"objects.{name}: {_shown(wrong)} is not as in the scene"
