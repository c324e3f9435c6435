"""The part of a domain that dialogs talk about: its values and directions, numbered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from vqagen.errors import UsageError
from vqagen.world.attribute import Attribute
from vqagen.world.domain import Domain
from vqagen.world.relations import DEFAULT_DIRECTIONS, RelationOrder, relation_order


@dataclass(frozen=True)
class DialogVocabulary:
    """Attributes of which every object has exactly one value, and directions that are orders with an inverse.

    Values are numbered through all attributes; groups of values are not spoken of.
    """

    attributes: tuple[Attribute, ...]
    relations: tuple[str, ...]
    inverse: tuple[int, ...]
    """Relation -> the relation that says the same from the other side, by their numbers."""

    @staticmethod
    def of(domain: Domain) -> DialogVocabulary:
        """Return the vocabulary of a domain. Raises UsageError if it has no attribute or no direction to speak of."""
        attributes = tuple(each for each in domain.attributes if not each.multi and not each.optional)
        order = _order(domain)
        relations = tuple(
            name
            for name in domain.relations
            if name in order.transitive and order.inverse.get(name) in order.transitive
        )
        faults = list(_faults(attributes, relations))
        if faults:
            raise UsageError(f"no dialogs about the domain {domain.name or domain.source!r}: {'; '.join(faults)}")
        numbers = {name: number for number, name in enumerate(relations)}
        return DialogVocabulary(attributes, relations, tuple(numbers[order.inverse[name]] for name in relations))

    @cached_property
    def values(self) -> tuple[tuple[int, str], ...]:
        """(number of the attribute, value) for each value."""
        return tuple((number, value) for number, each in enumerate(self.attributes) for value in each.leaves)

    @cached_property
    def number(self) -> Mapping[tuple[str, str], int]:
        """(attribute, value) -> the number of the value."""
        return {(self.attributes[attribute].name, word): i for i, (attribute, word) in enumerate(self.values)}

    @cached_property
    def numbers_of(self) -> tuple[range, ...]:
        """Attribute -> the numbers of its values."""
        ends = [0]
        for each in self.attributes:
            ends.append(ends[-1] + len(each.leaves))
        return tuple(range(*span) for span in pairwise(ends))

    @cached_property
    def value_sets(self) -> tuple[int, ...]:
        """Attribute -> its values, as a set of their numbers."""
        return tuple((1 << numbers.stop) - (1 << numbers.start) for numbers in self.numbers_of)

    def described(self, *values: int) -> dict[str, str]:
        """Return values by their numbers as JSON: {attribute: value}."""
        return {self.attributes[attribute].name: word for attribute, word in (self.values[value] for value in values)}


def _order(domain: Domain) -> RelationOrder:
    """Return the logic of the relations; without a `sampling` section, that of the directions known by their names."""
    known = relation_order(domain)
    if known.transitive or "sampling" in domain.record:
        return known
    named = [name for name in domain.recorded_relations if name in DEFAULT_DIRECTIONS]
    return RelationOrder(
        frozenset(named), {name: other for name in named for other in named if _are_opposite(name, other)}
    )


def _are_opposite(one: str, other: str) -> bool:
    return all(left == -right for left, right in zip(DEFAULT_DIRECTIONS[one], DEFAULT_DIRECTIONS[other], strict=True))


def _faults(attributes: tuple[Attribute, ...], relations: tuple[str, ...]) -> Iterator[str]:
    if len(attributes) < 2:
        yield "they need two attributes of which every object has one value (neither multi nor optional)"
    if not relations:
        yield "they need a relation that is an order with an inverse, such as left and right (`sampling.directions`)"
