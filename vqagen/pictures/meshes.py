"""Triangle meshes of solids with rounded edges, and of OBJ files.

Solids reach from -1 to 1 along x, y and z, which points up. Their triangles run counter-clockwise seen from outside.
A cube is rounded by a superellipse: the offset d from the flat core of the cube, in units of the bevel, is moved to
|x|^e + |y|^e + |z|^e = 1, whose gradient is the normal. All other solids are profiles turned about z.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vqagen.errors import BadInput, PlaceError, Problem

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CUBE_BEVEL, CUBE_EXPONENT = 0.25, 3.0
CYLINDER_BEVEL, CYLINDER_EXPONENT = 0.1, 4.2
"""Bevels and exponents that resemble the base shapes of Johnson et al. 2017."""
AROUND = 48
"""Segments of a solid of revolution: at a radius of 60 pixels, its outline is within 0.13 pixels of a circle."""
RING_THICKNESS = 0.25
OF_A_BEVEL = 12
"""Segments for each strip of a bevel."""
SHARP = math.cos(math.radians(40))
"""Parts of a profile that meet at a larger angle than 40 degrees meet in an edge."""


class Mesh(NamedTuple):
    """Points and the outward unit vectors there, of shape (n, 3), and the points of each triangle, (m, 3)."""

    points: Floats
    normals: Floats
    triangles: Ints


@lru_cache(maxsize=64)
def cube(bevel: float = CUBE_BEVEL, around: int = AROUND) -> Mesh:
    """Return a cube with rounded edges; 0 leaves them sharp."""
    core = 1 - bevel
    curve = np.linspace(core, 1, around // OF_A_BEVEL + 1) if bevel else np.array([1.0])
    side = np.concatenate((-curve[::-1], curve))
    u, v = (axis.ravel() for axis in np.meshgrid(side, side, indexing="ij"))
    parts = []
    for axis in range(3):
        for sign in (1.0, -1.0):
            face = np.empty((len(u), 3))
            face[:, axis], face[:, (axis + 1) % 3], face[:, (axis + 2) % 3] = sign, u * sign, v
            parts.append(face)
    given = np.concatenate(parts)
    if bevel:
        inner = np.clip(given, -core, core)
        offset = (given - inner) / bevel
        offset /= ((np.abs(offset) ** CUBE_EXPONENT).sum(axis=1) ** (1 / CUBE_EXPONENT))[:, np.newaxis]
        points, normals = inner + bevel * offset, np.sign(offset) * np.abs(offset) ** (CUBE_EXPONENT - 1)
    else:
        points, normals = given, np.sign(given) * np.repeat(np.eye(3)[[0, 0, 1, 1, 2, 2]], len(u), axis=0)
    grid = _grid_triangles(len(side), len(side))
    return Mesh(points, _unit(normals), np.concatenate([grid + number * len(u) for number in range(6)]))


@lru_cache(maxsize=64)
def sphere(around: int = AROUND) -> Mesh:
    """Return a sphere."""
    angles = np.linspace(0, math.pi, around // 2 + 1)
    profile = np.stack((np.sin(angles), -np.cos(angles)), axis=1)
    return _turned(profile, profile, around)


@lru_cache(maxsize=64)
def cylinder(bevel: float = CYLINDER_BEVEL, around: int = AROUND) -> Mesh:
    """Return an upright cylinder with rounded rims."""
    if not bevel:
        return lathe(((0, -1), (1, -1), (1, 1), (0, 1)), around)
    angles = np.linspace(0, math.pi / 2, around // OF_A_BEVEL + 1)
    bend = np.stack((np.sin(angles), np.cos(angles)), axis=1) ** (2 / CYLINDER_EXPONENT)
    out = bend ** (CYLINDER_EXPONENT - 1)
    rim, away = 1 - bevel + bevel * bend, out / np.linalg.norm(out, axis=1)[:, np.newaxis]
    upper = np.concatenate(([[0, 1]], rim)), np.concatenate(([[0, 1]], away))
    down = np.array([1, -1])
    profile, outward = (np.concatenate((part * down, part[::-1])) for part in upper)
    return _turned(profile, outward, around)


@lru_cache(maxsize=64)
def ring(thickness: float = RING_THICKNESS, around: int = AROUND) -> Mesh:
    """Return a flat ring around z whose tube has this radius."""
    angles = np.linspace(-math.pi, math.pi, around // 2 + 1)
    out = np.stack((np.cos(angles), np.sin(angles)), axis=1)
    return _turned(np.array([1 - thickness, 0]) + thickness * out, out, around)


@lru_cache(maxsize=64)
def lathe(profile: tuple[tuple[float, float], ...], around: int = AROUND) -> Mesh:
    """Return a profile of (radius, z), from bottom to top along the outside, turned about z.

    It is smooth but where parts of the profile meet at more than 40 degrees.
    """
    way = np.array(profile, dtype=np.float64)
    steps = np.diff(way, axis=0)
    out = np.stack((steps[:, 1], -steps[:, 0]), axis=1) / np.linalg.norm(steps, axis=1)[:, np.newaxis]
    points, normals = [way[0]], [out[0]]
    for place, (before, after) in enumerate(pairwise(out), start=1):
        both = [before, after] if before @ after < SHARP else [(before + after) / 2]
        points += [way[place]] * len(both)
        normals += both
    return _turned(np.array([*points, way[-1]]), np.array([*normals, out[-1]]), around)


def _turned(profile: Floats, out: Floats, around: int) -> Mesh:
    """Return the surface that a profile of (radius, z) with outward vectors sweeps about z."""
    angles = np.linspace(0, 2 * math.pi, around + 1)
    cos, sin = np.cos(angles)[:, np.newaxis], np.sin(angles)[:, np.newaxis]

    def swept(pairs: Floats) -> Floats:
        along = np.broadcast_to(pairs[:, 1], (len(angles), len(pairs)))
        return np.stack((cos * pairs[:, 0], sin * pairs[:, 0], along), axis=2).reshape(-1, 3)

    return Mesh(swept(profile), _unit(swept(out)), _grid_triangles(len(angles), len(profile)))


def _grid_triangles(rows: int, columns: int) -> Ints:
    """Return the triangles of a grid of points; they run counter-clockwise if rows x columns points outside."""
    corner = (np.arange(rows - 1)[:, np.newaxis] * columns + np.arange(columns - 1)).ravel()
    one = np.stack((corner, corner + columns, corner + columns + 1), axis=1)
    other = np.stack((corner, corner + columns + 1, corner + 1), axis=1)
    return np.concatenate((one, other))


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1)
    return vectors / np.where(lengths > 0, lengths, 1)[:, np.newaxis]


def smooth_mesh(points: Floats, faces: Sequence[Sequence[int]]) -> Mesh:
    """Return the mesh of polygons, seen from both sides, with normals that are means over the faces of a point."""
    fans = [(face[0], *pair) for face in faces for pair in pairwise(face[1:])]
    triangles = np.array(fans, dtype=np.int64).reshape(-1, 3)
    a, b, c = points[triangles[:, 0]], points[triangles[:, 1]], points[triangles[:, 2]]
    normals = np.zeros_like(points)
    for corner in range(3):
        np.add.at(normals, triangles[:, corner], np.cross(b - a, c - a))
    return Mesh(points, _unit(normals), np.concatenate((triangles, triangles[:, ::-1])))


# Files --------------------------------------------------------------------------------------------------------------


def read_mesh(path: Path) -> Mesh:
    """Read the points and polygons of a Wavefront OBJ file, whose z points up.

    Raises PlaceError for no file, and BadInput for one that is no mesh.
    """
    try:
        points, faces = _read_obj(path.read_text("utf-8"))
    except OSError as error:
        raise PlaceError(f"cannot read the mesh {path}: {error.strerror}") from None
    except (ValueError, IndexError):
        raise BadInput([Problem("not an OBJ file with a mesh; export the mesh as OBJ", str(path))]) from None
    numbers = [number for face in faces for number in face]
    if not faces or min(map(len, faces)) < 3 or min(numbers) < 0 or max(numbers) >= len(points):
        raise BadInput([Problem("no mesh: it needs faces of at least three of its points", str(path))])
    if not np.isfinite(points).all():
        raise BadInput([Problem("the mesh has points that are not numbers", str(path))])
    return smooth_mesh(points, faces)


def _read_obj(text: str) -> tuple[Floats, list[list[int]]]:
    """Return points and faces. A face is `f 1/5 2/6 -1`: points from 1 on, or back from the last one, then textures."""
    points, faces = list[list[float]](), list[list[int]]()
    for line in text.splitlines():
        key, *values = line.split() or [""]
        if key == "v":
            points.append([float(value) for value in values[:3]])
        elif key == "f":
            numbers = [int(value.split("/")[0]) for value in values]
            faces.append([number - 1 if number > 0 else len(points) + number for number in numbers])
    return np.array(points, dtype=np.float64).reshape(-1, 3), faces
