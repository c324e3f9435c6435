"""Discourse of one dialog: the entities that its text has introduced, and the objects that they are in each world.

A world is a way to understand the dialog so far: one set of objects for each entity. Most dialogs have one world.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from oracles.dialogs.facts import Fact

from vqagen.bits import Objects

World = tuple[Objects, ...]
"""Entity -> its objects."""
Values = Mapping[str, str]
"""Attribute -> value."""
Answer = int | str


class Told(NamedTuple):
    """A value that the text tells of an entity."""

    value: str
    round: int


def _round(told: Told) -> int:
    return told.round


@dataclass
class Entity:
    """One object, or a set of objects, that the text has introduced."""

    number: int
    round: int
    """The round that introduced it; 0 is the caption."""
    is_single: bool
    """True if the text says that it is one object."""
    size: int | None = None
    """The number of objects, if the text tells it."""
    values: dict[str, Told] = field(default_factory=dict)
    """Attribute -> value, as the text tells it."""
    is_mentioned: bool = True
    """False for the result of exist-other, which was not mentioned object by object."""

    def has(self, values: Values) -> bool:
        """Return whether the text tells all these values of the entity."""
        told = {attribute: self.values[attribute].value for attribute in self.values}
        return all(told.get(attribute) == value for attribute, value in values.items())

    def tell(self, values: Values, at: int) -> None:
        """Add values that the text tells in a round."""
        for attribute, value in values.items():
            self.values.setdefault(attribute, Told(value, at))


class Request(NamedTuple):
    """A question whose references are resolved."""

    label: str
    focus: int | None = None
    """The single entity that it refers back to."""
    group: int | None = None
    """The set that it refers back to."""
    relation: str = ""
    attribute: str = ""
    value: str = ""
    descriptor: Values = MappingProxyType({})
    """The values of "the earlier …"."""


class Turn(NamedTuple):
    """One round, or the caption, as the next sentence refers to it."""

    request: Request
    answer: Answer | None = None
    result: int | None = None
    """The entity that it is about: what "it" or "them" is next."""


@dataclass
class Discourse:
    """The state of a dialog behind a number of rounds."""

    entities: list[Entity] = field(default_factory=list)
    worlds: list[World] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    """Everything that was told."""
    turns: list[Turn] = field(default_factory=list)

    @property
    def round(self) -> int:
        """The number of the sentence that comes next."""
        return len(self.turns)

    @property
    def previous(self) -> Turn:
        """The sentence before."""
        return self.turns[-1]

    @property
    def topic(self) -> Entity | None:
        """The one object of the sentence before: "it"."""
        found = self._result()
        return found if found is not None and found.is_single else None

    @property
    def group(self) -> Entity | None:
        """The set of the sentence before: "them"."""
        found = self._result()
        return None if found is None or found.is_single else found

    def _result(self) -> Entity | None:
        return None if self.previous.result is None else self.entities[self.previous.result]

    @property
    def singles(self) -> Iterator[Entity]:
        """Yield the entities that are one object."""
        return (entity for entity in self.entities if entity.is_single)

    def told_of(self, single: Entity) -> dict[str, Told]:
        """Return what the text tells of one object, also where it was found again: attribute -> the first time."""
        found: dict[str, Told] = {}
        for entity in self.singles:
            if all(world[entity.number] == world[single.number] for world in self.worlds):
                found = {
                    **found,
                    **{key: min(told, found.get(key, told), key=_round) for key, told in entity.values.items()},
                }
        return found

    def is_told(self, single: Entity, values: Values) -> bool:
        """Return whether the text tells all these values of one object."""
        told = self.told_of(single)
        return all(key in told and told[key].value == value for key, value in values.items())

    def introduce(self, is_single: bool, values: Values | None = None, **details: Any) -> Entity:
        """Add an entity; its objects must be added to each world."""
        entity = Entity(len(self.entities), self.round, is_single, **details)
        entity.tell(values or {}, self.round)
        self.entities.append(entity)
        return entity

    def were_asked(self, *labels: str) -> list[Turn]:
        """Return the rounds so far that have one of the labels."""
        return [turn for turn in self.turns if turn.request.label in labels]
