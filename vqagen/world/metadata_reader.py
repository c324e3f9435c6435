"""Read the vocabulary of a metadata record (see `domain` for its form), noting every mistake.

The values of a type can be written in several forms:

* a list: `["suv", "van"]`;
* groups: `{"vehicle": {"car": ["suv", "van"], "bike": []}}`, to any depth, also as members of a list. A group is a
  value itself, and comes before its members. An entry without members is no group;
* either of them with `parents`, from a value to its group: `{"suv": "car"}`. A group that is not among the values is
  added after them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from vqagen.errors import describe, nearest, unknown
from vqagen.plugin import ComputedAttribute, Declarations
from vqagen.world.attribute import Attribute
from vqagen.world.findings import Findings

HEAD_NOUN = "thing"
DEFAULT_RELATION_TYPE = "Relation"
ATTRIBUTES = "attributes"
BASE_TYPES = ("Object", "ObjectSet", "Integer", "Bool")

_SECTIONS = (
    "dataset", "types", ATTRIBUTES, "functions", "plugins", "plurals", "rewrites", "synonyms", "sampling", "comment",
    "$schema",
)  # fmt: skip
_DETAILS = ("values", "key", "null", "parents", "display", "multi", "optional", "attribute", "placeholder", "comment")
_RELATION_DETAILS = ("values", "placeholder", "comment")
_PLAIN_DETAILS = ("values", "attribute", "placeholder", "comment")


class MetadataReader:
    """Reader of the parts of a metadata record; their faults go to `findings`."""

    def __init__(self, metadata: object, findings: Findings, plugins: Declarations) -> None:
        self.findings, self.plugins = findings, plugins
        self.metadata = findings.mapping(metadata, "")
        findings.strange_keys(self.metadata, _SECTIONS, "", only_close=True)
        self.section = section_of_types(self.metadata)
        types = self._types() if isinstance(metadata, Mapping) else {}
        self.types = {name: entry for name, entry in types.items() if name != "comment"}
        self.functions = findings.records(self.metadata.get("functions", []), "functions")
        self.function_names = {str(record.get("name", "")) for record in self.functions if _is_of_objects(record)}
        self.relation_type = self._relation_type()
        self.wordings: list[str] = []
        """Entries that are no types but the wording of an attribute's values; known after `attributes`."""

    # Types --------------------------------------------------------------------------------------------------------

    def _types(self) -> Mapping[str, Any]:
        if self.section in self.metadata:
            return self.findings.mapping(self.metadata[self.section], self.section)
        close = nearest("types", self.metadata)
        self.findings.fault("", "missing key 'types'" + (f" (found {close!r})" if close else ""))
        return {}

    def attributes(self) -> tuple[Attribute, ...]:
        """Return the attributes of the metadata, then those that only a plug-in declares."""
        declared = [name for name, entry in self.types.items() if entry is not None and self._is_attribute(name)]
        head = self._head_noun(declared)
        found = [self._attribute(name, HEAD_NOUN if name == head else "") for name in declared]
        found += [
            attribute
            for name, computed in self.plugins.attributes.items()
            if name not in declared and (attribute := self._computed(computed))
        ]
        if not found and not self.findings.problems:
            self.findings.fault(self.section, "no attribute: expected at least one type with a list of values")
        self._check_names([attribute.type for attribute in found])
        return tuple(found)

    def relations(self) -> tuple[str, ...]:
        """Return the relations of the metadata, then those that only a plug-in declares."""
        entry, listed = self.types.get(self.relation_type), ValueReader(self.findings)
        written = entry.get("values", entry) if isinstance(entry, Mapping) else entry
        is_grouped = isinstance(written, Mapping)
        if entry is not None and not is_grouped:
            self._read_values(listed, self.relation_type, _RELATION_DETAILS)
        if is_grouped or listed.parents:
            path = f"{self.section}.{self.relation_type}"
            self.findings.fault(path, "relations have no groups; expected a list of them")
        return (*listed.values, *(name for name in self.plugins.relations if name not in listed.values))

    def abstract_types(self) -> tuple[str, ...]:
        """Return types without values beyond those that every domain has: plug-ins define them."""
        known = {*BASE_TYPES, self.relation_type, *self.plugins.attributes}
        return tuple(name for name, entry in self.types.items() if entry is None and name not in known)

    def plain_types(self) -> Mapping[str, tuple[str, ...]]:
        """Return types with values that are neither attributes nor the relation type."""
        names = [name for name, entry in self.types.items() if entry is not None and name != self.relation_type]
        found = {name: self._plain_values(name) for name in names if not self._is_attribute(name)}
        return MappingProxyType({name: values for name, values in found.items() if values})

    def _plain_values(self, name: str) -> tuple[str, ...]:
        """Return the values of a plain type. Entries of other generators are left out with a warning."""
        if name in self.wordings:
            return ()
        problems, reader = len(self.findings.problems), ValueReader(self.findings)
        self._read_values(reader, name, _PLAIN_DETAILS)
        found = self.findings.problems[problems:]
        if not found or _has_details(self.types[name]):
            return tuple(reader.values)
        del self.findings.problems[problems:]
        self.findings.doubt(f"{self.section}.{name}", f"{found[0].message}; templates cannot use this type")
        return ()

    def _relation_type(self) -> str:
        side_inputs = self._side_inputs("relate")
        named = [name for name in self.types if name.startswith("relate")] if self.section == ATTRIBUTES else []
        return str((*side_inputs, *named, DEFAULT_RELATION_TYPE)[0])

    def _side_inputs(self, function: str) -> list[Any]:
        """Return the side inputs of the declared function of this name; none without such a function."""
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
        """Return the type whose `null` is "thing" by default; None if the metadata gives any `null` itself."""
        if any(_has_details(entry) and entry.get("null") for entry in self.types.values()):
            return None
        side_inputs = self._side_inputs("filter")
        if side_inputs:
            return str(side_inputs[-1])
        return names[-1] if names else None

    def _attribute(self, name: str, null: str) -> Attribute:
        path, entry, findings = f"{self.section}.{name}", self.types[name], self.findings
        details = entry if _has_details(entry) else {}
        reader = ValueReader(findings)
        self._read_values(reader, name, _DETAILS)
        parents = findings.words(details.get("parents", {}), f"{path}.parents", "the value's group as text")
        reader.read_parents(parents, f"{path}.parents")
        found = Attribute(
            name=name.lower(),
            type=name,
            key=findings.text_at(details.get("key", name.lower()), f"{path}.key", may_be_empty=False),
            values=tuple(reader.values),
            null=findings.text_at(details.get("null", null), f"{path}.null"),
            parents=MappingProxyType(reader.parents),
            display=MappingProxyType(self._display(name, reader.values)),
            multi=findings.flag(details.get("multi", False), f"{path}.multi"),
            optional=findings.flag(details.get("optional", False), f"{path}.optional"),
            compute=self.plugins.attributes[name].compute if name in self.plugins.attributes else None,
        )
        findings.flag(details.get("attribute", True), f"{path}.attribute")
        self._check_display(found, path)
        self._check_same_values(found, path)
        return found

    def _display(self, name: str, values: Collection[str]) -> dict[str, str]:
        """Return value -> wording from the type's entry or, as in Super-CLEVR, from a type {value: words}."""
        entry = self.types[name]
        said: dict[str, str] = {}
        for other, words in self.types.items():
            if isinstance(words, Mapping) and not self._is_attribute(other) and _are_words(words, values):
                self.wordings.append(other)
                said.update(words)
        own = entry.get("display", {}) if _has_details(entry) else {}
        return said | self.findings.words(own, f"{self.section}.{name}.display")

    def _read_values(self, reader: ValueReader, name: str, known: tuple[str, ...]) -> None:
        """Read the values of a type in any form, and doubt unknown details of its entry."""
        path, entry, problems = f"{self.section}.{name}", self.types[name], len(self.findings.problems)
        forms = "null, a list of values, {group: [values]} or {'values': [...]}"
        if _has_details(entry):
            self.findings.strange_keys(entry, known, path)
            entry, path, forms = entry["values"], f"{path}.values", "a list of values or {group: [values]}"
        close = nearest("values", entry) if isinstance(entry, Mapping) and not _has_details(self.types[name]) else None
        if isinstance(entry, list | Mapping):
            reader.read(entry, path)
        if close and len(self.findings.problems) > problems:  # the keys beside it are no groups
            del self.findings.problems[problems:]
            self.findings.fault(f"{path}.{close}", unknown("key", close, known))
        elif close:
            self.findings.doubt(f"{path}.{close}", f"{close!r} is taken for a group of values; did you mean 'values'?")
        if not reader.values and len(self.findings.problems) == problems:
            self.findings.fault(path, f"expected {forms}; found {describe(entry)}")

    def _check_display(self, attribute: Attribute, path: str) -> None:
        for value in attribute.display:
            if value not in attribute.values:
                self.findings.fault(f"{path}.display.{value}", unknown("value", value, attribute.values))

    def _check_names(self, names: list[str]) -> None:
        """Note types that differ in case alone: functions are named for types in lower case."""
        for i, name in enumerate(names):
            if name in BASE_TYPES:
                message = (
                    f"the name {name} is taken by what nodes give; give this type another name, or no values (null)"
                )
                self.findings.fault(f"{self.section}.{name}", message)
            if name.lower() in [earlier.lower() for earlier in names[:i]]:
                message = f"a type {name.lower()!r} in other case is declared already"
                self.findings.fault(f"{self.section}.{name}", message)

    # Plug-ins -----------------------------------------------------------------------------------------------------

    def _computed(self, declared: ComputedAttribute) -> Attribute | None:
        """Return an attribute that only a plug-in declares. It is optional, as the metadata says nothing of it."""
        findings = Findings(declared.source or "plug-in")
        reader = ValueReader(findings)
        reader.read(list(declared.values), f"attribute {declared.type}")
        if not declared.values:
            message = f"no values: list them in its decorator, or under {self.section}.{declared.type} of the metadata"
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
        """Note values of an attribute that differ from those of the plug-in that computes it."""
        computed = self.plugins.attributes.get(attribute.type)
        if (
            computed
            and computed.values
            and sorted(computed.values) not in map(sorted, (attribute.values, attribute.leaves))
        ):
            listed = ", ".join(map(str, computed.values))
            self.findings.fault(path, f"values differ from those of the plug-in that computes it: {listed}")

    def synonyms(self) -> Mapping[str, Any]:
        """Return the section as written; `language` reads it."""
        return self.findings.mapping(self.metadata.get("synonyms", {}), "synonyms")


