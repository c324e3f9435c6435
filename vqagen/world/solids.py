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
from numpy.typing import NDArray

from vqagen.world.camera import Array, Box, Camera, Vector, dot, minus

GROUND = -1
"""The id of a pixel that shows no solid."""
HORIZON = 200.0
"""The depth of pixels that look past the ground."""
GRAZING = 1e-4
"""Shares of a ray or radius below which a point counts as on the surface, against rounding."""


class Solid(NamedTuple):
    """A body around `centre` that reaches `radius` up, down and sideways; `rotation` is about z, in degrees.

    The scenes of Johnson et al. 2017 give rotations in degrees but were rendered with the same numbers as radians: read
    so, and only so, each of their objects shows its 200 pixels (but for rounded edges, which these solids lack).
    """

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


class Surface(NamedTuple):
    """What each pixel shows: the index of a solid or GROUND, the point in the world, and the unit vector out of it."""

    ids: NDArray[np.int16]
    points: Array
    normals: Array


def surface(camera: Camera, solids: Sequence[Solid]) -> Surface:
    """Return what the rays of a camera meet: the nearest solid, or the ground z = 0."""
    ids = np.full((camera.height, camera.width), GROUND, dtype=np.int16)
    rays = camera.rays(Box(0, 0, camera.width, camera.height))
    directions = np.stack(rays, axis=-1)
    with np.errstate(divide="ignore"):
        down = -camera.position[2] / directions[..., 2]
    depths = np.where(down > 0, down, HORIZON)
    for index, solid in enumerate(solids):
        box = pixel_box(camera, solid)
        if box.left < box.right and box.top < box.bottom:
            place = np.s_[box.top : box.bottom, box.left : box.right]
            found = entry_depths(camera, solid, (rays[0][place], rays[1][place], rays[2][place]))
            closer = found < np.where(ids[place] == GROUND, np.inf, depths[place])
            depths[place][closer] = found[closer]
            ids[place][closer] = index
    points = np.array(camera.position) + depths[..., np.newaxis] * directions
    normals = np.zeros_like(points)
    normals[..., 2] = 1.0
    for index, solid in enumerate(solids):
        own = ids == index
        normals[own] = _normals(solid, points[own])
    return Surface(ids, points, normals)


def lit_share(points: Array, lamp: Vector, spread: Sequence[Vector], solids: Sequence[Solid]) -> Array:
    """Return for each point, of an array (n, 3), at how many of a lamp's spots no solid stands before it, as a share.

    The spots are at `lamp` plus each of `spread`.
    """
    lit = np.ones((len(spread), len(points)), dtype=np.bool_)
    to_lamp = np.array(lamp) - points
    lengths, starts = (to_lamp * to_lamp).sum(axis=1), (points * to_lamp).sum(axis=1)
    squares = (points * points).sum(axis=1)
    widest = max(math.hypot(*offset) for offset in spread)
    for solid in solids:
        centre = np.array(solid.centre)
        along = starts - to_lamp @ centre
        share = np.clip(-along / lengths, 0, 1)  # where the way to the lamp is nearest to the solid's middle
        distances = squares - 2 * (points @ centre) + centre @ centre + share * (2 * along + share * lengths)
        hides = reach(solid.kind, solid.radius) + solid.radius + widest
        near = np.flatnonzero(distances < hides**2)
        away, way = points[near] - centre, to_lamp[near]
        for number, offset in enumerate(spread):
            lit[number, near] &= ~_hides(solid, away, way + np.array(offset))
    shares: Array = lit.mean(axis=0)
    return shares


def _hides(solid: Solid, away: Array, to_lamp: Array) -> NDArray[np.bool_]:
    """Return for each point, relative to the solid's middle, whether the way to the lamp crosses the solid."""
    rays = Rays((away[:, 0], away[:, 1], away[:, 2]), to_lamp[:, 0], to_lamp[:, 1], to_lamp[:, 2])
    with np.errstate(divide="ignore", invalid="ignore"):
        enter, leave = KINDS[solid.kind](_turned(rays, solid), solid.radius)
        hidden: NDArray[np.bool_] = (enter <= leave) & (leave > GRAZING) & (enter < 1)
        return hidden


def _normals(solid: Solid, points: Array) -> Array:
    """Return the outward unit vectors at points, of shape (n, 3), of the solid's surface."""
    away = points - np.array(solid.centre)
    if solid.kind == "sphere":
        out: Array = away / solid.radius
        return out
    cos, sin = _heading(solid) if solid.kind == CUBE else (1.0, 0.0)
    x, y, z = cos * away[:, 0] + sin * away[:, 1], cos * away[:, 1] - sin * away[:, 0], away[:, 2]
    own = np.zeros_like(points)
    if solid.kind == CUBE:
        face = np.argmax(np.abs(np.stack((x, y, z))), axis=0)
        own[np.arange(len(points)), face] = np.sign(np.stack((x, y, z), axis=-1))[np.arange(len(points)), face]
    else:
        on_top = np.abs(z) > solid.radius * (1 - GRAZING)
        own[:, 0], own[:, 1] = np.where(on_top, 0, x / solid.radius), np.where(on_top, 0, y / solid.radius)
        own[:, 2] = np.where(on_top, np.sign(z), 0)
    return np.stack((cos * own[:, 0] - sin * own[:, 1], sin * own[:, 0] + cos * own[:, 1], own[:, 2]), axis=-1)


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


class _Outline(NamedTuple):
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
    own, outline = entry_depths(camera, solids[index], rays), _outline(camera, solids[index])
    shown = whole = own < np.inf
    for number, solid in enumerate(solids):
        if number != index and _may_hide(_outline(camera, solid), outline):
            other = entry_depths(camera, solid, rays)
            shown = shown & (own < other if number < index else own <= other)
    return int(np.count_nonzero(shown)), int(np.count_nonzero(whole))


def _may_hide(one: _Outline | None, other: _Outline | None) -> bool:
    """True unless one solid is surely behind another, or shares no pixel with it."""
    if one is None or other is None:
        return True
    x, y, away = one.x - other.x, one.y - other.y, one.outer + other.outer
    return one.nearest <= other.farthest and x * x + y * y < away * away


def _outline(camera: Camera, solid: Solid) -> _Outline | None:
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
    return _Outline(
        camera.width / 2 + dot(offset, camera.right) * scale,
        camera.height / 2 - dot(offset, camera.up) * scale,
        camera.focal_pixels * solid.radius / middle * (1 - ROUNDING) - ROUNDING,
        scale * corner * middle / (depth - corner) * (1 + ROUNDING) + ROUNDING,
        (middle - corner) * (1 - ROUNDING),
        middle,
        (middle + corner) * (1 + ROUNDING),
    )


def _proven_pixels(camera: Camera, outlines: Sequence[_Outline | None], index: int) -> float:
    """Return a number of pixels that surely show a solid: those of its inner disc, less all that others may cover.

    Pixels whose middles lie in a region cover it but for a rim of at most 1: half a pixel's diagonal is 0.71.
    """
    own = outlines[index]
    if own is None or None in outlines:
        return 0.0
    x, y, inner = own.x, own.y, own.inner - 1
    if not (0 < inner < x < camera.width - inner and inner < y < camera.height - inner):
        return 0.0
    proven = math.pi * inner * inner
    for number, other in enumerate(outlines):
        if other is not None and number != index and other.nearest <= own.middle:
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
