"""An attribute: one property of objects, its values and their groups, and how scene records hold it.

A number or truth value is read as the value that JSON writes in the same way: 2 as "2", true as "true".
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from vqagen.bits import Objects
from vqagen.frozen import frozen
from vqagen.plugin import Record

Recorded = str | tuple[str, ...] | None
"""The value of one object: a leaf, the values of a list-valued attribute in the order of the domain, or None."""
Compute = Callable[[Record, Record], Any]
"""(object record, scene record) -> a value, a list of them, or None."""


def _nothing() -> Mapping[str, str]:
    return MappingProxyType({})


@frozen
class Attribute:
    """One property of objects: `name` as in `filter_<name>`, `type` as in templates, `key` as in scene records."""

    name: str
    type: str
    key: str
    values: tuple[str, ...]
    """All values in the order of the metadata, groups included."""
    null: str
    parents: Mapping[str, str] = field(default_factory=_nothing, hash=False)
    """Value -> its nearest group."""
    display: Mapping[str, str] = field(default_factory=_nothing, hash=False)
    """Value -> its wording where it has no synonyms, if that is not the value itself."""
    multi: bool = False
    """True if an object has a list of values."""
    optional: bool = False
    """True if an object may have no value."""
    compute: Compute | None = field(default=None, compare=False)
    """The function of a plug-in that computes the value; None if records hold it."""

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The values that objects have: all but groups."""
        groups = set(self.parents.values())
        return tuple(value for value in self.values if value not in groups)

    @cached_property
    def lineage(self) -> Mapping[str, tuple[str, ...]]:
        """Value -> all values that are true of an object with it: the value, its group, the group's group, …"""
        return {value: tuple(self._upwards(value)) for value in self.values}

    def _upwards(self, value: str | None) -> Iterator[str]:
        while value is not None:
            yield value
            value = self.parents.get(value)

    def leaves_of(self, value: str) -> tuple[str, ...]:
        """Return the leaves that make a value true of an object: the members of a group, or a leaf itself."""
        return tuple(leaf for leaf in self.leaves if value in self.lineage[leaf])

    def sayable(self, recorded: Recorded) -> tuple[str, ...]:
        """Return all values that are true of an object with this recorded value; none for None."""
        if recorded is None:
            return ()
        if isinstance(recorded, str):
            return self.lineage[recorded]
        return tuple(dict.fromkeys(word for value in recorded for word in self.lineage[value]))


# Values in scene records --------------------------------------------------------------------------------------------

_LITERAL = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false")
"""Values that JSON can write without quotes, too."""
RowReader = Callable[[Sequence[Record], Record], tuple[dict[str, Objects], list[Any]]]
"""(object records, scene record) -> the objects by value, and each object's `Recorded`.

Malformed input raises one of the built-in errors; `faults` then finds the place.
"""


def row_reader(attribute: Attribute) -> RowReader:
    """Return the reader of an attribute's values."""
    read_raw, no_objects = raw_reader(attribute), dict.fromkeys(attribute.values, 0)
    sayable = {leaf: attribute.sayable(leaf) for leaf in (*attribute.leaves, *([None] if attribute.optional else []))}
    say: Callable[[Any], Sequence[str]] = attribute.sayable if attribute.multi else sayable.__getitem__

    def read(objects: Sequence[Record], scene: Record) -> tuple[dict[str, Objects], list[Any]]:
        row = [read_raw(record, scene) for record in objects]
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


def raw_reader(attribute: Attribute) -> Compute:
    """Return (object record, scene record) -> the unchecked value of the attribute, or None."""
    if attribute.compute is not None:
        return attribute.compute
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


def _as_value(recorded: Any, values: Sequence[str]) -> Any:
    """Return the value that JSON writes as a number or truth value is written: 2 as "2", true as "true"."""
    if isinstance(recorded, list):
        return [_as_value(member, values) for member in recorded]
    text = json.dumps(recorded) if isinstance(recorded, bool | int | float) else ""
    return text if text in values else recorded
