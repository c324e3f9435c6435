"""Read the vocabulary of a metadata record (see `domain` for its form), noting every mistake.

The JSON Schema of metadata finds faults of form. A part that has one is noted and then read as if it were absent, so
that the rules below, which the schema cannot tell, are still applied to the others: names that must exist, and names
that must not stand twice.

The values of a type can be written in several forms:

* a list: `["suv", "van"]`;
* groups: `{"vehicle": {"car": ["suv", "van"], "bike": []}}`, to any depth, also as members of a list. A group is a
  value itself, and comes before its members. An entry without members is no group;
* either of them with `parents`, from a value to its group: `{"suv": "car"}`. A group that is not among the values is
  added after them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vqagen.errors import InputWarning, VqagenError, describe, nearest, unknown
from vqagen.files.parsing import parse_json, read_text
from vqagen.files.schema import Findings, content_of, malformed, without
from vqagen.plugin import ComputedAttribute, Declarations
from vqagen.world.attribute import Attribute

HEAD_NOUN = "thing"
DEFAULT_RELATION_TYPE = "Relation"
ATTRIBUTES, PLUGINS = "attributes", "plugins"
BASE_TYPES = ("Object", "ObjectSet", "Integer", "Bool")

_SECTIONS = (
    "dataset", "language", "answers", "types", ATTRIBUTES, "functions", PLUGINS, "plurals", "rewrites", "synonyms",
    "reasoning", "sampling", "render", "viewpoint", "comment", "$schema",
)  # fmt: skip
_PLAIN_DETAILS = ("values", "attribute", "placeholder", "comment")
_DETAILS = (*_PLAIN_DETAILS, "key", "null", "parents", "display", "multi", "optional")


class MetadataReader:
    """Reader of the parts of a metadata record; their faults go to `findings`."""

    def __init__(self, metadata: object, findings: Findings, plugins: Declarations) -> None:
        self.findings, self.plugins = findings, plugins
        self.metadata: Mapping[str, Any] = metadata if isinstance(metadata, Mapping) else {}
        self.section = section_of_types(self.metadata)
        findings.strange_keys(self.metadata, _SECTIONS, "", only_close=True)
        elsewhere = {"sampling", "render", ATTRIBUTES} - {self.section}  # read elsewhere, or not at all
        read = {key: part for key, part in self.metadata.items() if key not in elsewhere}
        wrong = malformed(read if isinstance(metadata, Mapping) else metadata, "metadata", depth=2)
        self.sound: Mapping[str, Any] = without(read, wrong)
        """The record without the parts of wrong form."""
        self.types = content_of(self.sound.get(self.section))
        self.functions: Sequence[Mapping[str, Any]] = self.sound.get("functions", ())
        self.function_names = {str(record.get("name", "")) for record in self.functions if _is_of_objects(record)}
        self.relation_type = self._relation_type()
        for part, faults in wrong.items():
            entry = self.metadata[self.section][part[1]] if part[:1] == (self.section,) and len(part) > 1 else None
            if close := _misspelt_values(entry):  # the keys beside it are no groups
                findings.fault(f"{self.section}.{part[1]}.{close}", unknown("key", close, _DETAILS))
            else:
                findings.faults(faults)

    # Types --------------------------------------------------------------------------------------------------------

    def attributes(self) -> tuple[Attribute, ...]:
        """Return the attributes of the metadata, then those that only a plug-in declares."""
        declared = [name for name, entry in self.types.items() if entry is not None and self._is_attribute(name)]
        head = self._head_noun(declared)
        attributes = [self._attribute(name, HEAD_NOUN if name == head else "") for name in declared]
        computed = [each for name, each in self.plugins.attributes.items() if name not in declared]
        attributes += filter(None, map(self._computed, computed))
        if not attributes and not self.findings.problems:
            self.findings.fault(self.section, "no attribute: expected at least one type with a list of values")
        self._check_names([attribute.type for attribute in attributes])
        return tuple(attributes)

    def relations(self) -> tuple[str, ...]:
        """Return the relations of the metadata, then those that only a plug-in declares."""
        listed = self._values_of(self.relation_type, _PLAIN_DETAILS)
        if listed.parents:
            path = f"{self.section}.{self.relation_type}"
            self.findings.fault(path, "relations have no groups; expected a list of them")
        return (*listed.values, *(name for name in self.plugins.relations if name not in listed.values))

    def abstract_types(self) -> tuple[str, ...]:
        """Return types without values beyond those that every domain has: plug-ins define them."""
        known = {*BASE_TYPES, self.relation_type, *self.plugins.attributes}
        return tuple(name for name, entry in self.types.items() if entry is None and name not in known)

    def plain_types(self) -> Mapping[str, tuple[str, ...]]:
        """Return types with values that are neither attributes nor the relation type."""
        plain = [name for name, entry in self.types.items() if entry is not None and not self._is_attribute(name)]
        values = {name: self._values_of(name, _PLAIN_DETAILS).values for name in plain if name != self.relation_type}
        return MappingProxyType({name: tuple(listed) for name, listed in values.items()})

    def _relation_type(self) -> str:
        side_inputs = self._side_inputs("relate")
        named = [name for name in self.types if name.startswith("relate")] if self.section == ATTRIBUTES else []
        return str((*side_inputs, *named, DEFAULT_RELATION_TYPE)[0])

    def _side_inputs(self, function: str) -> Sequence[str]:
        """Return the side inputs of the declared function of this name; none without such a function."""
        listed = (record.get("side_inputs") for record in self.functions if record.get("name") == function)
        return next(filter(None, listed), ())

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
        return next(reversed(self._side_inputs("filter") or names), None)

    def _attribute(self, name: str, null: str) -> Attribute:
        path, entry = f"{self.section}.{name}", self.types[name]
        details = entry if _has_details(entry) else {}
        reader = self._values_of(name, _DETAILS)
        reader.read_parents(content_of(details.get("parents")), f"{path}.parents")
        computed = self.plugins.attributes.get(name)
        attribute = Attribute(
            name=name.lower(),
            type=name,
            key=details.get("key", name.lower()),
            values=tuple(reader.values),
            null=details.get("null", null),
            parents=MappingProxyType(reader.parents),
            display=MappingProxyType(content_of(details.get("display"))),
            multi=details.get("multi", False),
            optional=details.get("optional", False),
            compute=computed.compute if computed else None,
        )
        for value in attribute.display:
            if value not in attribute.values:
                self.findings.fault(f"{path}.display.{value}", unknown("value", value, attribute.values))
        given = sorted(computed.values if computed else ())
        if given and given not in (sorted(attribute.values), sorted(attribute.leaves)):
            message = f"values differ from those of the plug-in that computes it: {', '.join(given)}"
            self.findings.fault(path, message)
        return attribute

    def _values_of(self, name: str, known: tuple[str, ...]) -> ValueReader:
        """Read the values of a type in any form; doubt unknown details of its entry."""
        path, reader = f"{self.section}.{name}", ValueReader(self.findings)
        entry: Any = self.types.get(name)
        if _has_details(entry):
            self.findings.strange_keys(entry, known, path)
            path, entry = f"{path}.values", entry["values"]
        elif close := _misspelt_values(entry):
            self.findings.doubt(f"{path}.{close}", f"{close!r} is taken for a group of values; did you mean 'values'?")
        reader.read(entry, path)
        if isinstance(entry, Mapping) and not reader.values:
            self.findings.fault(path, "expected values, found a comment alone")
        return reader

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

    def _computed(self, declared: ComputedAttribute) -> Attribute | None:
        """Return an attribute that only a plug-in declares. It is optional, as the metadata says nothing of it."""
        findings, place = Findings(declared.source or "plug-in"), f"attribute {declared.type}"
        ValueReader(findings).read(declared.values, place)
        if not declared.values:
            message = f"no values: list them in its decorator, or under {self.section}.{declared.type} of the metadata"
            findings.fault(place, message)
        if declared.type in (*BASE_TYPES, self.relation_type):
            findings.fault(place, f"{declared.type} is a type of another kind")
        if findings.problems:
            line, column = (declared.line, 1) if declared.line else (None, None)
            self.findings.problems += [replace(problem, line=line, column=column) for problem in findings.problems]
            return None
        name = declared.type.lower()
        return Attribute(name, declared.type, name, declared.values, "", optional=True, compute=declared.compute)


def section_of_types(metadata: Mapping[str, Any]) -> str:
    """Return the key of the types: "types" or, as in CLEAR, "attributes"."""
    return ATTRIBUTES if "types" not in metadata and ATTRIBUTES in metadata else "types"


def _is_of_objects(declared: Mapping[str, Any]) -> bool:
    """True unless a declared function's first input is of a type other than objects, such as Part."""
    inputs = declared.get("inputs")
    return not inputs or nearest(inputs[0], ("Object", "ObjectSet")) is not None


