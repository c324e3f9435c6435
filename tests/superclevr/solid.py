"""What the 3D questions of Super-CLEVR add: which way an object faces, and which of its parts something hides.

A scene record has `"occlusion": {"0": {"saddle": [0.4, …], …}}`: of each object, by its index as text, how much of each
part is hidden. An object's `rotation` in degrees says which way it faces. A part is a pair (object, name).
"""

from __future__ import annotations

from vqagen.bits import indexes, union_of
from vqagen.plugin import FILTER, SAMENESS, Undefined, attribute, composite, function

FACING = (("back", 0), ("right", 90), ("front", 180), ("left", 270))


def angle(one, other):
    turn = abs(one - other) % 360
    return min(turn, 360 - turn)


@attribute("Pose")
def pose(thing, scene):
    """Which way an object faces, where it is not askew."""
    return next((name for name, degrees in FACING if angle(thing["rotation"], degrees) <= 30), None)


@function("Object", output="ObjectSet", role=SAMENESS)
def same_direction(scene, anchor):
    """The other objects that face the same way as an object, within 45 degrees."""
    turned = [thing["rotation"] for thing in scene.record["objects"]]
    return union_of(i for i in indexes(scene.everything) if i != anchor and angle(turned[i], turned[anchor]) < 45)


@function("Object", output="PartSet")
def object2part_all(scene, anchor):
    """The parts of an object."""
    return tuple((anchor, name) for name in sorted(scene.record["occlusion"][str(anchor)]))


@function("PartSet", values=["Partname"], output="PartSet", role=FILTER)
def partfilter_partname(scene, parts, name):
    """The parts of a set that have a name."""
    return tuple(part for part in parts if part[1] == name)


@function("PartSet", values=["Side"], output="PartSet", role=FILTER)
def partfilter_side(scene, parts, side):
    """The parts of a set on a side: it ends their name, as in "door_left"."""
    return tuple(part for part in parts if part[1].endswith(f"_{side}"))


@function("PartSet", output="Part")
def uniquepart(scene, parts):
    """The one part of a set of one."""
    if len(parts) != 1:
        raise Undefined("uniquepart of a set that does not hold exactly one part")
    return parts[0]


@function("Part", output="Bool", asks="query")
def partquery_occlusion(scene, part):
    """Whether something hides some of a part."""
    i, name = part
    return scene.record["occlusion"][str(i)][name][0] > 0


composite("partfilter_unique", "PartSet", reducer="uniquepart")
