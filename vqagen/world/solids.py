"""Solids that stand on the ground: the pixels that show each, and whether two of them overlap.

A solid is an intersection of simple bodies. A ray crosses each body along one span of depths, so it crosses the solid
where all spans overlap (Kay and Kajiya 1986), and the nearest solid along the ray owns the pixel.

Whether a solid shows enough pixels is mostly proven without a ray: the disc that it covers at least, less the discs
that others, unless they are surely behind, cover at most. Rays are followed for the other solids alone, through their
own pixels: for one a scene in place of seven.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from vqagen.world.camera import Array, Box, Camera, Vector, dot, minus


class Solid(NamedTuple):
    """A body around `centre` that reaches `radius` up, down and sideways; `rotation` is about z, in degrees."""

    kind: str
    centre: Vector
    radius: float
    rotation: float = 0.0


DepthSpan = tuple[Array, Array]
"""The depths at which rays enter and leave a body; a ray that misses it leaves before it enters (or never)."""


class Rays(NamedTuple):
    """Rays relative to a solid: their origin (common, or one a ray) and the parts of their directions, one a ray."""

    origin: tuple[float | Array, float | Array, float | Array]
    x: Array
    y: Array
    z: Array


def pixel_box(camera: Camera, solid: Solid) -> Box:
    """Return the pixels outside of which the solid cannot be seen: those of the upright box around it."""
    far = reach(solid.kind, solid.radius)
    x, y, z = solid.centre
    corners = product((x - far, x + far), (y - far, y + far), (z - solid.radius, z + solid.radius))
    return camera.bounding_box(corners)


def overlap(one: Solid, other: Solid) -> bool:
    """True if the footprints of two solids, seen from above, share an area."""
    away = math.hypot(one.centre[0] - other.centre[0], one.centre[1] - other.centre[1])
    if away < one.radius + other.radius:
        return True
    if away >= reach(one.kind, one.radius) + reach(other.kind, other.radius):
        return False
    axes = [*_separating_axes(one, other), *_separating_axes(other, one)]
    return all(_projections_overlap(one, other, axis) for axis in axes)


def entry_depths(camera: Camera, solid: Solid, directions: tuple[Array, Array, Array]) -> Array:
    """Return the depth at which each ray of a camera first meets the solid, in the rays' shape; infinite for a miss.

    A solid around or behind the camera is not seen.
    """
    rays = Rays(minus(camera.position, solid.centre), *directions)
    # A ray along a face divides by zero; it then gets an infinite span, or a nan that compares as a miss.
    with np.errstate(divide="ignore", invalid="ignore"):
        enter, leave = KINDS[solid.kind](_turned(rays, solid), solid.radius)
        return np.where((enter <= leave) & (enter > 0), enter, np.inf)


def _turned(rays: Rays, solid: Solid) -> Rays:
    """Return the rays in the solid's own frame, where a square footprint lies along x and y."""
    if solid.kind != CUBE:
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
    first, second, third = (_slab(origin, part, radius) for origin, part in zip(rays.origin, rays[1:], strict=True))
    return _both(_both(first, second), third)


def _roots(a: Array, half_b: Array, c: float | Array) -> DepthSpan:
    """Return the span between the roots t of a t^2 + 2 half_b t + c = 0; not-a-number where there are none."""
    root = np.sqrt(half_b * half_b - a * c)
    return (-half_b - root) / a, (-half_b + root) / a


def _slab(origin: float | Array, direction: Array, radius: float) -> DepthSpan:
    """Return the span inside two parallel planes at -radius and +radius."""
    one, other = (-radius - origin) / direction, (radius - origin) / direction
    return np.minimum(one, other), np.maximum(one, other)


def _both(one: DepthSpan, other: DepthSpan) -> DepthSpan:
    return np.maximum(one[0], other[0]), np.minimum(one[1], other[1])


CUBE = "cube"
"""The only kind whose footprint is a square, not a disc."""
KINDS: Mapping[str, Callable[[Rays, float], DepthSpan]] = {
    "sphere": _ball,
    CUBE: _block,
    "cylinder": _upright_cylinder,
}
"""The spans of rays inside each kind of solid. A cube has edges of 2 radius; a cylinder is as high as it is wide."""


def reach(kind: str, radius: float) -> float:
    """Return the largest distance of a point of a solid's footprint from its middle."""
    return radius * math.sqrt(2) if kind == CUBE else radius


def _heading(solid: Solid) -> tuple[float, float]:
    """Return cosine and sine of the rotation."""
    angle = math.radians(solid.rotation)
    return math.cos(angle), math.sin(angle)


def _separating_axes(one: Solid, other: Solid) -> list[tuple[float, float]]:
    """Return the axes that `one` adds to the test for a gap between the two footprints (separating axis theorem).

    These are the normals of a square's sides and, against a disc, the line to its nearest corner. A disc adds none.
    """
    offset = (other.centre[0] - one.centre[0], other.centre[1] - one.centre[1])
    if one.kind != CUBE:
        return []
    cos, sin = _heading(one)
    sides = [(cos, sin), (-sin, cos)]
    if other.kind == CUBE:
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
    if solid.kind != CUBE:
        return solid.radius
    cos, sin = _heading(solid)
    return solid.radius * (abs(cos * axis[0] + sin * axis[1]) + abs(cos * axis[1] - sin * axis[0]))


# Visible pixels -----------------------------------------------------------------------------------------------------


