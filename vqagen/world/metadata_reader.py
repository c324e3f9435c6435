"""Reads the vocabulary out of a metadata record (see `domain` for its form), noting every mistake on the way."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from vqagen.errors import describe, nearest, unknown
from vqagen.plugin import ComputedAttribute, Declarations
from vqagen.world.attribute import Attribute
from vqagen.world.findings import Findings
from vqagen.world.value_forms import ValueReader

HEAD_NOUN = "thing"
DEFAULT_RELATION_TYPE = "Relation"
BASE_TYPES = ("Object", "ObjectSet", "Integer", "Bool")

Rewrite = tuple[re.Pattern[str], str]

_SECTIONS = (
    "dataset", "types", "functions", "plurals", "rewrites", "synonyms", "sampling", "comment", "$schema",
)  # fmt: skip
_DETAILS = ("values", "key", "null", "parents", "display", "multi", "optional", "attribute", "placeholder", "comment")
_RELATION_DETAILS = ("values", "placeholder", "comment")
_PLAIN_DETAILS = ("values", "attribute", "placeholder", "comment")


class MetadataReader:
    """Each method reads one part; what is wrong with it goes to `findings`."""

    def __init__(self, metadata: object, findings: Findings, plugins: Declarations) -> None:
        self.findings, self.plugins = findings, plugins
        self.metadata = findings.mapping(metadata, "")
        findings.strange_keys(self.metadata, _SECTIONS, "", only_close=True)
        types = findings.mapping(self.metadata.get("types"), "types")
        self.types = {name: entry for name, entry in types.items() if name != "comment"}
        self.functions = findings.records(self.metadata.get("functions", []), "functions")
        self.function_names = {str(record.get("name", "")) for record in self.functions}
        self.relation_type = self._relation_type()

    # Types --------------------------------------------------------------------------------------------------------

    def attributes(self) -> tuple[Attribute, ...]:
        """Those of the metadata, then those that only a plug-in declares."""
        declared = [name for name, entry in self.types.items() if entry is not None and self._is_attribute(name)]
        head = self._head_noun(declared)
        found = [self._attribute(name, HEAD_NOUN if name == head else "") for name in declared]
        found += [
            attribute
            for name, computed in self.plugins.attributes.items()
            if name not in declared and (attribute := self._computed(computed))
        ]
        if not found and not self.findings.problems:
            self.findings.fault("types", "no attribute: expected at least one type with a list of values")
        self._check_names([attribute.type for attribute in found])
        return tuple(found)

    def relations(self) -> tuple[str, ...]:
        """Those of the metadata, then those that only a plug-in declares."""
        entry, listed = self.types.get(self.relation_type), ValueReader(self.findings)
        if entry is not None:
            self._read_values(listed, self.relation_type, _RELATION_DETAILS)
        if listed.parents:
            self.findings.fault(f"types.{self.relation_type}", "relations have no groups; expected a list of them")
        return (*listed.values, *(name for name in self.plugins.relations if name not in listed.values))

    def abstract_types(self) -> tuple[str, ...]:
        """Types without values, beyond those that every domain has: plug-ins say what they are."""
        known = {*BASE_TYPES, self.relation_type, *self.plugins.attributes}
        return tuple(name for name, entry in self.types.items() if entry is None and name not in known)

    def plain_types(self) -> Mapping[str, tuple[str, ...]]:
        """Types with values that are neither attributes nor the relation type."""
        names = [name for name, entry in self.types.items() if entry is not None and name != self.relation_type]
        found = {name: ValueReader(self.findings) for name in names if not self._is_attribute(name)}
        for name, reader in found.items():
            self._read_values(reader, name, _PLAIN_DETAILS)
        return MappingProxyType({name: tuple(reader.values) for name, reader in found.items()})

    def _relation_type(self) -> str:
        side_inputs = self._side_inputs("relate")
        return str(side_inputs[0]) if side_inputs else DEFAULT_RELATION_TYPE

    def _side_inputs(self, function: str) -> list[Any]:
        """Of the declared function of this name; empty where there is none, or it takes none."""
        for i, record in enumerate(self.functions):
            given = record.get("side_inputs") or []
            if record.get("name") != function or not given:
                continue
            if isinstance(given, list):
                return given
            self.findings.fault(f"functions[{i}].side_inputs", f"expected a list of types, found {describe(given)}")
        return []

    def _is_attribute(self, type_name: str) -> bool:
        if type_name == self.relation_type:
            return False
        entry, name = self.types.get(type_name), type_name.lower()
        if isinstance(entry, Mapping) and entry.get("attribute") is False:
            return False
        is_used = bool({f"filter_{name}", f"query_{name}"} & self.function_names)
        return is_used or not self.functions or type_name in self.plugins.attributes

    def _head_noun(self, names: list[str]) -> str | None:
        """The type that defaults to "thing": none, when the metadata gives any `null` word of its own."""
        if any(_has_details(entry) and entry.get("null") for entry in self.types.values()):
            return None
        side_inputs = self._side_inputs("filter")
        if side_inputs:
            return str(side_inputs[-1])
        return names[-1] if names else None

    def _attribute(self, name: str, null: str) -> Attribute:
        path, entry, findings = f"types.{name}", self.types[name], self.findings
        details = entry if _has_details(entry) else {}
        reader = ValueReader(findings)
        self._read_values(reader, name, _DETAILS)
        reader.read_parents(findings.words(details.get("parents", {}), f"{path}.parents"), f"{path}.parents")
        found = Attribute(
            name=name.lower(),
            type=name,
            key=findings.text_at(details.get("key", name.lower()), f"{path}.key", may_be_empty=False),
            values=tuple(reader.values),
            null=findings.text_at(details.get("null", null), f"{path}.null"),
            parents=MappingProxyType(reader.parents),
            display=MappingProxyType(findings.words(details.get("display", {}), f"{path}.display")),
            multi=findings.flag(details.get("multi", False), f"{path}.multi"),
            optional=findings.flag(details.get("optional", False), f"{path}.optional"),
            compute=self.plugins.attributes[name].compute if name in self.plugins.attributes else None,
        )
        findings.flag(details.get("attribute", True), f"{path}.attribute")
        self._check_display(found, path)
        self._check_same_values(found, path)
        return found

    def _read_values(self, reader: ValueReader, name: str, known: tuple[str, ...]) -> None:
        """Read the values of a type in any form, and doubt what its entry says besides."""
        path, entry, problems = f"types.{name}", self.types[name], len(self.findings.problems)
        forms = "null, a list of values, {group: [values]} or {'values': [...]}"
        if _has_details(entry):
            self.findings.strange_keys(entry, known, path)
            entry, path, forms = entry["values"], f"{path}.values", "a list of values or {group: [values]}"
        elif isinstance(entry, Mapping) and (close := nearest("values", entry)):
            self.findings.doubt(f"{path}.{close}", f"{close!r} is taken for a group of values; is 'values' meant?")
        if isinstance(entry, list | Mapping):
            reader.read(entry, path)
        if not reader.values and len(self.findings.problems) == problems:
            self.findings.fault(path, f"expected {forms}; found {describe(entry)}")

    def _check_display(self, attribute: Attribute, path: str) -> None:
        for value in attribute.display:
            if value not in attribute.values:
                self.findings.fault(f"{path}.display.{value}", unknown("value", value, attribute.values))

    def _check_names(self, names: list[str]) -> None:
        """Functions are named for types in lower case, so types must differ in more than the case."""
        for i, name in enumerate(names):
            if name in BASE_TYPES:
                self.findings.fault(f"types.{name}", f"{name} is no attribute: expected null")
            if name.lower() in [earlier.lower() for earlier in names[:i]]:
                message = f"a type called {name.lower()!r}, but for the case, is there already"
                self.findings.fault(f"types.{name}", message)

    # Plug-ins -----------------------------------------------------------------------------------------------------

    def _computed(self, declared: ComputedAttribute) -> Attribute | None:
        """An attribute that only a plug-in declares; as its records say nothing of it, it may be missing."""
        findings = Findings(declared.source or "plug-in")
        reader = ValueReader(findings)
        reader.read(list(declared.values), f"attribute {declared.type}")
        if not declared.values:
            message = f"no values: list them in its decorator, or under types.{declared.type} of the metadata"
            findings.fault(f"attribute {declared.type}", message)
        if declared.type in (*BASE_TYPES, self.relation_type):
            findings.fault(f"attribute {declared.type}", f"{declared.type} is a type of another kind")
        if declared.line:
            findings.problems = [replace(each, line=declared.line, column=1) for each in findings.problems]
        self.findings.problems += findings.problems
        if findings.problems:
            return None
        name = declared.type.lower()
        return Attribute(name, declared.type, name, declared.values, "", optional=True, compute=declared.compute)

    def _check_same_values(self, attribute: Attribute, path: str) -> None:
        """Of an attribute of the metadata that a plug-in computes."""
        computed = self.plugins.attributes.get(attribute.type)
        if (
            computed
            and computed.values
            and sorted(computed.values) not in map(sorted, (attribute.values, attribute.leaves))
        ):
            listed = ", ".join(map(str, computed.values))
            self.findings.fault(path, f"other values than in the plug-in that computes it, which lists: {listed}")

    # Words --------------------------------------------------------------------------------------------------------

    def plurals(self) -> Mapping[str, str]:
        """Word -> its plural."""
        return MappingProxyType(self.findings.words(self.metadata.get("plurals", {}), "plurals"))

    def synonyms(self) -> Mapping[str, Any]:
        """The section as written; `language` reads it."""
        return self.findings.mapping(self.metadata.get("synonyms", {}), "synonyms")

    def rewrites(self) -> tuple[Rewrite, ...]:
        """Patterns and what replaces them in finished text."""
        records = self.findings.records(self.metadata.get("rewrites", []), "rewrites")
        return tuple(found for i, record in enumerate(records) for found in self._rewrite(record, f"rewrites[{i}]"))

    def _rewrite(self, record: Mapping[str, Any], path: str) -> Iterator[Rewrite]:
        problems = len(self.findings.problems)
        self.findings.strange_keys(record, ("pattern", "replace", "comment"), path)
        pattern = self.findings.text_at(record.get("pattern"), f"{path}.pattern", may_be_empty=False)
        replace = self.findings.text_at(record.get("replace"), f"{path}.replace")
        if len(self.findings.problems) > problems:
            return
        at = f"{path}.pattern"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # of patterns that a later Python may read differently
                compiled = re.compile(pattern)
            at = f"{path}.replace"
            compiled.sub(replace, "")
        except (re.error, IndexError, RecursionError, OverflowError) as error:
            kind = "a regular expression" if at.endswith("pattern") else "a replacement for this pattern"
            self.findings.fault(at, f"not {kind}: {error}")
        else:
            yield compiled, replace


def _has_details(entry: object) -> bool:
    """Whether a type's entry is `{"values": …, …}`; any other object is groups of values."""
    return isinstance(entry, Mapping) and "values" in entry
