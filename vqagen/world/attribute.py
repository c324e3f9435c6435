"""An attribute: one property of objects, and what can be said of an object by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

Recorded = str | tuple[str, ...] | None
"""What an object has: a leaf value; of a list-valued attribute its values in the order of the domain; or nothing."""
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
    """Everything that can be said of it, in the order of the metadata; groups of values included."""
    null: str
    parents: Mapping[str, str] = field(default_factory=_nothing, hash=False)
    """Value -> the group that it belongs to directly."""
    display: Mapping[str, str] = field(default_factory=_nothing, hash=False)
    """Value -> how it is said where no synonyms are given, if not as itself."""
    multi: bool = False
    """Whether an object has a list of values."""
    optional: bool = False
    """Whether an object may have none."""
    compute: Compute | None = field(default=None, compare=False)
    """What a plug-in computes it by, where records do not hold it: (object record, scene record) -> value."""

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The values that objects have: those that are no group of others."""
        groups = set(self.parents.values())
        return tuple(value for value in self.values if value not in groups)

    @cached_property
    def lineage(self) -> Mapping[str, tuple[str, ...]]:
        """Value -> all that can be said of an object that has it: the value, its group, the group's group, …"""
        return {value: tuple(self._upwards(value)) for value in self.values}

    def _upwards(self, value: str | None) -> Iterator[str]:
        while value is not None:
            yield value
            value = self.parents.get(value)

    def leaves_of(self, value: str) -> tuple[str, ...]:
        """The values that an object has of which this can be said: of a group its members, of a leaf itself."""
        return tuple(leaf for leaf in self.leaves if value in self.lineage[leaf])

    def sayable(self, recorded: Recorded) -> tuple[str, ...]:
        """All that can be said of an object for which this is recorded; nothing where nothing is."""
        if recorded is None:
            return ()
        if isinstance(recorded, str):
            return self.lineage[recorded]
        return tuple(dict.fromkeys(word for value in recorded for word in self.lineage[value]))