ROUNDING = 1e-3
"""Share of a disc, and pixels, given up on either side against rounding."""


class _Discs(NamedTuple):
    """Discs in the picture, around the middle of a solid: it covers `inner`, and nothing outside `outer`.

    `nearest`, `middle` and `farthest` are distances from the camera, of the ball that just holds the solid.
    """

    x: float
    y: float
    inner: float
    outer: float
    nearest: float
    middle: float
    farthest: float


def is_unhidden(camera: Camera, solids: Sequence[Solid], share: float) -> bool:
    """True if of each solid at least this share of the pixels shows that would if it stood alone."""
    if not share:
        return True
    outlines = [_outline(camera, solid) for solid in solids]
    for index, outline in enumerate(outlines):
        if any(_may_hide(other, outline) for number, other in enumerate(outlines) if number != index):
            shown, whole = _shown_and_whole(camera, solids, index)
            if shown < share * whole:
                return False
    return True


def is_enough_visible(camera: Camera, solids: Sequence[Solid], least: int) -> bool:
    """True if at least `least` pixels show each solid."""
    outlines = [_outline(camera, solid) for solid in solids]
    doubtful = [(proven, i) for i in range(len(solids)) if (proven := _proven_pixels(camera, outlines, i)) < least]
    return all(shown_pixels(camera, solids, i) >= least for _, i in sorted(doubtful))


def shown_pixels(camera: Camera, solids: Sequence[Solid], index: int) -> int:
    """Return the number of pixels that show a solid: at equal depths, a pixel shows the first of its solids."""
    return _shown_and_whole(camera, solids, index)[0]


def _shown_and_whole(camera: Camera, solids: Sequence[Solid], index: int) -> tuple[int, int]:
    """Return the number of pixels that show a solid, and that would if it stood alone."""
    box = pixel_box(camera, solids[index])
    if box.left >= box.right or box.top >= box.bottom:
        return 0, 0
    rays = camera.rays(box)
    depths, outline = entry_depths(camera, solids[index], rays), _outline(camera, solids[index])
    whole = depths < np.inf
    depths, rays = depths[whole], (rays[0][whole], rays[1][whole], rays[2][whole])
    shown = np.ones(len(depths), np.bool_)
    for number, solid in enumerate(solids):
        if number != index and _may_hide(_outline(camera, solid), outline):
            other = entry_depths(camera, solid, rays)
            shown = shown & (depths < other if number < index else depths <= other)
    return int(np.count_nonzero(shown)), len(depths)


def _may_hide(one: _Discs | None, other: _Discs | None) -> bool:
    """True unless one solid is surely behind another, or shares no pixel with it."""
    if one is None or other is None:
        return True
    x, y, away = one.x - other.x, one.y - other.y, one.outer + other.outer
    return one.nearest <= other.farthest and x * x + y * y < away * away


def _outline(camera: Camera, solid: Solid) -> _Discs | None:
    """Return the discs of a solid; None if it is not wholly in front of the camera.

    A solid holds a ball of its radius r, and lies in one that reaches its corners, R. At distance D and depth d, the
    small ball covers the disc of radius f r / D; no point of the large one is seen further than f R D / (d (d - R)).
    """
    offset = minus(solid.centre, camera.position)
    depth, square = dot(offset, camera.forward), dot(offset, offset)
    middle = math.sqrt(square)
    far = reach(solid.kind, solid.radius)
    corner = solid.radius if solid.kind == "sphere" else math.sqrt(far * far + solid.radius * solid.radius)
    if depth <= corner * (1 + ROUNDING):
        return None
    scale = camera.focal_pixels / depth
    return _Discs(
        camera.width / 2 + dot(offset, camera.right) * scale,
        camera.height / 2 - dot(offset, camera.up) * scale,
        camera.focal_pixels * solid.radius / middle * (1 - ROUNDING) - ROUNDING,
        scale * corner * middle / (depth - corner) * (1 + ROUNDING) + ROUNDING,
        (middle - corner) * (1 - ROUNDING),
        middle,
        (middle + corner) * (1 + ROUNDING),
    )


def _proven_pixels(camera: Camera, outlines: Sequence[_Discs | None], index: int) -> float:
    """Return a number of pixels that surely show a solid: those of its inner disc, less all that others may cover.

    Pixels whose middles lie in a region cover it but for a rim of at most 1: half a pixel's diagonal is 0.71.
    """
    discs = outlines[index]
    if discs is None or None in outlines:
        return 0.0
    x, y, inner = discs.x, discs.y, discs.inner - 1
    if not (0 < inner < x < camera.width - inner and inner < y < camera.height - inner):
        return 0.0
    proven = math.pi * inner * inner
    for number, other in enumerate(outlines):
        if other is not None and number != index and other.nearest <= discs.middle:
            away = (other.x - x) * (other.x - x) + (other.y - y) * (other.y - y)
            outer = other.outer + 1
            if away < (inner + outer) * (inner + outer):
                proven -= _shared_area(inner, outer, math.sqrt(away))
    return proven


def _shared_area(one: float, other: float, away: float) -> float:
    """Return the area that two overlapping discs of these radii share, their middles being `away` from each other."""
    if away <= abs(one - other):
        return math.pi * min(one, other) ** 2
    parts = 0.0
    for a, b in ((one, other), (other, one)):
        half = math.acos(max(-1.0, min(1.0, (away * away + a * a - b * b) / (2 * away * a))))
        parts += a * a * (half - math.sin(half) * math.cos(half))
    return parts
