"""Read scene records: the values of each attribute, and the relations in any of their forms.

A number or truth value is read as the value that JSON writes in the same way: 2 as "2", true as "true".

Relations become tables, of which `related[relation][i]` is a set of objects:

* adjacency: `{"left": [[1, 2], [], [1]]}` — row i lists what is left of object i (the CLEVR form);
* a list: `[{"type": "left", "indexes": [[1, 2], [], [1]]}]`;
* keyed by object id: `{"left": {"a": ["b", "c"], "c": ["b"]}}`, where objects have an `id` (or their index as text);
* absent: computed from `directions` and each object's `3d_coords`, where the record has them.

A relation of a plug-in is always computed, even if the record gives it too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from vqagen.bits import Objects, union_of
from vqagen.plugin import Record
from vqagen.world.attribute import Attribute
from vqagen.world.relations import relation_lists

if TYPE_CHECKING:
    from vqagen.world.domain import Domain

_LITERAL = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false")
"""Values that JSON can write without quotes, too."""
RowReader = Callable[[Sequence[Record], Record], tuple[dict[str, Objects], list[Any]]]
"""(object records, scene record) -> the objects by value, and each object's `Recorded`.

Malformed input raises one of the built-in errors; `faults` then finds the place.
"""


def row_reader(attribute: Attribute) -> RowReader:
    """Return the reader of an attribute's values."""
    found, no_objects = raw_reader(attribute), dict.fromkeys(attribute.values, 0)
    sayable = {leaf: attribute.sayable(leaf) for leaf in (*attribute.leaves, *([None] if attribute.optional else []))}
    say: Callable[[Any], Sequence[str]] = attribute.sayable if attribute.multi else sayable.__getitem__

    def read(objects: Sequence[Record], scene: Record) -> tuple[dict[str, Objects], list[Any]]:
        row = [found(record, scene) for record in objects]
        if attribute.multi:
            row = [_in_domain_order(attribute, given) for given in row]
        by_value = no_objects.copy()
        bit = 1
        for recorded in row:
            for value in say(recorded):
                by_value[value] |= bit
            bit <<= 1
        return by_value, row

    return read


def _in_domain_order(attribute: Attribute, given: Any) -> tuple[str, ...] | None:
    """Return a list of values in the order of the domain, or None. Raises an error for anything else."""
    if not isinstance(given, list | tuple) and given is not None:
        raise TypeError(f"not a list of {attribute.name} values")
    recorded = tuple(sorted(given or (), key=attribute.leaves.index))
    if len(set(recorded)) != len(recorded) or not (recorded or attribute.optional):
        raise ValueError(f"{attribute.name} values listed twice, or none")
    return recorded or None


def raw_reader(attribute: Attribute) -> Callable[[Record, Record], Any]:
    """Return (object record, scene record) -> the unchecked value of the attribute, or None."""
    if (compute := attribute.compute) is not None:
        return compute
    key, steps = attribute.key, attribute.key.split(".")
    if any(_LITERAL.fullmatch(value) for value in attribute.leaves):
        written, values = raw_reader(replace(attribute, values=())), attribute.values
        return lambda record, scene: _as_value(written(record, scene), values)
    if len(steps) == 1:
        return lambda record, scene: record.get(key)

    def nested(record: Record, scene: Record) -> Any:
        if key in record:
            return record[key]
        inside: Any = record
        for step in steps:
            if inside is None:
                return None
            inside = inside.get(step)
        return inside

    return nested


def _as_value(found: Any, values: Sequence[str]) -> Any:
    if isinstance(found, list):
        return [_as_value(each, values) for each in found]
    text = json.dumps(found) if isinstance(found, bool | int | float) else ""
    return text if text in values else found


# Relations -----------------------------------------------------------------------------------------------------------


def adjacency(record: Mapping[str, Any], domain: Domain) -> dict[str, list[Objects]]:
    """Return the tables of the domain's relations that the record gives or that follow from positions, then plug-ins'.

    A relation that is neither given nor computable is left out. A scene of fewer than two objects has empty tables of
    all relations. Malformed input raises one of the built-in errors; `faults` then finds the place.
    """
    objects = record["objects"]
    rows_of = _given(record)
    bit_of = _bit_of(len(objects))
    related: dict[str, list[Objects]] = {}
    for relation in domain.recorded_relations:
        rows = rows_of.get(relation)
        if rows is not None:
            if isinstance(rows, Mapping):
                rows = _in_order(rows, objects)
            related[relation] = _table(rows, bit_of)
        elif len(objects) < 2:
            related[relation] = [0] * len(objects)
    if len(related) < len(domain.recorded_relations):
        related |= _from_positions(record, [name for name in domain.recorded_relations if name not in related])
    for relation, holds in domain.computed_relations.items():
        related[relation] = [
            union_of(j for j, thing in enumerate(objects) if j != i and holds(thing, anchor, record))
            for i, anchor in enumerate(objects)
        ]
    return related


def _table(rows: Sequence[Sequence[int]], bit_of: Mapping[int, Objects]) -> list[Objects]:
    if not {type(j) for row in rows for j in row}.isdisjoint((bool, float)):  # true and 1.0 would pass for 1
        raise TypeError("an object index that is no whole number")
    table = []
    for row in rows:
        members = 0
        for j in row:
            members |= bit_of[j]
        table.append(members)
    return table


@lru_cache(maxsize=64)
def _bit_of(size: int) -> dict[int, Objects]:
    """Return object index -> its bit. A look-up rejects negative and huge indexes, which `1 << j` would take."""
    return {i: 1 << i for i in range(size)}


def _given(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return rows by relation name. Raises ValueError for a relation that the list form lists twice."""
    given = record.get("relationships") or {}
    if isinstance(given, Mapping):
        return given
    by_type = {entry["type"]: entry["indexes"] for entry in given}
    if len(by_type) != len(given):
        raise ValueError("a relation is listed twice")
    return by_type


def _in_order(rows: Mapping[str, Any], objects: Sequence[Record]) -> list[list[int]]:
    """Return rows that are keyed by object id in the order of objects, with ids turned into indexes."""
    index_of = {str(record.get("id", i)): i for i, record in enumerate(objects)}
    if len(index_of) != len(objects):
        raise ValueError("two objects have the same id")
    in_order: list[list[int]] = [[] for _ in objects]
    for name, members in rows.items():
        in_order[index_of[name]] = [index_of[str(member)] for member in members]
    return in_order


def _from_positions(record: Mapping[str, Any], names: Sequence[str]) -> dict[str, list[Objects]]:
    directions = record.get("directions") or {}
    objects = record["objects"]
    known = {name: directions[name] for name in names if directions.get(name) is not None}
    if not known or any(entry.get("3d_coords") is None for entry in objects):
        return {}
    if any(isinstance(number, bool) for entry in objects for number in entry["3d_coords"]):
        raise TypeError("a coordinate that is no number")
    rows_of = relation_lists([entry["3d_coords"] for entry in objects], known)
    return {name: [union_of(row) for row in rows] for name, rows in rows_of.items()}
