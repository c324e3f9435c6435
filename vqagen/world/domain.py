"""A domain: attributes, values and relations of objects, read from a metadata file. No vocabulary exists elsewhere.

Metadata is JSON in the CLEVR form. `types` maps a type name to null (no fixed values: Object, Integer, …), to values
in one of the forms of `metadata_reader`, or to an object with the key `values` and further details. A type with
values is

* a relation type, if a declared function named `relate…` takes it as a side input (without declared functions: if it
  is called Relation);
* else an attribute, if `filter_<type>` or `query_<type>` is declared, if no functions are declared, or if a plug-in
  computes it, unless its entry says `"attribute": false`;
* else a plain type: slots and the functions of plug-ins may use its values.

An attribute's `key` is the key of its value in an object record (default: the type's name in lower case); `text.body`
is `body` inside `text`. Its `null` is the word for the attribute when a question leaves it open. The default is "thing"
for the head noun and "" for every other attribute; the head noun is the last side input of the declared `filter` or,
without one, the last attribute. `parents` puts values into groups, `display` gives their wording, `multi` allows a list
of values, `optional` allows none.

As in CLEAR, the types may be under `attributes` in place of `types`. Then the relation type is the one whose name
begins with "relate", and slots are filled unless a template lists them under `can_be_null_attributes`.

Further keys: `language` (of texts) and `answers` (the words for yes, no and numbers).

Further sections: `plugins` (Python files beside the metadata), `plurals` (word -> plural), `rewrites` (`pattern` and
`replace` for finished text), `synonyms` (as a synonyms file), `sampling` (see `sampling_rules`), `viewpoint` (see
`ViewMargins`). Other keys are kept in `Domain.record`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from vqagen.errors import Problem
from vqagen.files.parsing import parse_json, read_text
from vqagen.files.schema import Findings, content_of, problem_in
from vqagen.frozen import frozen
from vqagen.plugin import NO_PLUGINS, Declarations, Record
from vqagen.world.attribute import Attribute, Compute, Recorded, RowReader, row_reader
from vqagen.world.metadata_reader import (
    ATTRIBUTES,
    BASE_TYPES,
    DEFAULT_RELATION_TYPE,
    HEAD_NOUN,
    PLUGINS,
    MetadataReader,
    find_beside,
    read_rewrites,
    section_of_types,
)

NUMBERS = tuple(str(number) for number in range(1, 11))
"""The values of a slot of type Integer."""

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


class ViewMargins(NamedTuple):
    """What is too close to call from a point of view, by the metadata's section `viewpoint`."""

    angle: float = 10.0
    """Degrees from the line between two sides."""
    distance: float = 0.4
    """In units of the scene: of two distances, or of a place from where two sides meet."""
    ratio: float = 0.1
    """By how much one distance may miss a whole number of times another one."""


@frozen
class Domain:
    """A vocabulary: attributes and relations, in the order of the metadata."""

    name: str
    attributes: tuple[Attribute, ...]
    relations: tuple[str, ...]
    relation_type: str = DEFAULT_RELATION_TYPE
    plurals: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    declared: tuple[Mapping[str, Any], ...] = ()
    """The metadata's own `functions`, as written; `language` checks them against the functions it has."""
    record: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    source: str = field(default="", compare=False)
    language: str = ""
    """The language of texts, such as "en" or "fr"; "" if the metadata does not say it."""
    answer_words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Answers -> the domain's words for them: {"yes": "sí", "0": "cero"}."""
    abstract_types: tuple[str, ...] = ()
    """Types without values that only this domain has, such as "Part"; plug-ins define them."""
    plain_types: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Types with values that are neither attributes nor relations: slots and plug-ins may use them."""
    rewrites: tuple[tuple[re.Pattern[str], str], ...] = ()
    """Patterns and their replacements in finished text."""
    synonyms_section: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The metadata's own `synonyms`, as written; `language` reads them as it reads a synonyms file."""
    computed_relations: Mapping[str, Callable[[Record, Record, Record], bool]] = field(
        default_factory=dict, compare=False
    )
    """The relations that plug-ins compute; records do not give them."""
    margins: ViewMargins = ViewMargins()
    text: str = field(default="", repr=False, compare=False)
    """The text of the metadata file, for problems that point into it; "" without a file."""

    @cached_property
    def types_record(self) -> Mapping[str, Any]:
        """The types as written."""
        types = self.record.get(section_of_types(self.record), {})
        return types if isinstance(types, Mapping) else {}

    @property
    def fills_slots(self) -> bool:
        """True if slots are filled that a template does not list under `can_be_null_attributes`."""
        return section_of_types(self.record) == ATTRIBUTES

    def attribute_of(self, type_name: str) -> Attribute | None:
        """Return the attribute whose values have this type, if there is one."""
        return next((attribute for attribute in self.attributes if attribute.type == type_name), None)

    def values_of(self, type_name: str) -> tuple[str, ...]:
        """Return the values of a slot of this type; none for a type without values. Numbers are text."""
        if type_name == self.relation_type:
            return self.relations
        if type_name == "Integer":
            return NUMBERS
        attribute = self.attribute_of(type_name)
        return attribute.values if attribute else self.plain_types.get(type_name, ())

    @cached_property
    def value_types(self) -> tuple[str, ...]:
        """The types that have values of their own."""
        attributes = (attribute.type for attribute in self.attributes)
        return (*attributes, *([self.relation_type] if self.relations else []), *self.plain_types)

    @cached_property
    def slot_types(self) -> tuple[str, ...]:
        """The types a template slot can have."""
        return (*self.value_types, "Integer")

    @cached_property
    def types(self) -> tuple[str, ...]:
        """Every type name a function signature can use."""
        return (*BASE_TYPES, *self.abstract_types, *self.value_types)

    @cached_property
    def readers(self) -> tuple[tuple[str, RowReader], ...]:
        """Each attribute's name, and the reader of its values from a scene record."""
        return tuple((attribute.name, row_reader(attribute)) for attribute in self.attributes)

    @cached_property
    def recorded_relations(self) -> tuple[str, ...]:
        """The relations that scene records give, or that follow from positions."""
        return tuple(relation for relation in self.relations if relation not in self.computed_relations)

    def problem(self, path: str, message: str) -> Problem:
        """Return a problem at a JSON path of the metadata, with line and column if they are known."""
        if path.partition(".")[0] == "types":
            path = section_of_types(self.record) + path.removeprefix("types")
        return problem_in(self.source or "metadata", path, message, self.text)


