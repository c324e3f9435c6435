"""Solids that stand on the ground: the pixels that show each, and whether two of them overlap.

A solid is an intersection of simple bodies. A ray crosses each body along one span of depths, so it crosses the solid
where all spans overlap (Kay and Kajiya 1986), and the nearest solid along the ray owns the pixel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vqagen.world.camera import Array, Box, Camera, Vector, minus

GROUND = -1
"""The id of a pixel that shows no solid."""


class Solid(NamedTuple):
    """A body around `centre` that reaches `radius` up, down and sideways; `rotation` is about z, in degrees.

    The scenes of Johnson et al. 2017 give rotations in degrees but were rendered with the same numbers as radians: read
    so, and only so, each of their objects shows its 200 pixels (but for rounded edges, which these solids lack).
    """

    kind: str
    centre: Vector
    radius: float
    rotation: float = 0.0


class DepthSpan(NamedTuple):
    """The depths at which rays enter and leave a body; a ray that misses it leaves before it enters (or never)."""

    enter: Array
    leave: Array


class Rays(NamedTuple):
    """Rays relative to a solid: their common origin, and the parts of their directions, one entry a pixel."""

    origin: Vector
    x: Array
    y: Array
    z: Array


class SolidKind(NamedTuple):
    """A kind of solid: the span of a ray inside it, and the form of its footprint."""

    span: Callable[[Rays, float], DepthSpan]
    has_square_footprint: bool


def id_image(camera: Camera, solids: Sequence[Solid]) -> NDArray[np.int16]:
    """Return `image[row, column]`: the index of the solid seen at that pixel's centre, or GROUND."""
    ids = np.full((camera.height, camera.width), GROUND, dtype=np.int16)
    nearest = np.full((camera.height, camera.width), np.inf)
    for index, solid in enumerate(solids):
        box = pixel_box(camera, solid)
        if box.left >= box.right or box.top >= box.bottom:
            continue
        place = np.s_[box.top : box.bottom, box.left : box.right]
        depth = _depths(camera, solid, box)
        closer = depth < nearest[place]
        nearest[place][closer] = depth[closer]
        ids[place][closer] = index
    return ids


def visible_pixels(camera: Camera, solids: Sequence[Solid]) -> list[int]:
    """Return, for each solid, the number of pixels that show it."""
    seen = id_image(camera, solids)
    counts: list[int] = np.bincount(seen[seen != GROUND], minlength=len(solids)).tolist()
    return counts


def pixel_box(camera: Camera, solid: Solid) -> Box:
    """Return the pixels outside of which the solid cannot be seen: those of the upright box around it."""
    reach = _reach(solid)
    x, y, z = solid.centre
    corners = product((x - reach, x + reach), (y - reach, y + reach), (z - solid.radius, z + solid.radius))
    return camera.bounding_box(corners)


def overlap(one: Solid, other: Solid) -> bool:
    """True if the footprints of two solids, seen from above, share an area."""
    away = math.hypot(one.centre[0] - other.centre[0], one.centre[1] - other.centre[1])
    if away < one.radius + other.radius:
        return True
    if away >= _reach(one) + _reach(other):
        return False
    axes = [*_separating_axes(one, other), *_separating_axes(other, one)]
    return all(_projections_overlap(one, other, axis) for axis in axes)


def _depths(camera: Camera, solid: Solid, box: Box) -> Array:
    """Return the depth at which each ray of `box` first meets the solid, shape (rows, columns); infinite for a miss.

    A solid around or behind the camera is not seen.
    """
    rays = Rays(minus(camera.position, solid.centre), *camera.rays(box))
    # A ray along a face divides by zero; it then gets an infinite span, or a nan that compares as a miss.
    with np.errstate(divide="ignore", invalid="ignore"):
        enter, leave = KINDS[solid.kind].span(_turned(rays, solid), solid.radius)
        return np.where((enter <= leave) & (enter > 0), enter, np.inf)


def _turned(rays: Rays, solid: Solid) -> Rays:
    """Return the rays in the solid's own frame, where a square footprint lies along x and y."""
    if not KINDS[solid.kind].has_square_footprint:
        return rays
    cos, sin = _heading(solid)
    x, y, z = rays.origin
    origin = (cos * x + sin * y, cos * y - sin * x, z)
    return Rays(origin, cos * rays.x + sin * rays.y, cos * rays.y - sin * rays.x, rays.z)


