"""A domain: what can be true of objects. Read from a metadata file; the only place where a vocabulary exists.

Metadata is JSON in the CLEVR form. `types` maps a type name to null (no fixed values: Object, Integer, …), to a list
of values, or to `{"values": [...], "key": "...", "null": "..."}`. A type with values is

* a relation type, if some declared function named `relate…` takes it as a side input (or, where no functions are
  declared, if it is called Relation);
* otherwise an attribute, if `filter_<type>` or `query_<type>` is declared (or no functions are declared at all).

An attribute's `key` is where an object keeps its value (default: the type's name in lower case). Its `null` is the
word that stands for it when a question leaves it open; by default "thing" for the head noun, which is the last side
input of the declared `filter` (or the last attribute, where it is not declared), and "" for every other attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vqagen.errors import BadInput, Problem, describe
from vqagen.files import read_json

HEAD_NOUN = "thing"
DEFAULT_RELATION_TYPE = "Relation"
BASE_TYPES = ("Object", "ObjectSet", "Integer", "Bool")


Recorded = str | tuple[str, ...] | None
"""What an object has: a leaf value; of a list-valued attribute its values in the order of the domain; or nothing."""
Compute = Callable[[Mapping[str, Any], Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Attribute:
    """One property of objects: `name` as in `filter_<name>`, `type` as in templates, `key` as in scene records."""

    name: str
    type: str
    key: str
    values: tuple[str, ...]
    """Everything that can be said of it, in the order of the metadata; groups of values included."""
    null: str
    parents: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Value -> the group that it belongs to directly."""
    display: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
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

    def sayable(self, recorded: Recorded) -> tuple[str, ...]:
        """All that can be said of an object for which this is recorded; nothing where nothing is."""
        if recorded is None:
            return ()
        if isinstance(recorded, str):
            return self.lineage[recorded]
        return tuple(dict.fromkeys(word for value in recorded for word in self.lineage[value]))


@dataclass(frozen=True)
class Domain:
    """A vocabulary: attributes and relations, in the order of the metadata."""

    name: str
    attributes: tuple[Attribute, ...]
    relations: tuple[str, ...]
    relation_type: str = DEFAULT_RELATION_TYPE
    plurals: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    declared: tuple[Mapping[str, Any], ...] = ()
    """The metadata's own `functions`, as written; `language` checks them against what it can run."""
    record: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    source: str = field(default="", compare=False)

    def attribute_of(self, type_name: str) -> Attribute | None:
        """The attribute whose values have this type."""
        return next((attribute for attribute in self.attributes if attribute.type == type_name), None)

    def values_of(self, type_name: str) -> tuple[str, ...]:
        """Every value of an attribute type or of the relation type; empty for a type without values."""
        if type_name == self.relation_type:
            return self.relations
        attribute = self.attribute_of(type_name)
        return attribute.values if attribute else ()

    @property
    def value_types(self) -> tuple[str, ...]:
        """The types a template slot can have."""
        own = tuple(attribute.type for attribute in self.attributes)
        return (*own, self.relation_type) if self.relations else own

    @property
    def types(self) -> tuple[str, ...]:
        """Every type name a function signature can use."""
        return (*BASE_TYPES, *self.value_types)


def load_domain(path: Path | str) -> Domain:
    """Read a metadata file. Raises BadInput with every mistake in it."""
    path = Path(path)
    return domain_from_metadata(read_json(path), str(path))


def domain_from_metadata(metadata: object, source: str = "metadata") -> Domain:
    """Build a domain from parsed metadata; `source` names it in errors."""
    problems: list[Problem] = []
    reader = _Reader(metadata, source, problems)
    domain = reader.domain()
    if problems:
        raise BadInput(problems)
    return domain


