"""Find every fault of a scene record that failed to compile: the slow path of scene loading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from vqagen.errors import BadInput, Fault, Problem, describe, unknown
from vqagen.plugin import PlugInError
from vqagen.world.attribute import Attribute
from vqagen.world.domain import Domain
from vqagen.world.recorded import raw_reader

_OPTIONAL = '; if there may be none, give its type "optional": true'
_MULTI = '; if there may be several, give its type "multi": true'


def raise_faults(record: object, domain: Domain, index: int, source: str, cause: Exception) -> NoReturn:
    """Raise BadInput with every fault of the record, or with the `cause` if no fault is found."""
    found = list(scene_faults(record, domain))
    if not found and isinstance(cause, PlugInError):
        raise cause
    found = found or [("", f"unusable scene ({type(cause).__name__}: {cause})")]
    name = f"scene {index}"
    image = record.get("image_filename") if isinstance(record, Mapping) else None
    if image:
        name += f" ({image})"
    place = f"scenes[{index}]"
    raise BadInput(Problem(f"{message} [{name}]", source, f"{place}{path}") for path, message in found) from None


def image_index_fault(number: object) -> str:
    """The sentence for an `image_index` that is no number of a picture; "" if it is one, or text, or missing."""
    if number is None or isinstance(number, str) or (type(number) is int and number >= 0):
        return ""
    return f"expected a whole number from 0 on, text or null; found {describe(number)}"


def scene_faults(record: object, domain: Domain) -> Iterator[Fault]:
    """Yield every fault of one scene record."""
    if not isinstance(record, Mapping):
        yield "", f"expected a scene object, found {describe(record)}"
        return
    if fault := image_index_fault(record.get("image_index")):
        yield ".image_index", fault
    objects = record.get("objects")
    if not isinstance(objects, list):
        yield ".objects", f"expected a list of objects, found {describe(objects)}"
        return
    yield from _foreign_faults(objects, domain)
    for i, entry in enumerate(objects):
        yield from _object_faults(entry, record, domain, f".objects[{i}]")
    if all(isinstance(entry, Mapping) for entry in objects):
        yield from _relation_faults(record, domain, objects)


def _foreign_faults(objects: Sequence[object], domain: Domain) -> Iterator[Fault]:
    """Yield a fault if none of several objects has an attribute that all must have, as in scenes of another domain."""
    needed = {each.key.partition(".")[0] for each in domain.attributes if each.compute is None and not each.optional}
    found = {key for entry in objects if isinstance(entry, Mapping) for key in entry}
    if len(objects) > 1 and (missing := sorted(needed - found)):
        named = " or ".join(map(repr, missing))
        yield ".objects", f"no object has {named}: of another domain than {domain.name or 'this'}? --domain names it"


def _object_faults(entry: object, record: Mapping[str, Any], domain: Domain, path: str) -> Iterator[Fault]:
    if not isinstance(entry, Mapping):
        yield path, f"expected an object, found {describe(entry)}"
        return
    for attribute in domain.attributes:
        if attribute.compute is None:
            yield from _recorded_faults(attribute, entry, path)
        else:
            yield from _computed_faults(attribute, entry, record, path)


def _recorded_faults(attribute: Attribute, entry: Mapping[str, Any], path: str) -> Iterator[Fault]:
    blocked = _blocked(attribute.key, entry)
    if blocked:
        yield f"{path}.{blocked[0]}", blocked[1]
        return
    value = raw_reader(attribute)(entry, {})
    if value is not None:
        yield from _value_faults(attribute, value, f"{path}.{attribute.key}")
    elif not attribute.optional:
        expected = "a list of" if attribute.multi else "one of:"
        yield path, f"no {attribute.key!r}; expected {expected} {_listed(attribute.leaves)}{_OPTIONAL}"


def _blocked(key: str, entry: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the fault of a dotted key such as `text.body` that leads through something that is no object, or None."""
    steps = key.split(".")
    inside: Any = entry
    for i, step in enumerate(steps[:-1] if key not in entry else ()):
        inside = inside.get(step)
        if inside is None:
            return None
        if not isinstance(inside, Mapping):
            expected = ".".join(steps[i + 1 :])
            return ".".join(steps[: i + 1]), f"expected an object with {expected!r}, found {describe(inside)}"
    return None


def _computed_faults(
    attribute: Attribute, entry: Mapping[str, Any], record: Mapping[str, Any], path: str
) -> Iterator[Fault]:
    try:
        value = raw_reader(attribute)(entry, record)
    except PlugInError:  # it is the cause, and raised if nothing else is wrong
        return
    if value is None and attribute.optional:
        return
    for place, message in _value_faults(attribute, value, ""):
        yield path, f"the plug-in's {attribute.name}{place} of this object: {message}"