def _ball(rays: Rays, radius: float) -> DepthSpan:
    x, y, z = rays.origin
    square = rays.x * rays.x + rays.y * rays.y + rays.z * rays.z
    return _roots(square, x * rays.x + y * rays.y + z * rays.z, x * x + y * y + z * z - radius * radius)


def _upright_cylinder(rays: Rays, radius: float) -> DepthSpan:
    x, y, z = rays.origin
    square = rays.x * rays.x + rays.y * rays.y
    side = _roots(square, x * rays.x + y * rays.y, x * x + y * y - radius * radius)
    return _both(side, _slab(z, rays.z, radius))


def _block(rays: Rays, radius: float) -> DepthSpan:
    slabs = (_slab(origin, part, radius) for origin, part in zip(rays.origin, rays[1:], strict=True))
    first, second, third = slabs
    return _both(_both(first, second), third)


def _roots(a: Array, half_b: Array, c: float) -> DepthSpan:
    """Return the span between the roots t of a t^2 + 2 half_b t + c = 0; not-a-number where there are none."""
    root = np.sqrt(half_b * half_b - a * c)
    return DepthSpan((-half_b - root) / a, (-half_b + root) / a)


def _slab(origin: float, direction: Array, radius: float) -> DepthSpan:
    """Return the span inside two parallel planes at -radius and +radius."""
    one, other = (-radius - origin) / direction, (radius - origin) / direction
    return DepthSpan(np.minimum(one, other), np.maximum(one, other))


def _both(one: DepthSpan, other: DepthSpan) -> DepthSpan:
    return DepthSpan(np.maximum(one.enter, other.enter), np.minimum(one.leave, other.leave))


KINDS: Mapping[str, SolidKind] = {
    "sphere": SolidKind(_ball, has_square_footprint=False),
    "cube": SolidKind(_block, has_square_footprint=True),
    "cylinder": SolidKind(_upright_cylinder, has_square_footprint=False),
}
"""Every kind of solid. A cube has edges of 2 radius; an upright cylinder is as high as it is wide."""


def _reach(solid: Solid) -> float:
    """Return the largest distance of a point of the footprint from its middle."""
    return solid.radius * math.sqrt(2) if KINDS[solid.kind].has_square_footprint else solid.radius


def _heading(solid: Solid) -> tuple[float, float]:
    """Return cosine and sine of the rotation."""
    angle = math.radians(solid.rotation)
    return math.cos(angle), math.sin(angle)


def _separating_axes(one: Solid, other: Solid) -> list[tuple[float, float]]:
    """Return the axes that `one` adds to the test for a gap between the two footprints (separating axis theorem).

    These are the normals of a square's sides and, against a disc, the line to its nearest corner. A disc adds none.
    """
    offset = (other.centre[0] - one.centre[0], other.centre[1] - one.centre[1])
    if not KINDS[one.kind].has_square_footprint:
        return []
    cos, sin = _heading(one)
    sides = [(cos, sin), (-sin, cos)]
    if KINDS[other.kind].has_square_footprint:
        return sides
    corner = [math.copysign(one.radius, offset[0] * x + offset[1] * y) for x, y in sides]
    gap = [offset[i] - corner[0] * sides[0][i] - corner[1] * sides[1][i] for i in range(2)]
    length = math.hypot(*gap)
    return sides if length == 0 else [*sides, (gap[0] / length, gap[1] / length)]


def _projections_overlap(one: Solid, other: Solid, axis: tuple[float, float]) -> bool:
    away = (other.centre[0] - one.centre[0]) * axis[0] + (other.centre[1] - one.centre[1]) * axis[1]
    return abs(away) < _half_projection(one, axis) + _half_projection(other, axis)


def _half_projection(solid: Solid, axis: tuple[float, float]) -> float:
    """Return half the length of the footprint's projection on the axis."""
    if not KINDS[solid.kind].has_square_footprint:
        return solid.radius
    cos, sin = _heading(solid)
    return solid.radius * (abs(cos * axis[0] + sin * axis[1]) + abs(cos * axis[1] - sin * axis[0]))
