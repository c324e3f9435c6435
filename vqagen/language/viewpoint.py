"""The functions of programs that look from an object or compare distances, on the floor (`3d_coords` x and y).

What is too close to call is Undefined (see `ViewMargins`): a set, where that is so of any object. An example: the cube
at (0, 0) faces the ball at (0, 2). A cone at (-1, 1) is 45 degrees to the left; with another one at (-0.1, 2), which is
3 degrees to the left, the cube has no left side in this scene. So it is where two objects of a step are the same one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from vqagen.bits import Objects, indexes, union_of
from vqagen.errors import BadInput, Problem
from vqagen.plugin import RELATION, Undefined, function
from vqagen.world.scene import Scene

SIDES = {"front": 0.0, "left": 90.0, "behind": 180.0, "right": -90.0}
"""A side of who faces something -> degrees from the heading, counterclockwise as seen from above."""
Place = tuple[float, float]

# Sides --------------------------------------------------------------------------------------------------------------


@function("Object", "Object", values=("{relation}",), output="ObjectSet", role=RELATION)
def relate_facing(scene: Scene, origin: int, facing: int, side: str) -> Objects:
    """The objects on a side of an object that faces another one, which itself is in front."""
    _check_different(origin, facing)
    others = indexes(scene.everything & ~(1 << origin | 1 << facing))
    beside = [i for i in others if _is_facing(scene, origin, facing, i, side)]
    return union_of([*beside, facing] if side == "front" else beside)


@function("Object", "Object", "Object", values=("{relation}",), output="Bool", asks="viewpoint")
def is_related_facing(scene: Scene, origin: int, facing: int, thing: int, side: str) -> bool:
    """True if the third object is on a side of the first one, which faces the second."""
    _check_different(origin, facing, thing)
    return _is_facing(scene, origin, facing, thing, side)


@function("Object", values=("{relation}",), output="ObjectSet", role=RELATION)
def relate_across(scene: Scene, anchor: int, relation: str) -> Objects:
    """The objects that stand in a relation to an object for who looks from the opposite side."""
    others = indexes(scene.everything & ~(1 << anchor))
    return union_of([i for i in others if _is_across(scene, i, anchor, relation)])


@function("Object", "Object", values=("{relation}",), output="Bool", asks="viewpoint")
def is_related_across(scene: Scene, thing: int, anchor: int, relation: str) -> bool:
    """True if the first object stands in a relation to the second one for who looks from the opposite side."""
    _check_different(thing, anchor)
    return _is_across(scene, thing, anchor, relation)


def _is_facing(scene: Scene, origin: int, facing: int, thing: int, side: str) -> bool:
    heading, offset = _offset(scene, origin, facing), _offset(scene, origin, thing)
    if not min(math.hypot(*heading), math.hypot(*offset)) > scene.margins.distance:
        raise Undefined("two objects of a point of view are at nearly the same place")
    turned = _degrees(offset) - _degrees(heading) - _known_side(side)
    # From the middle of the side, 0 to 180 degrees: up to 90 on this side, beyond on the opposite one.
    return _decided(90 - abs((turned + 180) % 360 - 180), scene.margins.angle, "direction")


def _is_across(scene: Scene, thing: int, anchor: int, relation: str) -> bool:
    _known_side(relation)
    try:
        x, y = _plane(scene.record["directions"][relation])
    except (LookupError, TypeError, ValueError):
        raise _missing(scene, f"directions.{relation}") from None
    along_x, along_y = _offset(scene, thing, anchor)  # and not from the anchor: for who is opposite, left is right
    return _decided((along_x * x + along_y * y) / math.hypot(x, y), scene.margins.distance, "offset")


def _known_side(side: str) -> float:
    if side not in SIDES:
        raise Undefined(f"{side!r} is no side of a point of view; known: {', '.join(SIDES)}")
    return SIDES[side]


# Distances ----------------------------------------------------------------------------------------------------------


@function("Object", "ObjectSet", output="ObjectSet", role=RELATION)
def nearest(scene: Scene, anchor: int, objects: Objects) -> Objects:
    """The one of several objects that is nearest to an object, as a set."""
    return 1 << _ranked(scene, anchor, indexes(objects & ~(1 << anchor)))[0]


@function("Object", "ObjectSet", output="ObjectSet", role=RELATION)
def farthest(scene: Scene, anchor: int, objects: Objects) -> Objects:
    """The one of several objects that is farthest from an object, as a set."""
    return 1 << _ranked(scene, anchor, indexes(objects & ~(1 << anchor)), sign=-1)[0]


@function("Object", "Object", "Object", output="Object")
def nearer(scene: Scene, anchor: int, one: int, other: int) -> int:
    """The one of two objects that is nearer to the first one."""
    _check_different(anchor, one, other)
    return _ranked(scene, anchor, (one, other))[0]


@function("Object", "Object", "Object", output="Object")
def farther(scene: Scene, anchor: int, one: int, other: int) -> int:
    """The one of two objects that is farther from the first one."""
    _check_different(anchor, one, other)
    return _ranked(scene, anchor, (one, other))[1]


@function("Object", "Object", "Object", output="Integer", asks="ratio")
def times_as_far(scene: Scene, anchor: int, one: int, other: int) -> int:
    """How many times as far from the first object the second one is as the third, if about a whole number from 2 on."""
    _check_different(anchor, one, other)
    near = _distance(scene, anchor, other)
    ratio = _distance(scene, anchor, one) / near if near > scene.margins.distance else 0.0
    times = round(ratio)
    if times < 2 or abs(ratio - times) > scene.margins.ratio:
        raise Undefined("a distance is no whole number of times another one, from 2 on")
    return times


def _ranked(scene: Scene, anchor: int, objects: Iterable[int], sign: int = 1) -> list[int]:
    """Return objects by their distance from an object; the first two must differ by more than the margin."""
    ranked = sorted((sign * _distance(scene, anchor, i), i) for i in objects)
    if len(ranked) < 2:
        raise Undefined("fewer than two objects, of which none is the nearest or farthest")
    _decided(ranked[1][0] - ranked[0][0], scene.margins.distance, "difference in distance")
    return [i for _, i in ranked]


# Places -------------------------------------------------------------------------------------------------------------


def _decided(amount: float, margin: float, kind: str) -> bool:
    """Return whether an amount is positive; it must not be within the margin."""
    if not abs(amount) > margin:
        raise Undefined(f"a {kind} is within the margin of the metadata's `viewpoint`")
    return amount > 0


def _check_different(*objects: int) -> None:
    if len({*objects}) < len(objects):
        raise Undefined("an object is seen from itself, or compared with itself: the objects of this step must differ")


def _degrees(offset: Place) -> float:
    return math.degrees(math.atan2(offset[1], offset[0]))


def _distance(scene: Scene, one: int, other: int) -> float:
    return math.hypot(*_offset(scene, one, other))


def _offset(scene: Scene, one: int, other: int) -> Place:
    (x, y), (to_x, to_y) = _place(scene, one), _place(scene, other)
    return to_x - x, to_y - y


def _place(scene: Scene, thing: int) -> Place:
    try:
        return _plane(scene.record["objects"][thing]["3d_coords"])
    except (LookupError, TypeError, ValueError):
        raise _missing(scene, f"objects[{thing}].3d_coords") from None


def _plane(vector: Sequence[float]) -> Place:
    """Return x and y of three numbers; ValueError or TypeError for anything else."""
    x, y, _ = vector
    return float(x), float(y)


def _missing(scene: Scene, path: str) -> BadInput:
    message = "expected three numbers, from which points of view and distances are computed"
    return BadInput([Problem(message, f"scene {scene.index} {scene.image}".rstrip(), path)])
