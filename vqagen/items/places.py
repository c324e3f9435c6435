"""Where objects are in a picture: what answers that are places are scored by."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, NamedTuple

from vqagen.errors import describe
from vqagen.world.scene import box_fault, picture_size

Mark = tuple[float, ...]
"""A point (x, y), or a box (left, top, right, bottom), in pixels."""


MARK_KEYS = ("bbox_2d", "bbox", "box", "point_2d", "point")
"""Keys of points and boxes in the JSON that models write."""


class Runs(NamedTuple):
    """The pixels of an object, which may be seen in part: pixel (x, y) is number `x * height + y`."""

    height: int
    ends: tuple[int, ...]
    """The end of each run of pixels that are not and that are of the object, in turn."""

    def holds(self, x: float, y: float) -> bool:
        """True if a point is on the object."""
        number = int(x) * self.height + int(y)
        return 0 <= y < self.height and x >= 0 and bisect_right(self.ends, number) % 2 == 1


class Spot(NamedTuple):
    """Where one object is. Of a mask there is none unless the scene has it."""

    box: Mark
    mask: Runs | None = None

    def score(self, shape: Mark) -> float:
        """Return how well a shape says where the object is: the IoU of a box; of a point 1 if it is on it, else 0.

        >>> Spot((0, 0, 20, 10)).score((0, 0, 10, 10)), Spot((0, 0, 20, 10)).score((5, 5))
        (0.5, 1.0)
        """
        if len(shape) == 2:
            left, top, right, bottom = self.box
            is_on = left <= shape[0] < right and top <= shape[1] < bottom
            return float(is_on and (self.mask is None or self.mask.holds(*shape)))
        sides = [min(shape[i + 2], self.box[i + 2]) - max(shape[i], self.box[i]) for i in (0, 1)]
        both = max(0.0, sides[0]) * max(0.0, sides[1])
        return both / (_area(shape) + _area(self.box) - both)


def _area(box: Mark) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


class Spots(NamedTuple):
    """Where the objects of an answer are that can be seen, and the width and height of the picture, if known."""

    objects: tuple[Spot, ...]
    size: tuple[int, int] | None = None


def spots_of_boxes(boxes: Any) -> Spots:
    """Return places by the boxes of objects; [] is that of an object that cannot be seen. Raises ValueError."""
    if not isinstance(boxes, list | tuple):
        raise ValueError(f"expected boxes such as [[180, 110, 244, 171]], found {describe(boxes)}")
    return Spots(tuple([Spot(_box(box)) for box in boxes if box != []]))


def _box(box: Any, size: tuple[int, int] | None = None) -> Mark:
    if fault := box_fault(box, size):
        raise ValueError(fault)
    return tuple(box)


def spots_of_scene(scene: Mapping[str, Any]) -> tuple[list[Spot | None], tuple[int, int] | None] | None:
    """Return the place of each object of a scene record, and the size of its picture; None if it has no boxes.

    Raises ValueError for what is no box or no mask.
    """
    things = scene.get("objects") or []
    if not all("box" in thing for thing in things):
        return None
    size = picture_size(scene)
    spots = [Spot(_box(each["box"], size), _mask(each.get("mask"), size)) if each["box"] else None for each in things]
    masks = [spot.mask for spot in spots if spot]
    if None in masks and any(masks):
        raise ValueError("some objects have a mask and others have none, though they can be seen: give all or none")
    return spots, size


def _mask(record: Mapping[str, Any] | None, size: tuple[int, int] | None) -> Runs | None:
    match record:
        case None:
            return None
        case {"size": [int(height), int(width)]} if size and size != (width, height):
            raise ValueError(f"a mask has {width} x {height} pixels, and its picture {size[0]} x {size[1]}")
        case {"size": [int(height), int(width)], "counts": [*counts]}:
            if all(type(each) is int and each >= 0 for each in counts) and sum(counts) == height * width:
                return Runs(height, tuple(accumulate(counts)))
            raise ValueError(f"expected the runs of a mask of {height} x {width} pixels, which add up to its size")
    raise ValueError(f"expected a mask with size and counts, found {describe(record)}")
