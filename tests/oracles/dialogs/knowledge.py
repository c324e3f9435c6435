"""Knowledge of a careful reader: bounds of quantities, values of entities, and which entities are the same.

`closure.learn` adds facts, and all that follows from them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field

from oracles.dialogs.facts import (
    MANY,
    Bounds,
    Defined,
    Extreme,
    Fact,
    Mentioned,
    Next,
    Quantity,
    Same,
    Single,
    Size,
    Stands,
    Valued,
)

TOLD = "the text says so"
NAMES_AN_ENTITY = frozenset({"related", "alike", "within", "rest"})


@dataclass(frozen=True)
class Logic:
    """The part of a domain, and of one scene's relations, that every reader knows."""

    leaves: Mapping[str, Sequence[str]]
    """Attribute -> its values."""
    inverse: Mapping[str, str]
    """Relation -> its inverse, for relations that are strict orders in the scene."""
    total: Collection[str]
    """Relations in which any two objects of the scene are ordered."""


@dataclass
class Knowledge:
    """Conclusions from facts. `referents`, the objects of single entities, tell a reader which of them are the same."""

    logic: Logic
    referents: Mapping[int, int] | None = None
    tells_apart: bool = False
    """True for a reader who takes entities of different objects for different, as people do until told otherwise."""
    bounds: dict[Quantity, tuple[int, int]] = field(default_factory=dict)
    reasons: dict[Quantity, str] = field(default_factory=dict)
    """Quantity -> the rule that tightened its bounds last."""
    singles: dict[int, None] = field(default_factory=dict)
    definitions: dict[int, Quantity] = field(default_factory=dict)
    values: dict[tuple[int, str], str] = field(default_factory=dict)
    following: dict[tuple[int, str], int] = field(default_factory=dict)
    """(entity, relation) -> the entity that is next in the relation to it."""
    standing: dict[tuple[int, str, int], None] = field(default_factory=dict)
    """(entity, relation, other): the entity stands in the relation to the other."""
    extremes: dict[tuple[int, str], None] = field(default_factory=dict)
    mentioned: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Entity of a rest -> the entities mentioned before it."""
    is_consistent: bool = True
    has_changed: bool = False
    _names: dict[int, int] = field(default_factory=dict)
    """Entity -> the entity that it is the same as."""

    # Facts ----------------------------------------------------------------------------------------------------------

    def take(self, fact: Fact) -> None:
        """Take one fact, as it stands."""
        match fact:
            case Single(entity):
                self._take_single(entity)
            case Valued(entity, attribute, value):
                self.set_value(entity, attribute, value)
            case Bounds(quantity, least, most):
                self.bound(quantity, least, most, TOLD)
            case Defined(entity, quantity):
                self.definitions.setdefault(self.name(entity), self.canonical(quantity))
                self.bound(quantity, 1, MANY, TOLD)
            case Size(entity, number):
                definition = self.definitions.get(self.name(entity))
                if definition is not None:
                    self.bound(definition, number, number, TOLD)
            case Next(entity, relation, of):
                self.set_next(entity, relation, of)
            case Stands(entity, relation, of):
                self.set_standing(entity, relation, of)
            case Extreme(entity, relation):
                self.extremes.setdefault((self.name(entity), relation))
                self.bound(("related", entity, relation), 0, 0, TOLD)
            case Same(entity, other):
                self.merge(entity, other)
            case Mentioned(entity, mentioned):
                self.mentioned[self.name(entity)] = tuple(map(self.name, mentioned))

    def _take_single(self, entity: int) -> None:
        self.singles.setdefault(self.name(entity))
        if self.referents is not None:
            same = (each for each in self.singles if self._referent(each) == self._referent(entity))
            self.merge(entity, next(same, entity))

    def _referent(self, entity: int) -> int | None:
        return (self.referents or {}).get(entity)

    def name(self, entity: int) -> int:
        """Return the entity under which all is known of this one."""
        while entity in self._names:
            entity = self._names[entity]
        return entity

    def canonical(self, quantity: Quantity) -> Quantity:
        """Return a quantity under the name of its entity."""
        if self._names and quantity[0] in NAMES_AN_ENTITY:
            return (quantity[0], self.name(quantity[1]), *quantity[2:])
        return quantity

    def copy(self) -> Knowledge:
        """Return the same knowledge, to which facts can be added."""
        twin = copy(self)
        for name, table in vars(self).items():
            if isinstance(table, dict):
                setattr(twin, name, dict(table))
        return twin

    # Conclusions ----------------------------------------------------------------------------------------------------

    def range_of(self, quantity: Quantity) -> tuple[int, int]:
        """Return the bounds of a quantity."""
        return self.bounds.get(self.canonical(quantity), (0, MANY))

    def least(self, quantity: Quantity) -> int:
        """Return the lower bound of a quantity."""
        return self.range_of(quantity)[0]

    def most(self, quantity: Quantity) -> int:
        """Return the upper bound of a quantity."""
        return self.range_of(quantity)[1]

    def bound(self, quantity: Quantity, least: int, most: int, reason: str) -> None:
        """Conclude that a quantity lies between two numbers."""
        quantity = self.canonical(quantity)
        low, high = known = self.bounds.get(quantity, (0, MANY))
        tightened = max(low, least), min(high, most)
        if quantity not in self.bounds or tightened != known:
            self.bounds[quantity] = tightened
            self.has_changed |= tightened != known
            if tightened != known:
                self.reasons[quantity] = reason
            if tightened[0] > tightened[1]:
                self.is_consistent = False

    def value(self, entity: int, attribute: str) -> str | None:
        """Return the value of an entity, or of all members of a set, if it is known."""
        return self.values.get((self.name(entity), attribute))

    def values_of(self, entity: int) -> Iterator[tuple[str, str]]:
        """Yield (attribute, value) for each value of an entity that is known."""
        for attribute in self.logic.leaves:
            value = self.value(entity, attribute)
            if value is not None:
                yield attribute, value

    def set_value(self, entity: int, attribute: str, value: str) -> None:
        """Conclude that an entity has a value."""
        key = self.name(entity), attribute
        if key not in self.values:
            self.values[key] = value
            self.has_changed = True
        elif self.values[key] != value:
            self.is_consistent = False

    def set_next(self, entity: int, relation: str, of: int) -> None:
        """Conclude that an entity is the next in a relation to another; what is next is one object."""
        key, entity = (self.name(of), relation), self.name(entity)
        if key not in self.following:
            self.following[key] = entity
            self.has_changed = True
        elif self.following[key] != entity:
            self.merge(self.following[key], entity)
        self.set_standing(entity, relation, of)

    def set_standing(self, entity: int, relation: str, of: int) -> None:
        """Conclude that an entity stands in a relation to another."""
        inverse = self.logic.inverse.get(relation)
        one, other = self.name(entity), self.name(of)
        if (one, relation, other) not in self.standing:
            self.standing[one, relation, other] = None
            if inverse is not None:
                self.standing[other, inverse, one] = None
            self.has_changed = True

    def merge(self, one: int, other: int) -> None:
        """Conclude that two entities are the same."""
        one, other = self.name(one), self.name(other)
        if one == other:
            return
        kept, gone = min(one, other), max(one, other)
        self._names[gone] = kept
        self.has_changed = True
        self._rename()

    def _rename(self) -> None:
        """Put everything under the names that entities have now."""
        bounds, values, following = self.bounds, self.values, self.following
        self.bounds, self.values, self.following = {}, {}, {}
        self.reasons = {self.canonical(quantity): reason for quantity, reason in self.reasons.items()}
        reasons = dict(self.reasons)
        for quantity, (least, most) in bounds.items():
            self.bound(quantity, least, most, self.reasons.get(self.canonical(quantity), TOLD))
        self.reasons = reasons
        for (entity, attribute), value in values.items():
            self.set_value(entity, attribute, value)
        definitions = self.definitions.items()
        self.definitions = {self.name(entity): self.canonical(quantity) for entity, quantity in reversed(definitions)}
        self.singles = dict.fromkeys(map(self.name, self.singles))
        self.standing = {(self.name(one), r, self.name(other)): None for one, r, other in self.standing}
        self.extremes = {(self.name(entity), relation): None for entity, relation in self.extremes}
        self.mentioned = {self.name(rest): tuple(map(self.name, told)) for rest, told in self.mentioned.items()}
        for (of, relation), entity in following.items():
            self.set_next(entity, relation, of)

    # What follows at once from the tables ---------------------------------------------------------------------------

    @property
    def sets(self) -> Iterator[tuple[int, Quantity]]:
        """Yield the entities that were introduced by a quantity, and the quantity that is their size."""
        return iter(list(self.definitions.items()))

    def lineage(self, entity: int) -> Iterator[Quantity]:
        """Yield the definition of an entity, of the set that it is a part of, and so on."""
        seen: set[int] = set()
        while (entity := self.name(entity)) in self.definitions and entity not in seen:
            seen.add(entity)
            definition = self.definitions[entity]
            yield definition
            if definition[0] != "within":
                return
            entity = definition[1]

    def members(self, entity: int) -> Iterator[int]:
        """Yield the single entities that are known to be members of a set, by its definition."""
        match self.definitions.get(self.name(entity)):
            case ("value", str(attribute), str(value)):
                yield from (each for each in self.singles if self.value(each, attribute) == value)
            case ("alike", int(of), str(attribute)):
                shared = self.value(of, attribute)
                alike = (each for each in self.singles if shared and self.value(each, attribute) == shared)
                yield from (each for each in alike if self.differ(each, of))
            case ("related", int(of), str(relation)):
                yield from (
                    one for one, r, other in self.standing if (r, other) == (relation, of) and one in self.singles
                )

    def differ(self, one: int, other: int) -> bool:
        """Return whether two single entities are known to be different objects."""
        one, other = self.name(one), self.name(other)
        if one == other:
            return False
        if self.tells_apart and None not in (self._referent(one), self._referent(other)):
            return True  # those of one object have one name
        return (
            any(self._have_two_values(one, other, attribute) for attribute in self.logic.leaves)
            or any(self._are_at_two_places(one, other, relation) for relation in self.logic.inverse)
            or self._is_outside(one, other)
            or self._is_outside(other, one)
        )

    def _have_two_values(self, one: int, other: int, attribute: str) -> bool:
        values = self.values.get((one, attribute)), self.values.get((other, attribute))
        return None not in values and values[0] != values[1]

    def _are_at_two_places(self, one: int, other: int, relation: str) -> bool:
        if (one, relation, other) in self.standing:
            return True
        first, second = self.range_of(("related", one, relation)), self.range_of(("related", other, relation))
        return first[1] < second[0] or second[1] < first[0]

    def _is_outside(self, one: int, other: int) -> bool:
        """Return whether the first is of a set that the second is not in."""
        for definition in self.lineage(one):
            if definition[0] == "alike" and definition[1] == other:
                return True
            if definition[0] == "rest" and other in self.mentioned.get(definition[1], ()):
                return True
        return False

    def number_of_different(self, entities: Iterable[int]) -> int:
        """Return a number of objects that the single entities are at least."""
        chosen: list[int] = []
        for entity in dict.fromkeys(map(self.name, entities)):
            if all(self.differ(entity, each) for each in chosen):
                chosen.append(entity)
        return len(chosen)

    def size_of(self, entity: int) -> tuple[int, int]:
        """Return the bounds of the number of objects of an entity."""
        entity = self.name(entity)
        if entity in self.singles:
            return 1, 1
        definition = self.definitions.get(entity)
        return (0, MANY) if definition is None else self.range_of(definition)
