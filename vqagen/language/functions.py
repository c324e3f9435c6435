"""The functions of programs. Each takes the scene first, then its inputs, then its values, and returns a new value.

To add one: write it here under a decorator with its signature, and give it a row in `tests/language/test_functions.py`.
Object sets are int masks, an object is its index (see `bits`). A function that has no result raises `Undefined`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vqagen.bits import Objects, indexes, is_single, only, union_of
from vqagen.plugin import EQUALITY, FILTER, RELATION, SAMENESS, Run, Undefined, attribute_function, function
from vqagen.world.attribute import Attribute, Recorded
from vqagen.world.scene import Scene

# Sets of objects --------------------------------------------------------------------------------------------------


@function(output="ObjectSet")
def scene(scene: Scene) -> Objects:
    """All objects of the scene, or the set the program was started from."""
    return scene.start


@function("ObjectSet", output="Object")
def unique(scene: Scene, objects: Objects) -> int:
    """The one object of a set of one."""
    if not is_single(objects):
        raise Undefined("unique of a set that does not hold exactly one object")
    return only(objects)


@function("ObjectSet", output="ObjectSet")
def not_unique(scene: Scene, objects: Objects) -> Objects:
    """A set of more than one object, unchanged."""
    if objects & (objects - 1) == 0:
        raise Undefined("not_unique of a set that does not hold more than one object")
    return objects


@function("Object", values=("{relation}",), output="ObjectSet", role=RELATION)
def relate(scene: Scene, anchor: int, relation: str) -> Objects:
    """The objects that stand in a relation to an object."""
    table = scene.related.get(relation)
    if table is None:
        raise Undefined(f"the scene does not say what is {relation!r} of an object")
    return table[anchor]


@function("ObjectSet", "ObjectSet", output="ObjectSet")
def union(scene: Scene, left: Objects, right: Objects) -> Objects:
    """The objects in either set."""
    return left | right


@function("ObjectSet", "ObjectSet", output="ObjectSet")
def intersect(scene: Scene, left: Objects, right: Objects) -> Objects:
    """The objects in both sets."""
    return left & right


@function("ObjectSet", "ObjectSet", output="ObjectSet")
def difference(scene: Scene, left: Objects, right: Objects) -> Objects:
    """The objects in the first set and not in the second."""
    return left & ~right


@function("ObjectSet", output="Integer", asks="count")
def count(scene: Scene, objects: Objects) -> int:
    """The number of objects in a set."""
    return objects.bit_count()


@function("ObjectSet", output="Bool", asks="exist")
def exist(scene: Scene, objects: Objects) -> bool:
    """True if a set has any object."""
    return objects != 0


# Places -----------------------------------------------------------------------------------------------------------


@function("Object", output="Place", asks="point")
def point(scene: Scene, anchor: int) -> tuple[int, ...]:
    """Where an object is: its index, as a set of one."""
    return (anchor,)


@function("ObjectSet", output="Places", asks="mark")
def mark(scene: Scene, objects: Objects) -> tuple[int, ...]:
    """Where all objects of a set are: their indexes; there may be none."""
    return tuple(indexes(objects))


# Numbers, objects, truth values ------------------------------------------------------------------------------------


@function("Integer", "Integer", output="Integer", asks="arithmetic", aliases=("addition",))
def add(scene: Scene, left: int, right: int) -> int:
    """The sum of two numbers."""
    return left + right


@function("Integer", "Integer", output="Integer", asks="arithmetic", aliases=("subtraction",))
def subtract(scene: Scene, left: int, right: int) -> int:
    """The first number minus the second, if that is not negative."""
    if right > left:
        raise Undefined("subtract would give a number below zero")
    return left - right


@function("Integer", "Integer", output="Bool", asks="compare_integer", role=EQUALITY)
def equal_integer(scene: Scene, left: int, right: int) -> bool:
    """True if two numbers are the same."""
    return left == right


@function("Integer", "Integer", output="Bool", asks="compare_integer")
def less_than(scene: Scene, left: int, right: int) -> bool:
    """True if the first number is smaller."""
    return left < right


@function("Integer", "Integer", output="Bool", asks="compare_integer")
def greater_than(scene: Scene, left: int, right: int) -> bool:
    """True if the first number is larger."""
    return left > right


@function("Object", "Object", output="Bool", asks="compare_object", role=EQUALITY)
def equal_object(scene: Scene, left: int, right: int) -> bool:
    """True if two objects are the same one."""
    return left == right


@function("Bool", "Bool", output="Bool", asks="logic", name="and")
def both(scene: Scene, left: bool, right: bool) -> bool:
    """True if both inputs are true."""
    return left and right


@function("Bool", "Bool", output="Bool", asks="logic", name="or")
def either(scene: Scene, left: bool, right: bool) -> bool:
    """True if one input is true, or both."""
    return left or right


@function("Bool", output="Bool", asks="logic", name="not")
def negation(scene: Scene, value: bool) -> bool:
    """True if the input is false."""
    return not value


@function("ObjectSet", values=("Integer",), output="Integer", asks="arithmetic", drawn="X")
def choose(scene: Scene, objects: Objects, number: str) -> int:
    """A number that is at most the size of a set, such as the three of "three of the cubes"."""
    if int(number) > objects.bit_count():
        raise Undefined("choose of more objects than a set has")
    return int(number)


# One of each for every attribute ----------------------------------------------------------------------------------


@attribute_function("filter_{name}", "ObjectSet", values=("{type}",), output="ObjectSet", role=FILTER)
def filter_attribute(attribute: Attribute) -> Run:
    """The objects of a set that have a value."""
    name = attribute.name

    def run(scene: Scene, objects: Objects, value: str) -> Objects:
        return objects & scene.having[name][value]

    return run


@attribute_function("query_{name}", "Object", output="{type}", asks="query")
def query_attribute(attribute: Attribute) -> Run:
    """The value an object has."""
    name = attribute.name

    def run(scene: Scene, anchor: int) -> Recorded:
        value = scene.values[name][anchor]
        if not value:
            raise Undefined(f"the object has no {name}")
        return value

    return run


@attribute_function("same_{name}", "Object", output="ObjectSet", role=SAMENESS)
def same_attribute(attribute: Attribute) -> Run:
    """The other objects with the same value as an object."""
    value_of, alike = query_attribute(attribute), _alike(attribute)

    def run(scene: Scene, anchor: int) -> Objects:
        return alike(scene, value_of(scene, anchor)) & ~(1 << anchor)

    return run


@attribute_function("different_{name}", "Object", output="ObjectSet", role=RELATION)
def different_attribute(attribute: Attribute) -> Run:
    """The objects with another value than an object; objects without a value are left out."""
    name, value_of, alike = attribute.name, query_attribute(attribute), _alike(attribute)

    def run(scene: Scene, anchor: int) -> Objects:
        same, known = alike(scene, value_of(scene, anchor)), 0
        for objects in scene.having[name].values():
            known |= objects
        return known & ~same

    return run


def _alike(attribute: Attribute) -> Callable[[Scene, Any], Objects]:
    """(scene, value) -> the objects with exactly that value: of a list-valued attribute, with an equal list."""
    name = attribute.name

    def objects_with(scene: Scene, value: str) -> Objects:
        return scene.having[name][value]

    def objects_with_list(scene: Scene, value: tuple[str, ...]) -> Objects:
        return scene.everything & union_of(i for i, listed in enumerate(scene.values[name]) if listed == value)

    return objects_with_list if attribute.multi else objects_with


@attribute_function("equal_{name}", "{type}", "{type}", output="Bool", asks="compare_attribute", role=EQUALITY)
def equal_attribute(attribute: Attribute) -> Run:
    """True if two values are the same."""

    def run(scene: Scene, left: Recorded, right: Recorded) -> bool:
        return left == right

    return run


@attribute_function("count_different_{name}", "ObjectSet", output="Integer", asks="count")
def count_different_attribute(attribute: Attribute) -> Run:
    """The number of different values that the objects of a set have."""
    name, leaves = attribute.name, attribute.leaves

    def run(scene: Scene, objects: Objects) -> int:
        having = scene.having[name]
        return sum(1 for leaf in leaves if having[leaf] & objects)

    return run
