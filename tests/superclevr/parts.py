"""Super-CLEVR's parts: a step of a program may give a set of parts, and a part is told by any of its attributes.

In scene records an object has `"parts": {name: {"color": …, "material": …, "size": …}}`. Here a part is a pair of its
object's index and its name, and a set of parts a tuple of them.
"""

from __future__ import annotations

from vqagen.bits import indexes, union_of
from vqagen.plugin import FILTER, Undefined, attribute_function, composite, function


def parts_of(scene, i):
    return [(i, name) for name in sorted(scene.record["objects"][i].get("parts", {}))]


def value_of(scene, part, attribute):
    i, name = part
    return scene.record["objects"][i]["parts"][name].get(attribute)


@function("Object", output="PartSet")
def object2part(scene, anchor):
    """The parts of an object."""
    return tuple(parts_of(scene, anchor))


@function("ObjectSet", output="PartSet")
def objects2parts(scene, objects):
    """The parts of all objects of a set."""
    return tuple(part for i in indexes(objects) for part in parts_of(scene, i))


@function("PartSet", output="ObjectSet")
def part2object(scene, parts):
    """The objects that some part of a set belongs to."""
    return union_of(i for i, _ in parts)


@attribute_function("partfilter_{name}", "PartSet", values=["{type}"], output="PartSet", role=FILTER)
def partfilter(attribute):
    """The parts of a set that have a value."""
    return lambda scene, parts, value: tuple(each for each in parts if value_of(scene, each, attribute.key) == value)


@function("PartSet", values=["Partname"], output="PartSet", role=FILTER)
def partfilter_partname(scene, parts, name):
    """The parts of a set that have a name."""
    return tuple(each for each in parts if each[1] == name)


@function("PartSet", output="Part")
def uniquepart(scene, parts):
    """The one part of a set of one."""
    if len(parts) != 1:
        raise Undefined("uniquepart of a set that does not hold exactly one part")
    return parts[0]


@function("PartSet", output="Bool", asks="exist")
def exist_parts(scene, parts):
    """Whether a set has any part."""
    return len(parts) > 0


@attribute_function("partquery_{name}", "Part", output="{type}", asks="query")
def partquery(attribute):
    """The value a part has."""
    return lambda scene, part: value_of(scene, part, attribute.key)


composite("partfilter", "PartSet")
composite("partfilter_unique", "PartSet", reducer="uniquepart")
composite("partfilter_exist", "PartSet", reducer="exist_parts", offers_absent=True)