def _value_faults(attribute: Attribute, value: object, path: str) -> Iterator[Fault]:
    if not attribute.multi:
        if isinstance(value, list | tuple | Mapping):
            remedy = (
                f'; if it is inside, give its type a "key": "{attribute.key}.…"'
                if isinstance(value, Mapping)
                else _MULTI
            )
            yield path, f"expected one {attribute.name}, found {describe(value)}{remedy}"
        else:
            yield from _leaf_faults(attribute, value, path)
        return
    if not isinstance(value, list | tuple):
        yield path, f"expected a list of values, found {describe(value)}"
        return
    if not value and not attribute.optional:
        yield path, f"expected one or more of: {_listed(attribute.leaves)}{_OPTIONAL}"
    for i, member in enumerate(value):
        if member in value[:i]:
            yield f"{path}[{i}]", f"value {member!r} is listed twice"
        else:
            yield from _leaf_faults(attribute, member, f"{path}[{i}]")


def _listed(values: Sequence[str]) -> str:
    return ", ".join(values[:12]) + (", …" if len(values) > 12 else "")


def _leaf_faults(attribute: Attribute, value: object, path: str) -> Iterator[Fault]:
    if isinstance(value, str) and value in attribute.values and value not in attribute.leaves:
        members = ", ".join(attribute.leaves_of(value))
        yield path, f"{value!r} is a group of values; objects take one of: {members}"
    elif value not in attribute.leaves:
        yield path, unknown(attribute.name, value, attribute.leaves)


def _relation_faults(record: Mapping[str, Any], domain: Domain, objects: list[Mapping[str, Any]]) -> Iterator[Fault]:
    given = record.get("relationships") or {}
    if isinstance(given, Mapping):
        entries = [(f".relationships.{name}", name, rows) for name, rows in given.items()]
    elif isinstance(given, list):
        entries = []
        for i, entry in enumerate(given):
            if not isinstance(entry, Mapping) or not isinstance(entry.get("type"), str) or "indexes" not in entry:
                yield f".relationships[{i}]", "expected an object with 'type' and 'indexes'"
            elif entry["type"] in [name for _, name, _ in entries]:
                yield f".relationships[{i}]", f"relation {entry['type']!r} is listed twice"
            else:
                entries.append((f".relationships[{i}].indexes", entry["type"], entry["indexes"]))
    else:
        yield ".relationships", f"expected an object or a list, found {describe(given)}"
        return
    tables = [(path, rows) for path, name, rows in entries if name in domain.recorded_relations]
    shared = list(_shared_ids(objects)) if any(isinstance(rows, Mapping) for _, rows in tables) else []
    yield from shared
    for path, rows in tables:
        if not (shared and isinstance(rows, Mapping)):  # the ids are ambiguous
            yield from _table_faults(rows, objects, path)
    yield from _coordinate_faults(record, objects)


def _table_faults(rows: object, objects: list[Mapping[str, Any]], path: str) -> Iterator[Fault]:
    if isinstance(rows, Mapping):
        yield from _id_faults(rows, objects, path)
        return
    if not isinstance(rows, list) or len(rows) != len(objects):
        yield path, f"expected a list of {len(objects)} rows, one for each object; found {describe(rows)}"
        return
    for i, row in enumerate(rows):
        if not isinstance(row, list):
            yield f"{path}[{i}]", f"expected a list of object indexes, found {describe(row)}"
            continue
        for k, j in enumerate(row):
            if isinstance(j, bool) or not isinstance(j, int) or not 0 <= j < len(objects):
                yield f"{path}[{i}][{k}]", f"expected an object index 0 to {len(objects) - 1}, found {describe(j)}"
            elif i == j:
                yield f"{path}[{i}][{k}]", f"object {i} is related to itself"


def _id_faults(rows: Mapping[str, Any], objects: list[Mapping[str, Any]], path: str) -> Iterator[Fault]:
    ids = [str(entry.get("id", i)) for i, entry in enumerate(objects)]
    for name, members in rows.items():
        if name not in ids:
            yield f"{path}.{name}", unknown("object id", name, ids)
        if not isinstance(members, list):
            yield f"{path}.{name}", f"expected a list of object ids, found {describe(members)}"
            continue
        for k, member in enumerate(members):
            if str(member) not in ids:
                yield f"{path}.{name}[{k}]", unknown("object id", str(member), ids)
            elif str(member) == name:
                yield f"{path}.{name}[{k}]", f"object {name} is related to itself"


def _shared_ids(objects: list[Mapping[str, Any]]) -> Iterator[Fault]:
    ids = [str(entry.get("id", i)) for i, entry in enumerate(objects)]
    for i, name in enumerate(ids):
        if name in ids[:i]:
            yield f".objects[{i}].id", f"id {name!r} is taken by object {ids.index(name)}"


def _coordinate_faults(record: Mapping[str, Any], objects: list[Mapping[str, Any]]) -> Iterator[Fault]:
    directions = record.get("directions") or {}
    if not isinstance(directions, Mapping):
        yield ".directions", f"expected an object, found {describe(directions)}"
        return
    places = [(f".directions.{name}", vector) for name, vector in directions.items()]
    places += [(f".objects[{i}].3d_coords", entry.get("3d_coords")) for i, entry in enumerate(objects)]
    for path, vector in places:
        numbers = vector if isinstance(vector, list) else []
        if vector is not None and (len(numbers) != 3 or not all(isinstance(x, int | float) for x in numbers)):
            yield path, f"expected three numbers, found {describe(vector)}"
