"""What the slow twin knows of a domain and a scene: values, their groups, and what can be said of an object.

Read from raw JSON (see `naive` for what the twin is and what it leaves out).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Record = Mapping[str, Any]
Recorded = str | tuple[str, ...] | None
"""What an object has: a value that is no group, of a list-valued attribute the tuple of its values, or nothing."""


class Attribute(NamedTuple):
    """One property of objects: where its value stands, and what is said of it."""

    key: str
    values: Sequence[str]
    """In the metadata's order, groups included."""
    group_of: Mapping[str, str]
    is_list: bool


class Undefined(Exception):
    """The program has no answer on this scene: `unique` of not exactly one object, or a value that is missing."""


class World(NamedTuple):
    """A scene as the domain sees it; `start` is what `scene` returns, `margins` what is too close to call.

    values[attribute][i] — what object i has. sayable[attribute][i] — all that can be said of it by the attribute.
    """

    scene: Record
    everything: frozenset[int]
    start: frozenset[int]
    values: Mapping[str, Sequence[Recorded]]
    sayable: Mapping[str, Sequence[Sequence[str]]]
    margins: Mapping[str, float] = {"angle": 10, "distance": 0.4, "ratio": 0.1}


def make_world(scene: Record, metadata: Record, start: Sequence[int] | None = None) -> World:
    """The scene with its vocabulary; `start` None means all objects."""
    attributes = {name.lower(): _attribute(metadata, name) for name in attribute_types(metadata)}
    values = {name: [recorded(thing, meant) for thing in scene["objects"]] for name, meant in attributes.items()}
    words = {name: [sayable(value, attributes[name]) for value in row] for name, row in values.items()}
    everything = frozenset(range(len(scene["objects"])))
    made = World(scene, everything, everything if start is None else frozenset(start), values, words)
    return made._replace(margins={**made.margins, **metadata.get("viewpoint", {})})


def recorded(thing: Record, attribute: Attribute) -> Recorded:
    """What the object has; None for nothing, also for an empty list. Lists are put into the domain's order."""
    found = _looked_up(thing, attribute.key)
    if not attribute.is_list:
        return found
    return tuple(value for value in attribute.values if value in (found or [])) or None


def sayable(value: Recorded, attribute: Attribute) -> list[str]:
    """All that can be said of an object by what it has: its value or values, and every group around them."""
    own = [value] if isinstance(value, str) else value or []
    return list(dict.fromkeys(word for each in own for word in _outwards(each, attribute.group_of)))


def _looked_up(thing: Record, key: str) -> Any:
    """A key with dots is a path, `text.body` the `body` inside of `text`, unless the record has that very key."""
    if key in thing:
        return thing[key]
    found: Any = thing
    for part in key.split("."):
        found = None if found is None else found.get(part)
    return found


def _outwards(value: str | None, group_of: Mapping[str, str]) -> Iterator[str]:
    while value is not None:
        yield value
        value = group_of.get(value)


# Metadata ---------------------------------------------------------------------------------------------------------


def values_of(metadata: Record, type_name: str) -> list[str]:
    """Everything sayable of a type, groups included, in order; empty for Object, ObjectSet, Integer, Bool.

    A group stands before its members, and at the end where only `parents` names it.
    """
    entry = metadata["types"].get(type_name)
    nested = [value for value, _ in _placed(_written_values(entry), None)]
    return list(dict.fromkeys([*nested, *_details(entry).get("parents", {}).values()]))


def groups_of(metadata: Record, type_name: str) -> dict[str, str]:
    """Value -> the group that it lies in directly."""
    entry = metadata["types"][type_name]
    nested = {value: group for value, group in _placed(_written_values(entry), None) if group is not None}
    return {**nested, **_details(entry).get("parents", {})}


def relation_type(metadata: Record) -> str:
    """The type that the declared `relate` takes, Relation where none is declared."""
    declared = [each["side_inputs"] for each in metadata.get("functions", []) if each["name"] == "relate"]
    return declared[0][0] if declared else "Relation"


def attribute_types(metadata: Record) -> list[str]:
    """Types whose values objects have: all with values but relations; where functions are declared, those with any."""
    declared = [each["name"] for each in metadata.get("functions", [])]
    types = [name for name in metadata["types"] if name not in ("comment", relation_type(metadata))]
    return [
        name
        for name in types
        if values_of(metadata, name)
        and (not declared or f"filter_{name.lower()}" in declared or f"query_{name.lower()}" in declared)
    ]


def _attribute(metadata: Record, name: str) -> Attribute:
    details = _details(metadata["types"][name])
    return Attribute(
        key=details.get("key", name.lower()),
        values=values_of(metadata, name),
        group_of=groups_of(metadata, name),
        is_list=details.get("multi", False),
    )


def _details(entry: Any) -> Record:
    """A type's entry where it is written `{"values": …, "key": …}`; other objects are groups of values."""
    return entry if isinstance(entry, Mapping) and "values" in entry else {}


def _written_values(entry: Any) -> Any:
    return _details(entry).get("values", entry)


def _placed(written: Any, group: str | None) -> Iterator[tuple[str, str | None]]:
    """Each value with its group, out of a list of values or groups, or `{group: members}`."""
    if isinstance(written, str):
        yield written, group
    elif isinstance(written, Mapping):
        for name, members in written.items():
            if name != "comment":
                yield name, group
                yield from _placed(members, name)
    else:
        for member in written or []:
            yield from _placed(member, group)