def load_domain(path: Path | str, plugins: Declarations = NO_PLUGINS) -> Domain:
    """Read a metadata file. Raises BadInput with every mistake in it.

    Attributes and relations that plug-ins compute are added to those of the metadata.
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

    The plug-ins that the metadata names lie in `folder`; without one, it can name none.
    """
    findings = Findings(source, text)
    reader = MetadataReader(metadata, findings, plugins)
    for i, plugin in enumerate(reader.sound.get(PLUGINS, ())):  # `plugins` are loaded already
        find_beside(plugin, folder, f"{PLUGINS}[{i}]", findings)
    domain = Domain(
        name=str(reader.metadata.get("dataset") or ""),
        attributes=reader.attributes(),
        relations=reader.relations(),
        relation_type=reader.relation_type,
        plurals=MappingProxyType(content_of(reader.sound.get("plurals"))),
        declared=tuple(reader.functions),
        record=reader.metadata,
        source=source,
        language=reader.sound.get("language", ""),
        answer_words=_answer_words(reader.sound, findings),
        abstract_types=reader.abstract_types(),
        plain_types=reader.plain_types(),
        rewrites=tuple(read_rewrites(reader.sound.get("rewrites", ()), findings)),
        synonyms_section=reader.sound.get("synonyms", {}),
        computed_relations={name: relation.holds for name, relation in plugins.relations.items()},
        margins=ViewMargins(**content_of(reader.sound.get("viewpoint"))),
        text=text,
    )
    findings.settle()
    return domain


def _answer_words(record: Mapping[str, Any], findings: Findings) -> Mapping[str, str]:
    """Return "yes", "no" and figures -> the words for them, where there are any."""
    given = content_of(record.get("answers"))
    findings.strange_keys(given, ("yes", "no", "numbers", "comment"), "answers")
    numbers = {str(number): word for number, word in enumerate(given.get("numbers", ()))}
    words: dict[str, str] = {**{key: given[key] for key in ("yes", "no") if key in given}, **numbers}
    every: dict[str, str] = {"yes": "yes", "no": "no", **words}
    if len({word.casefold() for word in every.values()}) < len(every):
        findings.fault("answers", "two answers have one word")
    return MappingProxyType(words)


# The logic of relations ---------------------------------------------------------------------------------------------

DEFAULT_DIRECTIONS: Mapping[str, tuple[int, ...]] = {
    "left": (-1, 0, 0),
    "right": (1, 0, 0),
    "behind": (0, 1, 0),
    "front": (0, -1, 0),
    "above": (0, 0, 1),
    "below": (0, 0, -1),
}
"""The directions of a domain that samples scenes and gives no directions, up to a turn of the ground."""


class RelationOrder(NamedTuple):
    """The relations that are orders, and for each relation the one that says the same from the other side.

    By CLEVR's metadata, left is an order, and right its inverse.
    """

    transitive: frozenset[str]
    inverse: Mapping[str, str]


def relation_order(domain: Domain) -> RelationOrder:
    """Return the orders and inverses by the `sampling` section: relations with a direction, and opposite directions.

    A relation that is drawn symmetric is its own inverse. Nothing is known of a domain without that section.
    """
    section = domain.record.get("sampling")
    if not isinstance(section, Mapping):
        return RelationOrder(frozenset(), {})
    drawn, directions = content_of(section.get("relations")), content_of(section.get("directions"))
    directions = directions or dict(DEFAULT_DIRECTIONS)
    spatial = [name for name in domain.recorded_relations if name in directions and name not in drawn]
    inverse = {one: other for one in spatial for other in spatial if _are_opposite(directions[one], directions[other])}
    inverse |= {name: name for name, rule in drawn.items() if isinstance(rule, Mapping) and rule.get("symmetric")}
    return RelationOrder(frozenset(spatial), inverse)


def _are_opposite(one: Any, other: Any) -> bool:
    try:
        return all(abs(left + right) < 1e-9 for left, right in zip(one, other, strict=True))
    except (TypeError, ValueError):
        return False