def section_of_types(metadata: Mapping[str, Any]) -> str:
    """Return the key of the types: "types" or, as in CLEAR, "attributes"."""
    return ATTRIBUTES if "types" not in metadata and ATTRIBUTES in metadata else "types"


def _is_of_objects(declared: Mapping[str, Any]) -> bool:
    """True unless a declared function's first input is of a type other than objects, such as Part."""
    inputs = declared.get("inputs")
    first = inputs[0] if isinstance(inputs, list) and inputs else None
    return not isinstance(first, str) or nearest(first, ("Object", "ObjectSet")) is not None


def _are_words(entry: Mapping[str, Any], values: Collection[str]) -> bool:
    """True if a type's entry is the wording of some of these values."""
    return bool(entry) and all(value in values and isinstance(said, str) for value, said in entry.items())


def _has_details(entry: object) -> bool:
    """True if a type's entry is `{"values": …, …}`; any other object is groups of values."""
    return isinstance(entry, Mapping) and "values" in entry


# Values of a type ---------------------------------------------------------------------------------------------------


DEEPEST = 50
"""Most levels of groups inside groups: more than anyone needs, and few enough not to exhaust the stack."""


class ValueReader:
    """Reader of the values of one type into `values` (in order) and `parents`, which are as in `Attribute`."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.values: dict[str, None] = {}
        self.parents: dict[str, str] = {}

    def read(self, given: object, path: str, groups: tuple[str, ...] = ()) -> None:
        """Add values of either form that lie inside `groups`, the outermost first."""
        if len(groups) > DEEPEST:
            self.findings.fault(path, f"groups of values go no deeper than {DEEPEST}")
        elif isinstance(given, Mapping):
            for name, members in given.items():
                here = f"{path}.{name}"
                if name != "comment" and self._add(name, here, groups) and members is not None:
                    self.read(members, here, (*groups, name))
        elif isinstance(given, list):
            for i, member in enumerate(given):
                if isinstance(member, Mapping):
                    self.read(member, f"{path}[{i}]", groups)
                else:
                    self._add(member, f"{path}[{i}]", groups)
        else:
            expected = "a list of values, or an object from groups to their values"
            self.findings.fault(path, f"expected {expected}; found {describe(given)}")

    def _add(self, value: object, path: str, groups: tuple[str, ...]) -> bool:
        if not isinstance(value, str) or not value:
            self.findings.fault(path, f"expected a value as text, found {describe(value)}")
            return False
        if value in self.values:
            self.findings.fault(path, self._why_twice(value, groups))
            return False
        self.values[value] = None
        if groups:
            self.parents[value] = groups[-1]
        return True

    def _why_twice(self, value: str, groups: tuple[str, ...]) -> str:
        if value in groups:
            return f"group {value!r} lies inside itself"
        group, other = self.parents.get(value), groups[-1] if groups else None
        if group is None or other is None or group == other:
            return f"value {value!r} is listed twice"
        return f"value {value!r} is in two groups, {group!r} and {other!r}"

    def read_parents(self, given: Mapping[str, str], path: str) -> None:
        """Put values into the groups that `parents` gives them."""
        implied = [group for group in dict.fromkeys(given.values()) if group not in self.values]
        self.values |= dict.fromkeys(implied)
        for value, group in given.items():
            here = f"{path}.{value}"
            if value not in self.values:
                self.findings.fault(here, unknown("value", value, list(self.values)))
            elif self.parents.setdefault(value, group) != group:
                self.findings.fault(here, f"value {value!r} is in two groups, {self.parents[value]!r} and {group!r}")
        for circle in self._circles():
            self.findings.fault(f"{path}.{circle[0]}", f"groups in a circle: {' in '.join(circle)}")

    def _circles(self) -> Iterator[list[str]]:
        """Yield each circle of groups once, from one of its values back to the same value."""
        visited: set[str] = set()
        for value in self.values:
            trail: list[str] = []
            at: str | None = value
            while at is not None and at not in visited and at not in trail:
                trail.append(at)
                at = self.parents.get(at)
            if at is not None and at in trail:
                yield [*trail[trail.index(at) :], at]
            visited.update(trail)
