"""Triangles as pixels: which pixel centres each covers, at which depth, and what is nearest to the camera there.

Depth and barycentric coordinates divided by depth are linear in the picture, so each triangle is three rows of
coefficients, and all pixels of all triangles are found in one go (Pineda 1988).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from vqagen.pictures.looks import Thing
from vqagen.pictures.meshes import Floats, Ints, Mesh
from vqagen.world.camera import Camera


class SceneMesh(NamedTuple):
    """All objects of a scene as one mesh, and the number of the surface and of the object of each triangle."""

    mesh: Mesh
    surfaces: Ints
    things: Ints


def joined(things: Sequence[Thing]) -> SceneMesh:
    """Return the mesh of objects; their surfaces are numbered one after the other."""
    parts = [(number, surface.mesh) for number, thing in enumerate(things) for surface in thing.surfaces]
    if not parts:
        return SceneMesh(
            Mesh(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3), np.int64)), *[np.zeros(0, np.int64)] * 2
        )
    sizes = [len(mesh.points) for _, mesh in parts]
    starts = np.cumsum([0, *sizes[:-1]])
    points, normals = (np.concatenate([mesh[part] for _, mesh in parts]) for part in range(2))
    triangles = np.concatenate([mesh.triangles + start for (_, mesh), start in zip(parts, starts, strict=True)])
    counts = [len(mesh.triangles) for _, mesh in parts]
    surfaces = np.repeat(np.arange(len(parts)), counts)
    return SceneMesh(Mesh(points, normals, triangles), surfaces, np.array([number for number, _ in parts])[surfaces])


NEAR = 1e-3
"""Triangles that come nearer to the camera's plane are not shown."""
AT_ONCE = 1 << 21
"""Most pixels of bounding boxes that are looked at together, which bounds the memory."""


class Hits(NamedTuple):
    """Pixels that triangles cover, one entry for each pair: `row * width + column`, the triangle, and weights.

    `weights`, of shape (3, n), sum to 1 / depth; divided by their sum they are the barycentric coordinates.
    """

    pixels: Ints
    triangles: Ints
    weights: Floats

    @property
    def nearness(self) -> Floats:
        """1 / depth of each entry."""
        return np.asarray(self.weights.sum(axis=0))

    def nearest(self) -> Hits:
        """Return the nearest entry of each pixel, in the order of pixels."""
        order = np.lexsort((self.triangles, -self.nearness, self.pixels))
        pixels = self.pixels[order]
        first = order[np.concatenate(([True], pixels[1:] != pixels[:-1]))] if len(order) else order
        return Hits(self.pixels[first], self.triangles[first], self.weights[:, first])


def hits(camera: Camera, mesh: Mesh) -> Hits:
    """Return the pixels whose centres lie in front of the camera on triangles that face it."""
    chunks = list(_hits(camera, mesh))
    return Hits(*(np.concatenate([chunk[part] for chunk in chunks], axis=-1) for part in range(3)))


def _hits(camera: Camera, mesh: Mesh) -> Iterator[Hits]:
    away = mesh.points - np.array(camera.position)
    depths = away @ np.array(camera.forward)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = camera.width / 2 + camera.focal_pixels * (away @ np.array(camera.right)) / depths - 0.5
        y = camera.height / 2 - camera.focal_pixels * (away @ np.array(camera.up)) / depths - 0.5
    is_ahead = (depths > NEAR)[mesh.triangles]
    numbers = np.flatnonzero(is_ahead[:, 0] & is_ahead[:, 1] & is_ahead[:, 2])
    corners = mesh.triangles[numbers]
    xs, ys, near = x[corners], y[corners], 1 / depths[corners]  # of shape (triangles, 3)
    left, right = np.ceil(_of_three(np.minimum, xs)).clip(0), np.floor(_of_three(np.maximum, xs))
    top, bottom = np.ceil(_of_three(np.minimum, ys)).clip(0), np.floor(_of_three(np.maximum, ys))
    right, bottom = right.clip(None, camera.width - 1), bottom.clip(None, camera.height - 1)
    # In pixels, whose y runs down, a triangle that faces the camera runs clockwise: its area is negative.
    area = (xs[:, 1] - xs[:, 0]) * (ys[:, 2] - ys[:, 0]) - (xs[:, 2] - xs[:, 0]) * (ys[:, 1] - ys[:, 0])
    chosen = np.flatnonzero((right >= left) & (bottom >= top) & (area < 0))
    xs, ys, near, area, numbers = xs[chosen], ys[chosen], near[chosen], area[chosen], numbers[chosen]
    left, top = left[chosen].astype(np.int64), top[chosen].astype(np.int64)
    wide, high = right[chosen].astype(np.int64) - left + 1, bottom[chosen].astype(np.int64) - top + 1
    # Corner i weighs (a_i x + b_i y + c_i), which is 1 / depth there and 0 on the other side.
    one, two = [1, 2, 0], [2, 0, 1]
    a = (ys[:, one] - ys[:, two]) / area[:, np.newaxis] * near
    b = (xs[:, two] - xs[:, one]) / area[:, np.newaxis] * near
    c = (xs[:, one] * ys[:, two] - xs[:, two] * ys[:, one]) / area[:, np.newaxis] * near
    sizes = wide * high
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes) or start == 0:
        before = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + AT_ONCE, side="right")))
        part = slice(start, end)
        inside = np.repeat(np.arange(len(sizes[part])), sizes[part]) + start
        place = np.arange(len(inside)) + before - (ends - sizes)[inside]
        columns, rows = left[inside] + place % wide[inside], top[inside] + place // wide[inside]
        weights = np.stack([a[inside, i] * columns + b[inside, i] * rows + c[inside, i] for i in range(3)])
        kept = np.flatnonzero(_of_three(np.minimum, weights.T) >= 0)
        yield Hits(rows[kept] * camera.width + columns[kept], numbers[inside[kept]], weights[:, kept])
        start = end


def _of_three(least_or_greatest: np.ufunc, values: Floats) -> Floats:
    """Return that of each row of three. Along so short an axis, numpy's own `min` takes ten times as long."""
    return np.asarray(least_or_greatest(least_or_greatest(values[:, 0], values[:, 1]), values[:, 2]))
