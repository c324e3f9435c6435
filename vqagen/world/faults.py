"""The slow path of scene loading: given a record that failed to compile, say everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from vqagen.errors import BadInput, Problem, describe, unknown
from vqagen.world.domain import Domain

Fault = tuple[str, str]
"""A JSON path inside the scene, and what is wrong there."""


def raise_faults(record: object, domain: Domain, index: int, source: str, cause: Exception) -> NoReturn:
    """Raise BadInput with every fault of the record; `cause` is told where no fault is found by looking."""
    found = list(scene_faults(record, domain)) or [("", f"unusable scene ({type(cause).__name__}: {cause})")]
    name = f"scene {index}"
    image = record.get("image_filename") if isinstance(record, Mapping) else None
    if image:
        name += f" ({image})"
    place = f"scenes[{index}]"
    raise BadInput(Problem(f"{message} [{name}]", source, f"{place}{path}") for path, message in found) from None


def scene_faults(record: object, domain: Domain) -> Iterator[Fault]:
    """Every fault of one scene record."""
    if not isinstance(record, Mapping):
        yield "", f"expected a scene object, found {describe(record)}"
        return
    objects = record.get("objects")
    if not isinstance(objects, list):
        yield ".objects", f"expected a list of objects, found {describe(objects)}"
        return
    for i, entry in enumerate(objects):
        yield from _object_faults(entry, domain, f".objects[{i}]")
    if all(isinstance(entry, Mapping) for entry in objects):
        yield from _relation_faults(record, domain, objects)


def _object_faults(entry: object, domain: Domain, path: str) -> Iterator[Fault]:
    if not isinstance(entry, Mapping):
        yield path, f"expected an object, found {describe(entry)}"
        return
    for attribute in domain.attributes:
        value = entry.get(attribute.key)
        if value is None:
            yield path, f"no {attribute.key!r}; expected one of: {', '.join(attribute.values)}"
        elif value not in attribute.values:
            yield f"{path}.{attribute.key}", unknown(attribute.name, value, attribute.values)


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
    tables = [(path, rows) for path, name, rows in entries if name in domain.relations]
    if any(isinstance(rows, Mapping) for _, rows in tables):
        yield from _shared_ids(objects)
    for path, rows in tables:
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
                yield f"{path}[{i}][{k}]", f"object {i} is said to be related to itself"


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
                yield f"{path}.{name}[{k}]", f"object {name} is said to be related to itself"


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
