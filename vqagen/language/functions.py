"""The functions of programs. Each takes the scene first, then its inputs, then its values, and returns a new value.

To add one: write it here under a decorator with its signature, and give it a row in `tests/test_functions.py`.
Object sets are int masks, an object is its index (see `bits`). A function that has no result raises `Undefined`.
"""

from __future__ import annotations

from vqagen.bits import Objects, is_single, only
from vqagen.plugin import EQUALITY, RELATION, SAMENESS, Run, Undefined, attribute_function, function
from vqagen.world.domain import Attribute
from vqagen.world.scene import Scene


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


@function("ObjectSet", output="Integer", asks="count")
def count(scene: Scene, objects: Objects) -> int:
    """How many objects a set has."""
    return objects.bit_count()


@function("ObjectSet", output="Bool", asks="exist")
def exist(scene: Scene, objects: Objects) -> bool:
    """Whether a set has any object."""
    return objects != 0


@function("Integer", "Integer", output="Bool", asks="compare_integer", role=EQUALITY)
def equal_integer(scene: Scene, left: int, right: int) -> bool:
    """Whether two numbers are the same."""
    return left == right


@function("Integer", "Integer", output="Bool", asks="compare_integer")
def less_than(scene: Scene, left: int, right: int) -> bool:
    """Whether the first number is smaller."""
    return left < right


@function("Integer", "Integer", output="Bool", asks="compare_integer")
def greater_than(scene: Scene, left: int, right: int) -> bool:
    """Whether the first number is larger."""
    return left > right


@function("Object", "Object", output="Bool", asks="compare_object", role=EQUALITY)
def equal_object(scene: Scene, left: int, right: int) -> bool:
    """Whether two objects are the same one."""
    return left == right


@attribute_function("filter_{name}", "ObjectSet", values=("{type}",), output="ObjectSet")
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

    def run(scene: Scene, anchor: int) -> str:
        return scene.values[name][anchor]

    return run


@attribute_function("same_{name}", "Object", output="ObjectSet", role=SAMENESS)
def same_attribute(attribute: Attribute) -> Run:
    """The other objects with the same value as an object."""
    name = attribute.name

    def run(scene: Scene, anchor: int) -> Objects:
        return scene.having[name][scene.values[name][anchor]] & ~(1 << anchor)

    return run


@attribute_function("equal_{name}", "{type}", "{type}", output="Bool", asks="compare_attribute", role=EQUALITY)
def equal_attribute(attribute: Attribute) -> Run:
    """Whether two values are the same."""

    def run(scene: Scene, left: str, right: str) -> bool:
        return left == right

    return run
