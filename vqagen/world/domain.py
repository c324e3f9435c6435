"""A domain: what can be true of objects. Read from a metadata file; the only place where a vocabulary exists.

Metadata is JSON in the CLEVR form. `types` maps a type name to null (no fixed values: Object, Integer, …), to values
in one of the forms of `value_forms`, or to an object with the key `values` and more to say. A type with values is

* a relation type, if some declared function named `relate…` takes it as a side input (or, where no functions are
  declared, if it is called Relation);
* otherwise an attribute, if `filter_<type>` or `query_<type>` is declared (or no functions are declared at all), or
  if a plug-in computes it, unless its entry says `"attribute": false`;
* otherwise a plain type: slots and the functions of plug-ins may use its values.

An attribute's `key` is where an object keeps its value (default: the type's name in lower case); `text.body` is
`body` inside of `text`. Its `null` is the word that stands for it when a question leaves it open; by default "thing"
for the head noun, which is the last side input of the declared `filter` (or the last attribute, where it is not
declared), and "" for every other attribute. `parents` puts values into groups, `display` says values otherwise than
as themselves, `multi` is for a list of values, `optional` for what an object may lack.

The types may stand under `attributes` in place of `types`, as CLEAR writes them: there the relation type is the one
whose name begins with "relate", and slots are filled unless a template says otherwise (`can_be_null_attributes`). An
entry {value: words} under the name of a type that nothing else declares is the `display` of the attribute whose values
these are.

Further sections: `plugins` (Python files beside the metadata), `plurals` (word -> plural), `rewrites` (`pattern` and
`replace` for finished text), `synonyms` (as a synonyms file), `sampling` (see `sampling_rules`). Plurals and rewrites
may be the name of a JSON file beside the metadata. Other keys are kept in `Domain.record`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vqagen.errors import Problem
from vqagen.json.parsing import parse_json, read_text
from vqagen.plugin import NO_PLUGINS, Declarations
from vqagen.world.attribute import Attribute, Compute, Recorded
from vqagen.world.computed import Holds
from vqagen.world.findings import Findings, problem_in
from vqagen.world.metadata_reader import (
    ATTRIBUTES,
    BASE_TYPES,
    DEFAULT_RELATION_TYPE,
    HEAD_NOUN,
    MetadataReader,
    section_of_types,
)
from vqagen.world.named_files import find_plugins
from vqagen.world.recorded import RowReader, row_reader
from vqagen.world.words_reader import WordsReader

NUMBERS = tuple(str(number) for number in range(1, 11))
"""What a slot of type Integer can say."""

__all__ = [
    "BASE_TYPES",
    "DEFAULT_RELATION_TYPE",
    "HEAD_NOUN",
    "Attribute",
    "Compute",
    "Domain",
    "Recorded",
    "domain_from_metadata",
    "load_domain",
]


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
    abstract_types: tuple[str, ...] = ()
    """Types without values that only this domain has, such as "Part"; plug-ins say what they are."""
    plain_types: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Types with values that are no attribute of objects, and no relation: slots and plug-ins may use them."""
    rewrites: tuple[tuple[re.Pattern[str], str], ...] = ()
    """What is replaced by what in finished text."""
    synonyms_section: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The metadata's own `synonyms`, as written; `language` reads them as it reads a synonyms file."""
    computed_relations: Mapping[str, Holds] = field(default_factory=dict, compare=False)
    """Those of the `relations` that plug-ins compute; records do not give them."""
    text: str = field(default="", repr=False, compare=False)
    """The metadata file, where it was read from one, for problems that point into it."""

    @cached_property
    def types_record(self) -> Mapping[str, Any]:
        """The types as written."""
        found = self.record.get(section_of_types(self.record), {})
        return found if isinstance(found, Mapping) else {}

    @property
    def fills_slots(self) -> bool:
        """Whether every slot is filled that a template does not list under `can_be_null_attributes`."""
        return section_of_types(self.record) == ATTRIBUTES

    def attribute_of(self, type_name: str) -> Attribute | None:
        """The attribute whose values have this type."""
        return next((attribute for attribute in self.attributes if attribute.type == type_name), None)

    def values_of(self, type_name: str) -> tuple[str, ...]:
        """Everything a slot of this type can say; empty for a type without values. Numbers are said as text."""
        if type_name == self.relation_type:
            return self.relations
        if type_name == "Integer":
            return NUMBERS
        attribute = self.attribute_of(type_name)
        return attribute.values if attribute else self.plain_types.get(type_name, ())

    @property
    def value_types(self) -> tuple[str, ...]:
        """The types that have values of their own."""
        attributes = (attribute.type for attribute in self.attributes)
        return (*attributes, *([self.relation_type] if self.relations else []), *self.plain_types)

    @property
    def slot_types(self) -> tuple[str, ...]:
        """The types a template slot can have."""
        return (*self.value_types, "Integer")

    @property
    def types(self) -> tuple[str, ...]:
        """Every type name a function signature can use."""
        return (*BASE_TYPES, *self.abstract_types, *self.value_types)

    @cached_property
    def readers(self) -> tuple[tuple[str, RowReader], ...]:
        """For each attribute, by name, how its values are read from a scene record."""
        return tuple((attribute.name, row_reader(attribute)) for attribute in self.attributes)

    @cached_property
    def recorded_relations(self) -> tuple[str, ...]:
        """The relations that scene records give, or let us compute from positions."""
        return tuple(relation for relation in self.relations if relation not in self.computed_relations)

    def problem(self, path: str, message: str) -> Problem:
        """A problem at a JSON path of the metadata, with its line and column where they are known."""
        if path.partition(".")[0] == "types":
            path = section_of_types(self.record) + path.removeprefix("types")
        return problem_in(self.source or "metadata", path, message, self.text)


def load_domain(path: Path | str, plugins: Declarations = NO_PLUGINS) -> Domain:
    """Read a metadata file. Raises BadInput with every mistake in it.

    Attributes and relations that plug-ins compute join those of the metadata.
    """
    path = Path(path)
    text = read_text(path)
    return domain_from_metadata(parse_json(text, str(path)), str(path), plugins, text, path.parent)


def domain_from_metadata(
    metadata: object,
    source: str = "metadata",
    plugins: Declarations = NO_PLUGINS,
    text: str = "",
    folder: Path | None = None,
) -> Domain:
    """Build a domain from parsed metadata. Problems name `source`, and point into its `text` where that is given.

    The files that the metadata names lie in `folder`; without one, it can name none.
    """
    findings = Findings(source, text)
    reader = MetadataReader(metadata, findings, plugins)
    words = WordsReader(reader.metadata, folder, findings)
    find_plugins(reader.metadata, folder, findings)  # for faults in their names: `plugins` are loaded already
    domain = Domain(
        name=str(reader.metadata.get("dataset") or ""),
        attributes=reader.attributes(),
        relations=reader.relations(),
        relation_type=reader.relation_type,
        plurals=words.plurals(),
        declared=reader.functions,
        record=reader.metadata,
        source=source,
        abstract_types=reader.abstract_types(),
        plain_types=reader.plain_types(),
        rewrites=words.rewrites(),
        synonyms_section=reader.synonyms(),
        computed_relations={name: relation.holds for name, relation in plugins.relations.items()},
        text=text,
    )
    findings.settle()
    return domain
