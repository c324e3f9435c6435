"""Read the values of one attribute from the object records of a scene.

The reader is chosen once for a domain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from vqagen.bits import Objects
from vqagen.plugin import Record
from vqagen.world.attribute import Attribute

RowReader = Callable[[Sequence[Record], Record], tuple[dict[str, Objects], list[Any]]]
"""(object records, scene record) -> the objects by value, and each object's `Recorded`.

Malformed input raises one of the built-in errors; `faults` then finds the place.
"""


def row_reader(attribute: Attribute) -> RowReader:
    """Return the reader of an attribute's values."""
    return _several(attribute) if attribute.multi else _single(attribute)


def _single(attribute: Attribute) -> RowReader:
    found, no_objects = raw_reader(attribute), dict.fromkeys(attribute.values, 0)
    sayable = {leaf: attribute.sayable(leaf) for leaf in (*attribute.leaves, *([None] if attribute.optional else []))}

    def read(objects: Sequence[Record], scene: Record) -> tuple[dict[str, Objects], list[Any]]:
        row = [found(record, scene) for record in objects]
        by_value = no_objects.copy()
        bit = 1
        for recorded in row:
            for value in sayable[recorded]:
                by_value[value] |= bit
            bit <<= 1
        return by_value, row

    return read


def _several(attribute: Attribute) -> RowReader:
    found, no_objects = raw_reader(attribute), dict.fromkeys(attribute.values, 0)
    place_of = {leaf: place for place, leaf in enumerate(attribute.leaves)}.__getitem__

    def in_order(given: Any) -> tuple[str, ...] | None:
        if not isinstance(given, list | tuple) and given is not None:
            raise TypeError(f"not a list of {attribute.name} values")
        recorded = tuple(sorted(given or (), key=place_of))
        if len(set(recorded)) != len(recorded) or not (recorded or attribute.optional):
            raise ValueError(f"{attribute.name} values listed twice, or none")
        return recorded or None

    def read(objects: Sequence[Record], scene: Record) -> tuple[dict[str, Objects], list[Any]]:
        row = [in_order(found(record, scene)) for record in objects]
        by_value = no_objects.copy()
        bit = 1
        for recorded in row:
            for value in attribute.sayable(recorded) if attribute.parents else recorded or ():
                by_value[value] |= bit
            bit <<= 1
        return by_value, row

    return read


def raw_reader(attribute: Attribute) -> Callable[[Record, Record], Any]:
    """Return (object record, scene record) -> the unchecked value of the attribute, or None."""
    if (compute := attribute.compute) is not None:
        return compute
    key, steps = attribute.key, attribute.key.split(".")
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
