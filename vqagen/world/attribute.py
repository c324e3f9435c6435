"""An attribute: one property of objects, its values and their groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

Recorded = str | tuple[str, ...] | None
"""The value of one object: a leaf, the values of a list-valued attribute in the order of the domain, or None."""
Compute = Callable[[Mapping[str, Any], Mapping[str, Any]], Any]
"""(object record, scene record) -> a value, a list of them, or None."""


def _nothing() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True)
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
