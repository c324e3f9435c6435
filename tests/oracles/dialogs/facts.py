"""Facts that the text of a dialog tells about its discourse entities, and the quantities that they bound.

An entity is one object or a set of objects that the text has introduced; it is named by a number. A quantity is a
number of objects, named by a tuple:

    ("all",)                            objects of the scene
    ("value", attribute, value)         objects with the value
    ("related", entity, relation)       objects that stand in the relation to the entity
    ("alike", entity, attribute)        other objects with the entity's value
    ("within", entity, attribute, value)    members of a set with the value
    ("rest", entity)                    the objects not mentioned when the entity was introduced
"""

from __future__ import annotations

from typing import Any, NamedTuple, Union

Quantity = tuple[Any, ...]
MANY = 10**6
"""No upper bound."""
ALL: Quantity = ("all",)


class Single(NamedTuple):
    """The entity is one object."""

    entity: int


class Valued(NamedTuple):
    """The entity, or each member of a set, has a value."""

    entity: int
    attribute: str
    value: str


class Bounds(NamedTuple):
    """A quantity lies between two numbers."""

    quantity: Quantity
    least: int
    most: int = MANY


class Defined(NamedTuple):
    """The entity is all the objects that a quantity counts."""

    entity: int
    quantity: Quantity


class Size(NamedTuple):
    """An entity has a number of objects."""

    entity: int
    number: int


class Next(NamedTuple):
    """The entity is the next object in a relation to another."""

    entity: int
    relation: str
    of: int


class Stands(NamedTuple):
    """The entity stands in a relation to another."""

    entity: int
    relation: str
    of: int


class Extreme(NamedTuple):
    """Nothing stands in the relation to the entity, and all other objects stand in its inverse."""

    entity: int
    relation: str


class Same(NamedTuple):
    """Two entities are the same."""

    entity: int
    other: int


class Mentioned(NamedTuple):
    """The rest, whose number is ("rest", entity), are the objects outside the entities mentioned so far."""

    entity: int
    mentioned: tuple[int, ...]


Fact = Union[Single, Valued, Bounds, Defined, Size, Next, Stands, Extreme, Same, Mentioned]  # noqa: UP007
