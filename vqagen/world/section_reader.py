"""The reader of a section of a domain's metadata, such as `sampling`, which collects every mistake.

A part of wrong form is reported and then read as if it were absent, so that the other parts are still checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

from vqagen.errors import BadInput, Problem, unknown
from vqagen.files.parsing import show_path
from vqagen.world.attribute import Attribute, Recorded
from vqagen.world.domain import Domain
from vqagen.world.findings import content_of, malformed, without

T = TypeVar("T")


class Decided(NamedTuple, Generic[T]):
    """A property that one attribute decides; without an attribute, it is the same for every object."""

    attribute: str | None
    values: Mapping[Recorded, T]
    """Value of the attribute -> the property. None is the key of objects without a value, or of all objects."""

    def of(self, looks: Mapping[str, Recorded]) -> T:
        """Return the property of an object with these attribute values."""
        return self.values[looks[self.attribute] if self.attribute is not None else None]


class SectionReader:
    """The section `name` of a domain's metadata, the definition of this name in the schema, and the mistakes so far."""

    def __init__(self, domain: Domain, name: str) -> None:
        """Raise BadInput if the section is no object."""
        self.domain, self.name = domain, name
        self.problems: list[Problem] = []
        given = domain.record.get(name, {})
        self.malformed = malformed(given, "metadata", name)
        for fault in chain.from_iterable(self.malformed.values()):
            self.report(show_path((name, *fault.place)), fault.message)
        if () in self.malformed:
            raise BadInput(self.problems)
        self.section: Mapping[str, Any] = without(given, self.malformed)
        self.attributes = {each.key: each for each in domain.attributes if each.compute is None}

    def report(self, place: str, message: str) -> None:
        """Note a mistake at a JSON path of the metadata."""
        self.problems.append(self.domain.problem(place, message))

    def is_known(self, kind: str, name: object, known: Sequence[str], place: str) -> bool:
        """Return whether a name is known; a mistake if not."""
        if name not in known:
            self.report(place, unknown(kind, name, known))
        return name in known

    def attribute(self, key: str, place: str) -> Attribute | None:
        """Return the attribute of an object key; a mistake if there is none."""
        return self.attributes[key] if self.is_known("attribute", key, list(self.attributes), place) else None

    def entries(self, part: str) -> Iterable[tuple[str, Any]]:
        """Return the entries of a part that is an object, without its comment."""
        return content_of(self.section.get(part)).items()

    def read_decided(self, name: str, default: Any) -> Decided[Any]:
        """Return the property that a part gives: one for all objects, or one for each value of an attribute."""
        given, place = self.section.get(name, default), f"{self.name}.{name}"
        if not isinstance(given, Mapping):
            return Decided(None, {None: given})
        by_value, attribute = content_of(given["values"]), self.attribute(given["attribute"], f"{place}.attribute")
        if attribute is None or attribute.multi:
            if attribute:
                message = f"attribute {attribute.key!r} has lists of values; it cannot decide"
                self.report(f"{place}.attribute", message)
            return Decided(None, {})
        for value in by_value:
            self.is_known("value", value, attribute.values, f"{place}.values.{value}")
        of_leaf: dict[Recorded, Any] = {None: default} if attribute.optional else {}
        for leaf in attribute.leaves:
            said = [by_value[value] for value in attribute.lineage[leaf] if value in by_value]
            if not said:
                self.report(f"{place}.values", f"nothing for value {leaf!r} of attribute {attribute.key!r}")
            of_leaf[leaf] = said[0] if said else default
        return Decided(attribute.key, of_leaf)
