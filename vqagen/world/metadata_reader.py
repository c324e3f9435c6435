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
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vqagen.errors import InputWarning, VqagenError, collecting, describe, nearest, unknown
from vqagen.files.parsing import parse_json, read_text
from vqagen.files.schema import ShapeFault
from vqagen.plugin import ComputedAttribute, Declarations
from vqagen.world.attribute import Attribute
from vqagen.world.findings import Findings, content_of, malformed, without

HEAD_NOUN = "thing"
DEFAULT_RELATION_TYPE = "Relation"
ATTRIBUTES = "attributes"
BASE_TYPES = ("Object", "ObjectSet", "Integer", "Bool")

_SECTIONS = (
    "dataset", "language", "answers", "types", ATTRIBUTES, "functions", "plugins", "plurals", "rewrites", "synonyms",
    "sampling", "render", "comment", "$schema",
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
        read = {key: each for key, each in self.metadata.items() if key not in elsewhere}
        wrong = malformed(read if isinstance(metadata, Mapping) else metadata, "metadata", depth=2)
        self.sound: Mapping[str, Any] = without(read, wrong)
        """The record without the parts of wrong form."""
        self.types = content_of(self.sound.get(self.section))
        self.functions: Sequence[Mapping[str, Any]] = self.sound.get("functions", ())
        self.function_names = {str(record.get("name", "")) for record in self.functions if _is_of_objects(record)}
        self.relation_type = self._relation_type()
        self.strange: dict[str, str] = {}
        """Plain types whose entries have no form of ours, and what is wrong with them."""
        self.wordings: list[str] = []
        """Entries that are no types but the wording of an attribute's values; known after `attributes`."""
        for part, faults in wrong.items():
            self._note_form(part, faults)

    def _note_form(self, part: Sequence[str | int], faults: Sequence[ShapeFault]) -> None:
        """Note the faults of form of a part, unless something else is meant to be said of it."""
        if len(part) < 2 or part[0] != self.section:
            self.findings.faults(faults)
            return
        name = str(part[1])
        entry, path = self.metadata[self.section][name], f"{self.section}.{name}"
        close = _misspelt_values(entry)
        if name == self.relation_type and isinstance(entry, Mapping) and not _has_details(entry):
            self.findings.fault(path, "relations have no groups; expected a list of them")
        elif not (self._is_attribute(name) or name == self.relation_type or _has_details(entry)):
            self.strange[name] = unknown("key", close, _DETAILS) if close else faults[0].message
        elif close:  # the keys beside it are no groups
            self.findings.fault(f"{path}.{close}", unknown("key", close, _DETAILS))
        else:
            self.findings.faults(faults)

    # Types --------------------------------------------------------------------------------------------------------

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
        listed = self._values_of(self.relation_type, _PLAIN_DETAILS, self.findings)
        if listed.parents:
            path = f"{self.section}.{self.relation_type}"
            self.findings.fault(path, "relations have no groups; expected a list of them")
        return (*listed.values, *(name for name in self.plugins.relations if name not in listed.values))

    def abstract_types(self) -> tuple[str, ...]:
        """Return types without values beyond those that every domain has: plug-ins define them."""
        known = {*BASE_TYPES, self.relation_type, *self.plugins.attributes}
        return tuple(name for name, entry in self.types.items() if entry is None and name not in known)

    def plain_types(self) -> Mapping[str, tuple[str, ...]]:
        """Return types with values that are neither attributes nor the relation type.

        Entries of other generators are left out with a warning.
        """
        found = {}
        for name, entry in self.types.items():
            if entry is not None and name != self.relation_type and not self._is_attribute(name):
                of_type = self.findings if _has_details(entry) else Findings("")
                reader = self._values_of(name, _PLAIN_DETAILS, of_type)
                if of_type.problems and of_type is not self.findings:
                    self.strange[name] = of_type.problems[0].message
                else:
                    found[name] = tuple(reader.values)
        for name, message in self.strange.items():
            if name not in self.wordings:
                self.findings.doubt(f"{self.section}.{name}", f"{message}; templates cannot use this type")
        return MappingProxyType(found)

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
        reader = self._values_of(name, _DETAILS, self.findings)
        reader.read_parents(content_of(details.get("parents")), f"{path}.parents")
        computed = self.plugins.attributes.get(name)
        found = Attribute(
            name=name.lower(),
            type=name,
            key=details.get("key", name.lower()),
            values=tuple(reader.values),
            null=details.get("null", null),
            parents=MappingProxyType(reader.parents),
            display=MappingProxyType(self._display(reader.values) | content_of(details.get("display"))),
            multi=details.get("multi", False),
            optional=details.get("optional", False),
            compute=computed.compute if computed else None,
        )
        for value in found.display:
            if value not in found.values:
                self.findings.fault(f"{path}.display.{value}", unknown("value", value, found.values))
        given = sorted(computed.values if computed else ())
        if given and given not in (sorted(found.values), sorted(found.leaves)):
            message = f"values differ from those of the plug-in that computes it: {', '.join(given)}"
            self.findings.fault(path, message)
        return found

    def _display(self, values: Collection[str]) -> dict[str, str]:
        """Return value -> wording from a type {value: words}, as in Super-CLEVR."""
        said: dict[str, str] = {}
        for name in self.strange:
            words = self.metadata[self.section][name]
            pairs = words.items() if isinstance(words, Mapping) else ()
            if pairs and all(value in values and isinstance(each, str) for value, each in pairs):
                self.wordings.append(name)
                said.update(words)
        return said

    def _values_of(self, name: str, known: tuple[str, ...], findings: Findings) -> ValueReader:
        """Read the values of a type in any form, with `findings` about them; doubt unknown details of its entry."""
        path, reader = f"{self.section}.{name}", ValueReader(findings)
        entry: Any = self.types.get(name)
        if _has_details(entry):
            self.findings.strange_keys(entry, known, path)
            path, entry = f"{path}.values", entry["values"]
        elif close := _misspelt_values(entry):
            self.findings.doubt(f"{path}.{close}", f"{close!r} is taken for a group of values; did you mean 'values'?")
        reader.read(entry, path)
        if isinstance(entry, Mapping) and not reader.values:
            findings.fault(path, "expected values, found a comment alone")
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


# Other files ----------------------------------------------------------------------------------------------------------

PLUGINS = "plugins"
WORDS = ("plurals", "rewrites")
"""Sections of the metadata that may be files of their own."""
Rewrite = tuple[re.Pattern[str], str]


def files_named_by(metadata: Path) -> tuple[tuple[Path, ...], dict[str, Path]]:
    """Return the plug-ins that a metadata file names, and the files of words by section; of both, those that exist.

    `load_domain` reports what is wrong with names.
    """
    document: object = None
    with warnings.catch_warnings(), suppress(VqagenError):
        warnings.simplefilter("ignore", InputWarning)
        document = parse_json(read_text(metadata), str(metadata))
    named, unheard = content_of(document), Findings(str(metadata))
    listed = named.get(PLUGINS)
    plugins = [find_beside(name, metadata.parent, "", unheard) for name in (listed if isinstance(listed, list) else ())]
    words = {section: find_beside(named.get(section), metadata.parent, "", unheard) for section in WORDS}
    return tuple(filter(None, plugins)), {section: path for section, path in words.items() if path}


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
        close = nearest(name, sorted(each.name for each in folder.glob("*") if each.suffix == Path(name).suffix))
        hint = f"; did you mean {close!r}?" if close else f"; it is looked for in {folder}"
        findings.fault(place, f"no such file: {describe(name)}{hint}")
    return None


def _section(
    name: str, record: Mapping[str, Any], folder: Path | None, findings: Findings
) -> tuple[Any, Findings, str]:
    """Return a section of words, the findings of its file and its JSON path there; None where there is none.

    It is read from its file if the metadata in `folder` (None: metadata that is no file) names one.
    """
    value = record.get(name)
    if not isinstance(value, str):
        return value, findings, name
    path = find_beside(value, folder, name, findings)
    if path is None:
        return None, findings, name
    with collecting(findings.problems):
        text = read_text(path)
        content, of_file = {name: parse_json(text, str(path))}, findings.for_file(str(path), text)
        wrong = malformed(content, "metadata", "words", depth=2)
        for faults in wrong.values():
            of_file.faults(faults, inside=1)
        return without(content, wrong).get(name), of_file, ""
    return None, findings, name


def read_plurals(record: Mapping[str, Any], folder: Path | None, findings: Findings) -> Mapping[str, str]:
    """Return word -> its plural."""
    return MappingProxyType(dict(content_of(_section("plurals", record, folder, findings)[0])))


def read_rewrites(record: Mapping[str, Any], folder: Path | None, findings: Findings) -> Iterator[Rewrite]:
    """Yield patterns and their replacements in finished text."""
    listed, of_file, path = _section("rewrites", record, folder, findings)
    for i, rewrite in enumerate(listed or ()):
        place = f"{path}[{i}]"
        of_file.strange_keys(rewrite, ("pattern", "replace", "comment"), place)
        if rewrite:  # not one of wrong form
            at, kind = "pattern", "a regular expression"
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FutureWarning)  # of patterns that a later Python reads differently
                    compiled = re.compile(rewrite["pattern"])
                at, kind = "replace", "a replacement for this pattern"
                compiled.sub(rewrite["replace"], "")
            except (re.error, IndexError, RecursionError, OverflowError) as error:
                of_file.fault(f"{place}.{at}", f"not {kind}: {error}")
            else:
                yield compiled, rewrite["replace"]