class _Reader:
    """Reads one metadata record, collecting problems in place of stopping at the first."""

    def __init__(self, metadata: object, source: str, problems: list[Problem]) -> None:
        self.source, self.problems = source, problems
        self.metadata = self.mapping(metadata, "")
        self.types = self.mapping(self.metadata.get("types"), "types")
        self.functions = self.records(self.metadata.get("functions", []), "functions")
        self.function_names = {str(record.get("name", "")) for record in self.functions}

    def fault(self, path: str, message: str) -> None:
        self.problems.append(Problem(message, self.source, path))

    def mapping(self, value: object, path: str) -> Mapping[str, Any]:
        if isinstance(value, Mapping):
            return value
        self.fault(path, f"expected an object, found {describe(value)}")
        return {}

    def records(self, value: object, path: str) -> tuple[Mapping[str, Any], ...]:
        if not isinstance(value, list):
            self.fault(path, f"expected a list of objects, found {describe(value)}")
            return ()
        return tuple(self.mapping(item, f"{path}[{i}]") for i, item in enumerate(value))

    def domain(self) -> Domain:
        relation_type = self.relation_type()
        attributes = tuple(self.attributes(relation_type))
        if not attributes and not self.problems:
            self.fault("types", "no attribute: expected at least one type with a list of values")
        relation_entry = self.types.get(relation_type)
        relations = self.values(relation_type, relation_entry) if relation_entry is not None else ()
        return Domain(
            name=str(self.metadata.get("dataset") or ""),
            attributes=attributes,
            relations=relations,
            relation_type=relation_type,
            plurals=self.plurals(),
            declared=self.functions,
            record=self.metadata,
            source=self.source,
        )

    def relation_type(self) -> str:
        side_inputs = self.side_inputs("relate")
        return str(side_inputs[0]) if side_inputs else DEFAULT_RELATION_TYPE

    def side_inputs(self, function: str) -> list[Any]:
        """Of the declared function of this name; empty where there is none, or it takes none."""
        for i, record in enumerate(self.functions):
            given = record.get("side_inputs") or []
            if record.get("name") != function or not given:
                continue
            if isinstance(given, list):
                return given
            self.fault(f"functions[{i}].side_inputs", f"expected a list of types, found {describe(given)}")
        return []

    def attributes(self, relation_type: str) -> Iterator[Attribute]:
        entries = [
            (name, entry)
            for name, entry in self.types.items()
            if entry is not None and name != relation_type and self.is_attribute(name)
        ]
        head = self.head_noun([name for name, _ in entries])
        for i, (name, entry) in enumerate(entries):
            if name.lower() in [earlier.lower() for earlier, _ in entries[:i]]:
                self.fault(f"types.{name}", f"a type called {name.lower()!r}, but for the case, is there already")
            details = entry if isinstance(entry, Mapping) else {}
            yield Attribute(
                name=name.lower(),
                type=name,
                key=self.text(details.get("key", name.lower()), f"types.{name}.key"),
                values=self.values(name, entry),
                null=self.text(details.get("null", HEAD_NOUN if name == head else ""), f"types.{name}.null"),
            )

    def is_attribute(self, type_name: str) -> bool:
        name = type_name.lower()
        return not self.functions or bool({f"filter_{name}", f"query_{name}"} & self.function_names)

    def head_noun(self, names: list[str]) -> str | None:
        """The type that defaults to "thing": none, when the metadata gives any `null` word of its own."""
        if any(isinstance(entry, Mapping) and entry.get("null") for entry in self.types.values()):
            return None
        side_inputs = self.side_inputs("filter")
        if side_inputs:
            return str(side_inputs[-1])
        return names[-1] if names else None

    def values(self, name: str, entry: object) -> tuple[str, ...]:
        path = f"types.{name}"
        listed = entry.get("values") if isinstance(entry, Mapping) else entry
        if not isinstance(listed, list) or not listed:
            self.fault(path, f"expected null, a list of values, or {{'values': [...]}}; found {describe(listed)}")
            return ()
        for i, value in enumerate(listed):
            if not isinstance(value, str) or not value:
                self.fault(f"{path}[{i}]", f"expected a value as text, found {describe(value)}")
            elif value in listed[:i]:
                self.fault(f"{path}[{i}]", f"value {value!r} is listed twice")
        return tuple(str(value) for value in listed)

    def plurals(self) -> Mapping[str, str]:
        given = self.mapping(self.metadata.get("plurals", {}), "plurals")
        return MappingProxyType({word: self.text(plural, f"plurals.{word}") for word, plural in given.items()})

    def text(self, value: object, path: str) -> str:
        if isinstance(value, str):
            return value
        self.fault(path, f"expected text, found {describe(value)}")
        return ""