def _has_details(entry: object) -> bool:
    """True if a type's entry is `{"values": …, …}`; any other object is groups of values."""
    return isinstance(entry, Mapping) and "values" in entry


def _misspelt_values(entry: object) -> str | None:
    """Return the key of a type's entry that may be meant for `values`."""
    return nearest("values", entry) if isinstance(entry, Mapping) and not _has_details(entry) else None


# Values of a type ---------------------------------------------------------------------------------------------------


class ValueReader:
    """Reader of the values of one type into `values` (in order) and `parents`, which are as in `Attribute`."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.values: dict[str, None] = {}
        self.parents: dict[str, str] = {}

    def read(self, given: Mapping[str, Any] | Sequence[Any] | None, path: str, group: str = "") -> None:
        """Add values of either form that lie inside a `group`."""
        if isinstance(given, Mapping):
            for name, members in content_of(given).items():
                self._add(name, f"{path}.{name}", group)
                self.read(members, f"{path}.{name}", name)
        else:
            for i, member in enumerate(given or ()):
                read = self.read if isinstance(member, Mapping) else self._add
                read(member, f"{path}[{i}]", group)

    def _add(self, value: str, path: str, group: str) -> None:
        if value in self.values:
            self.findings.fault(path, f"value {value!r} is listed twice")
            return
        self.values[value] = None
        if group:
            self.parents[value] = group

    def read_parents(self, given: Mapping[str, str], path: str) -> None:
        """Put values into the groups that `parents` gives them."""
        self.values |= dict.fromkeys(group for group in given.values() if group not in self.values)
        for value, group in given.items():
            here = f"{path}.{value}"
            if value not in self.values:
                self.findings.fault(here, unknown("value", value, list(self.values)))
            elif self.parents.setdefault(value, group) != group:
                self.findings.fault(here, f"value {value!r} is in two groups, {self.parents[value]!r} and {group!r}")
        try:
            TopologicalSorter({value: [group] for value, group in self.parents.items()}).prepare()
        except CycleError as error:
            circle = error.args[1][::-1]  # graphlib begins at a group, and goes down
            self.findings.fault(f"{path}.{circle[0]}", f"groups in a circle: {' in '.join(circle)}")


# Plug-ins and rewrites ----------------------------------------------------------------------------------------------


def plugins_named_by(metadata: Path) -> tuple[Path, ...]:
    """Return the plug-ins that a metadata file names and that exist. `load_domain` reports what is wrong with names."""
    document: object = None
    with warnings.catch_warnings(), suppress(VqagenError):
        warnings.simplefilter("ignore", InputWarning)
        document = parse_json(read_text(metadata), str(metadata))
    names, unheard = content_of(document).get(PLUGINS), Findings(str(metadata))
    plugins = [find_beside(name, metadata.parent, "", unheard) for name in (names if isinstance(names, list) else ())]
    return tuple(filter(None, plugins))


def find_beside(name: object, folder: Path | None, place: str, findings: Findings) -> Path | None:
    """Return the file that metadata in `folder` names at a `place`. None for what is no name, and for a fault."""
    if not isinstance(name, str):
        return None
    if folder is None:
        findings.fault(place, f"only a metadata file can name other files, found {describe(name)}")
    elif Path(name).is_absolute():
        findings.fault(place, f"expected a path beside this file, found the absolute path {describe(name)}")
    else:
        with suppress(OSError, ValueError):  # a name that is too long, or holds a null byte
            if (folder / name).is_file():
                return folder / name
        close = nearest(name, sorted(path.name for path in folder.glob("*") if path.suffix == Path(name).suffix))
        hint = f"; did you mean {close!r}?" if close else f"; it is looked for in {folder}"
        findings.fault(place, f"no such file: {describe(name)}{hint}")
    return None


def read_rewrites(listed: Sequence[Mapping[str, str]], findings: Findings) -> Iterator[tuple[re.Pattern[str], str]]:
    """Yield patterns and their replacements in finished text."""
    for i, rewrite in enumerate(listed):
        place = f"rewrites[{i}]"
        findings.strange_keys(rewrite, ("pattern", "replace", "comment"), place)
        if rewrite:  # not one of wrong form
            at, kind = "pattern", "a regular expression"
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FutureWarning)  # of patterns that a later Python reads differently
                    compiled = re.compile(rewrite["pattern"])
                at, kind = "replace", "a replacement for this pattern"
                compiled.sub(rewrite["replace"], "")
            except (re.error, IndexError, RecursionError, OverflowError) as error:
                findings.fault(f"{place}.{at}", f"not {kind}: {error}")
            else:
                yield compiled, rewrite["replace"]
