"""Triangles as pixels: which pixel centres each covers, at which depth, and what is nearest to the camera there.

Depth and barycentric coordinates divided by depth are linear in the picture, so each triangle is three rows of
coefficients (Pineda 1988), and all pixels of all rows of all triangles are found in one go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
NO_SLOPE = 1e-30
"""A slope in place of 0, by which numbers can be divided."""
SLACK = 1e-3
"""Pixels by which the part of a row that a triangle may cover is longer than rounding lets it be."""


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

    def at(self, entries: NDArray[Any]) -> Hits:
        """Return the entries of these numbers."""
        return Hits(self.pixels.take(entries), self.triangles.take(entries), self.weights.take(entries, axis=1))

    def front(self, size: int) -> NDArray[np.int32]:
        """Return the number of the nearest entry of each of `size` pixels, of several the first one; -1 for none."""
        nearness, entries = self.nearness, np.arange(len(self.pixels), dtype=np.int32)[::-1]
        front = np.full(size, -1, dtype=np.int32)
        while len(entries):
            pixels = self.pixels[entries]
            front[pixels] = entries  # of several, the last one stays
            in_front = front[pixels]
            entries = entries[nearness[entries] > nearness[in_front]]
        return front

    def nearest(self) -> Hits:
        """Return the nearest entry of each pixel, in the order of the pixels."""
        front = self.front(self.pixels.max(initial=-1) + 1)
        return self.at(front[front >= 0])


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
    corners = np.ascontiguousarray(mesh.triangles.T)
    xs, ys = x.take(corners), y.take(corners)  # of shape (3, triangles)
    # In pixels, whose y runs down, a triangle that faces the camera runs clockwise: its area is negative.
    area = (xs[1] - xs[0]) * (ys[2] - ys[0]) - (xs[2] - xs[0]) * (ys[1] - ys[0])
    is_ahead = (depths > NEAR).take(corners)
    numbers = np.flatnonzero((area < 0) & is_ahead[0] & is_ahead[1] & is_ahead[2])
    xs, ys = xs.take(numbers, axis=1), ys.take(numbers, axis=1)
    left, right = np.ceil(xs.min(axis=0)).clip(0), np.floor(xs.max(axis=0)).clip(None, camera.width - 1)
    top, bottom = np.ceil(ys.min(axis=0)).clip(0), np.floor(ys.max(axis=0)).clip(None, camera.height - 1)
    chosen = np.flatnonzero((right >= left) & (bottom >= top))
    xs, ys, numbers = xs.take(chosen, axis=1), ys.take(chosen, axis=1), numbers[chosen]
    near, area = 1 / depths.take(corners.take(numbers, axis=1)), area[numbers]
    left, top = left[chosen].astype(np.int64), top[chosen].astype(np.int64)
    wide, high = right[chosen].astype(np.int64) - left + 1, bottom[chosen].astype(np.int64) - top + 1
    # Corner i weighs (a_i x + b_i y + c_i), which is 1 / depth there and 0 on the other side.
    one, two = [1, 2, 0], [2, 0, 1]
    parts = (ys[one] - ys[two], xs[two] - xs[one], xs[one] * ys[two] - xs[two] * ys[one])
    a, b, c = (each / area * near for each in parts)
    a = np.where(a, a, NO_SLOPE)
    begins_by, ends_by = np.where(a > 0, 0, -np.inf), np.where(a < 0, 0, np.inf)
    ends = np.cumsum(wide * high)
    start = 0
    while start < len(ends) or start == 0:
        end = max(start + 1, int(np.searchsorted(ends, (ends[start - 1] if start else 0) + AT_ONCE, side="right")))
        part = np.arange(start, min(end, len(ends)))
        inside, steps = _counted_out(part, high[part])
        rows = top.take(inside) + steps
        # In each row a corner weighs slope * column + height, which is at least 0 on one side of a column.
        slopes = a.take(inside, axis=1)
        heights = b.take(inside, axis=1) * rows + c.take(inside, axis=1)
        zeros = -heights / slopes
        begins = (zeros + begins_by.take(inside, axis=1)).max(axis=0)
        ends_at = (zeros + ends_by.take(inside, axis=1)).min(axis=0)
        least, most = left.take(inside), (left + wide - 1).take(inside)
        first = np.ceil(begins - SLACK).clip(least, most + 1).astype(np.int64)
        last = np.floor(ends_at + SLACK).clip(least - 1, most).astype(np.int64)
        spans, steps = _counted_out(np.arange(len(rows)), (last - first + 1).clip(0))
        columns = first.take(spans) + steps
        weights = slopes.take(spans, axis=1) * columns + heights.take(spans, axis=1)
        kept = np.flatnonzero(weights.min(axis=0) >= 0)
        spans = spans.take(kept)
        pixels = rows.take(spans) * camera.width + columns.take(kept)
        yield Hits(pixels, numbers.take(inside.take(spans)), weights.take(kept, axis=1))
        start = end


def _counted_out(numbers: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return each number as often as its count says, and beside it 0, 1, 2, …"""
    starts = np.cumsum(counts) - counts
    return np.repeat(numbers, counts), np.arange(counts.sum()) - np.repeat(starts, counts)
