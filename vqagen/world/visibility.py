"""The test whether every solid of a picture shows enough pixels.

For most solids discs prove it, without a ray: the disc that a solid covers at least, less the discs that others, unless
they are surely behind, cover at most. Rays are followed for the other solids alone, through their own pixels: for one a
scene in place of seven.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vqagen.world.camera import Camera
from vqagen.world.solids import Solid, entry_depths, pixel_box, reach
from vqagen.world.vectors import dot, minus

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


def is_enough_visible(camera: Camera, solids: Sequence[Solid], least: int) -> bool:
    """True if at least `least` pixels show each solid."""
    outlines = [_outline(camera, solid) for solid in solids]
    doubtful = [(proven, i) for i in range(len(solids)) if (proven := _proven_pixels(camera, outlines, i)) < least]
    return all(shown_pixels(camera, solids, i) >= least for _, i in sorted(doubtful))


def shown_pixels(camera: Camera, solids: Sequence[Solid], index: int) -> int:
    """Return the number of pixels that show a solid: at equal depths, a pixel shows the first of its solids."""
    box = pixel_box(camera, solids[index])
    if box.left >= box.right or box.top >= box.bottom:
        return 0
    rays = camera.rays(box)
    own, outline = entry_depths(camera, solids[index], rays), _outline(camera, solids[index])
    shown = own < np.inf
    for number, solid in enumerate(solids):
        if number != index and _may_hide(_outline(camera, solid), outline):
            other = entry_depths(camera, solid, rays)
            shown &= own < other if number < index else own <= other
    return int(np.count_nonzero(shown))


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
