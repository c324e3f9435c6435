"""Find every fault of a scene record that failed to compile: the slow path of scene loading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NoReturn

from vqagen.errors import BadInput, Fault, Problem, describe, unknown
from vqagen.files.parsing import show_path
from vqagen.files.schema import malformed, without
from vqagen.plugin import PlugInError
from vqagen.world.attribute import Attribute, raw_reader
from vqagen.world.domain import Domain

_OPTIONAL = '; if there may be none, give its type "optional": true'
_MULTI = '; if there may be several, give its type "multi": true'


def raise_faults(record: object, domain: Domain, index: int, source: str, cause: Exception) -> NoReturn:
    """Raise BadInput with every fault of the record, or with the `cause` if no fault is found."""
    faults = list(scene_faults(record, domain))
    if not faults and isinstance(cause, PlugInError):
        raise cause
    faults = faults or [("", f"unusable scene ({type(cause).__name__}: {cause})")]
    image = record.get("image_filename") if isinstance(record, Mapping) else None
    name = f"scene {index} ({image})" if image else f"scene {index}"
    raise BadInput(
        Problem(f"{message} [{name}]", source, f"scenes[{index}]{path}") for path, message in faults
    ) from None


def scene_faults(record: object, domain: Domain) -> Iterator[Fault]:
    """Yield every fault of one scene record: of form by the JSON Schema of scenes, then those that it cannot tell."""
    if not isinstance(record, Mapping):
        yield "", f"expected a scene object, found {describe(record)}"
        return
    read = {key: record[key] for key in ("image_index", "objects", "relationships", "directions") if key in record}
    if isinstance(given := read.get("relationships"), Mapping):  # those of other relations may have any form
        read["relationships"] = {name: given[name] for name in domain.recorded_relations if name in given}
    if isinstance(given := read.get("objects"), list):
        read["objects"] = [_placing(entry) if isinstance(entry, Mapping) else entry for entry in given]
    wrong = malformed(read, "scenes", "scene", depth=3)
    for fault in chain.from_iterable(wrong.values()):
        yield show_path(("scene", *fault.place)).removeprefix("scene"), fault.message
    sound = without(read, wrong)
    if (objects := sound.get("objects")) is not None:
        things = [(i, entry) for i, entry in enumerate(record["objects"]) if isinstance(entry, Mapping)]
        yield from _foreign_faults([entry for _, entry in things], domain)
        for i, entry in things:
            for attribute in domain.attributes:
                yield from _attribute_faults(attribute, entry, record, f".objects[{i}]")
        yield from _relation_faults(sound.get("relationships") or {}, domain, objects)


def _placing(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what relations read of an object; other keys are those of attributes, or of other programs."""
    return {key: entry[key] for key in ("3d_coords", "id") if key in entry}


def _foreign_faults(objects: Sequence[Mapping[str, Any]], domain: Domain) -> Iterator[Fault]:
    """Yield a fault if none of several objects has an attribute that all must have, as in scenes of another domain."""
    needed = {
        attribute.key.partition(".")[0]
        for attribute in domain.attributes
        if attribute.compute is None and not attribute.optional
    }
    missing = sorted(needed.difference(*objects))
    if len(objects) > 1 and missing:
        named = " or ".join(map(repr, missing))
        yield ".objects", f"no object has {named}: of another domain than {domain.name or 'this'}? --domain names it"


def _attribute_faults(
    attribute: Attribute, entry: Mapping[str, Any], record: Mapping[str, Any], path: str
) -> Iterator[Fault]:
    try:
        value = raw_reader(attribute)(entry, record)
    except PlugInError:  # it is the cause, and raised if nothing else is wrong
        return
    except AttributeError:
        yield f"{path}.{attribute.key}", f"expected objects on the way to {attribute.key!r}"
        return
    if value is None and attribute.optional:
        return
    if attribute.compute is not None:
        for place, message in _value_faults(attribute, value, ""):
            yield path, f"the plug-in's {attribute.name}{place} of this object: {message}"
    elif value is None:
        expected = "a list of" if attribute.multi else "one of:"
        yield path, f"no {attribute.key!r}; expected {expected} {_listed(attribute.leaves)}{_OPTIONAL}"
    else:
        yield from _value_faults(attribute, value, f"{path}.{attribute.key}")


def _value_faults(attribute: Attribute, value: object, path: str) -> Iterator[Fault]:
    if not attribute.multi:
        if isinstance(value, Mapping):
            remedy = f'; if it is inside, give its type a "key": "{attribute.key}.…"'
            yield path, f"expected one {attribute.name}, found {describe(value)}{remedy}"
        elif isinstance(value, list | tuple):
            yield path, f"expected one {attribute.name}, found {describe(value)}{_MULTI}"
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


def _relation_faults(given: Any, domain: Domain, objects: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    """Yield faults of relationships of either form, which may lack entries of wrong form."""
    ids = [str(entry.get("id", i)) for i, entry in enumerate(objects)]
    tables: dict[str, tuple[str, Any]] = {}
    if isinstance(given, Mapping):
        tables = {name: (f".relationships.{name}", rows) for name, rows in given.items()}
    else:
        for i, entry in enumerate(given):
            if entry.get("type") in tables:
                yield f".relationships[{i}]", f"relation {entry['type']!r} is listed twice"
            elif {"type", "indexes"} <= entry.keys():
                tables[entry["type"]] = f".relationships[{i}].indexes", entry["indexes"]
    taken: set[int] = set()
    if any(isinstance(rows, Mapping) for _, rows in tables.values()):
        taken = {i for i, name in enumerate(ids) if name in ids[:i]}
        for i in sorted(taken):
            yield f".objects[{i}].id", f"id {ids[i]!r} is taken by object {ids.index(ids[i])}"
    for name, (path, rows) in tables.items():
        if name in domain.recorded_relations and not (taken and isinstance(rows, Mapping)):  # the ids are ambiguous
            yield from _table_faults(rows, ids, path)


def _table_faults(rows: Any, ids: Sequence[str], path: str) -> Iterator[Fault]:
    """Yield faults of a table by numbers of objects, or by their ids."""
    if not isinstance(rows, Mapping):
        if len(rows) != len(ids):
            yield path, f"expected a list of {len(ids)} rows, one for each object; found {describe(rows)}"
            return
        for i, row in enumerate(rows):
            for k, j in enumerate(row):
                if type(j) is not int or j >= len(ids):
                    yield f"{path}[{i}][{k}]", f"expected an object index 0 to {len(ids) - 1}, found {describe(j)}"
                elif i == j:
                    yield f"{path}[{i}][{k}]", f"object {i} is related to itself"
        return
    for name, members in rows.items():
        if name not in ids:
            yield f"{path}.{name}", unknown("object id", name, ids)
        for k, member in enumerate(map(str, members)):
            if member not in ids:
                yield f"{path}.{name}[{k}]", unknown("object id", member, ids)
            elif member == name:
                yield f"{path}.{name}[{k}]", f"object {name} is related to itself"
