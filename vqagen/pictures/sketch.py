"""Drawn pictures of scenes: quick, without a renderer, for a training loop that wants twenty and more a second.

Triangles are painted with one lamp, light from all sides and soft shadows on the floor; metal mirrors a room with
windows. Colors are linear until the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vqagen.pictures.looks import FINISHES, GLASS, METAL, RUBBER, SATIN, SceneLooks, Thing
from vqagen.pictures.meshes import Ints, Mesh
from vqagen.pictures.raster import Hits, hits, joined
from vqagen.world.camera import Box, Camera, dot, minus

Floats = NDArray[np.float32]
FINENESS = 2
"""Places of a pixel that are looked at, across and down."""
LAMP_RIGHT, LAMP_ABOVE = 0.25, 0.15
"""Where the lamp is beside the camera, in units of the camera's distance from the middle of the scene."""
AMBIENT, LIGHT = 0.2, 0.42
SHADOW, CONTACT = 0.42, 0.4
"""Shares of the floor's light that an object takes on its shadow's side, and below itself."""
ROOM = 2.5
"""How far the walls are that metal mirrors: near, so that what flat sides mirror changes across them."""
_SEE_THROUGH = 0.45
"""The share of the light that glass lets through where it is seen straight."""


def sketch(
    scene: Mapping[str, Any], looks: SceneLooks, width: int | None = None, source: str = ""
) -> NDArray[np.uint8]:
    """Return the drawn picture of a scene record, of shape (height, width, 3), seen by the scene's camera.

    `width` is that of the picture in place of the camera's. Raises BadInput for a scene without places.
    """
    camera = looks.camera(scene, source)
    return sketched(camera.scaled(width) if width else camera, looks.things(scene, source))


def sketched(camera: Camera, things: Sequence[Thing]) -> NDArray[np.uint8]:
    """Return the drawn picture of objects.

    What is in front is found at several places of a pixel. Those of a pixel stand side by side, in runs of a surface;
    each run is shaded once, between its first and its last place. Colors and vectors are of shape (3, n).
    """
    fine = camera.scaled(camera.width * FINENESS, camera.height * FINENESS)
    picture = FLOOR * _floor(camera, things).ravel()
    world, (colors, finishes, bodies) = joined(things), _surfaces(things)
    covered = _by_pixel(hits(fine, world.mesh), fine.width)
    clear = finishes[world.surfaces[covered.triangles]] == FINISHES.index(GLASS)
    behind = np.zeros(fine.width * fine.height)
    for layer in (~clear, clear):
        if not layer.any():
            continue
        seen = covered if layer.all() else covered.at(np.flatnonzero(layer))
        front = seen.front(len(behind))
        if layer is clear:
            front = np.where(seen.nearness.take(front) > behind, front, -1)
        places = np.flatnonzero(front >= 0)
        entries, pixels = front.take(places), places // FINENESS**2
        behind[places] = seen.nearness.take(entries)
        of_surface = world.surfaces.take(seen.triangles.take(entries))
        starts = _starts(pixels * len(finishes) + of_surface)
        ends = np.append(starts[1:], len(places))
        sizes, pixels = (ends - starts).astype(np.float32), pixels.take(starts)
        shown = seen.at(entries.take(np.concatenate((starts, ends - 1))))
        numbers = of_surface.take(starts)
        looks = colors.take(numbers, axis=1), finishes.take(numbers), bodies.take(numbers, axis=1)
        light, through = _shaded(fine, *looks, *_places(world.mesh, shown))
        added = sizes / FINENESS**2 * (light + (through - 1) * picture.take(pixels, axis=1))
        firsts = _starts(pixels)
        picture[:, pixels.take(firsts)] += np.add.reduceat(added, firsts, axis=1)
    return np.stack([to_srgb(channel) for channel in picture], axis=-1).reshape(camera.height, camera.width, 3)


def _by_pixel(seen: Hits, width: int) -> Hits:
    """Return entries whose places are numbered anew: those of a pixel of the picture one after the other."""
    (row, down), (column, across) = (np.divmod(part, FINENESS) for part in np.divmod(seen.pixels, width))
    pixels = (row * (width // FINENESS) + column) * FINENESS**2 + down * FINENESS + across
    return seen._replace(pixels=pixels)


def _starts(numbers: Ints) -> Ints:
    """Return where runs of a number start."""
    return np.flatnonzero(np.concatenate(([True], numbers[1:] != numbers[:-1])))


def to_srgb(linear: Any) -> NDArray[np.uint8]:
    """Return linear colors, from 0 to 1, as pixels."""
    steps = (linear * (len(_SRGB) - 1) + 0.5).astype(np.int64)
    return np.asarray(_SRGB.take(steps, mode="clip"))


def _srgb_table() -> NDArray[np.uint8]:
    linear = np.linspace(0, 1, 1 << 14)
    curve = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    levels: NDArray[np.uint8] = np.rint(255 * curve).astype(np.uint8)
    return levels


_SRGB = _srgb_table()


# The floor ----------------------------------------------------------------------------------------------------------


FLOOR = np.array([[1.0], [0.99], [0.98]], dtype=np.float32)
"""The color of the floor in light of 1."""


@lru_cache(maxsize=8)
def _bare_floor(width: int, height: int) -> Floats:
    """Return the light on the floor without shadows: darker at the back and at the sides."""
    down, across = np.mgrid[0:height, 0:width].astype(np.float32)
    down, across = (down + 0.5) / height, (across + 0.5) / width - 0.5
    return np.asarray((0.15 + 0.14 * down) * (1 - 0.35 * across * across), dtype=np.float32)


def _floor(camera: Camera, things: Sequence[Thing]) -> Floats:
    """Return the light on the floor with the soft shadow of each object, of shape (height, width)."""
    floor = _bare_floor(camera.width, camera.height).copy()
    lamp = _lamp(camera)
    away = -lamp[:2] / max(float(np.linalg.norm(lamp[:2])), 1e-6)
    for thing in things:
        x, y, _ = thing.centre
        radius = thing.radius
        spread = [(min(0.0, 1.3 * way), max(0.0, 1.3 * way)) for way in away.tolist()]
        (left, right), (front, back) = (((low - 1.5) * radius, (high + 1.5) * radius) for low, high in spread)
        corners = [(x + dx, y + dy, 0.0) for dx in (left, right) for dy in (front, back)]
        if any(dot(minus(corner, camera.position), camera.forward) <= radius for corner in corners):
            continue
        box = camera.bounding_box(corners)
        if box.right <= box.left or box.bottom <= box.top:
            continue
        right, forward = _on_floor(camera, box)
        right, forward = right - x, forward - y
        along = np.clip((right * away[0] + forward * away[1]) / (1.3 * radius), 0, 1)
        beside = right - 1.3 * radius * along * away[0], forward - 1.3 * radius * along * away[1]
        shade = SHADOW * (1 - 0.6 * along) * _fall(*beside, 0.5 * radius, 1.5 * radius)
        below = CONTACT * _fall(right, forward, 0.7 * radius, 1.2 * radius)
        floor[box.top : box.bottom, box.left : box.right] *= (1 - shade) * (1 - below)
    return floor


def _lamp(camera: Camera) -> Floats:
    """Return the place of the lamp: to the right of the camera, and above it."""
    position = np.array(camera.position)
    distance = np.linalg.norm(position)
    lamp = position + distance * (LAMP_RIGHT * np.array(camera.right) + (0, 0, LAMP_ABOVE))
    return lamp.astype(np.float32)


def _on_floor(camera: Camera, box: Box) -> tuple[Floats, Floats]:
    """Return x and y of what pixels show of the floor; far away where they look past it."""
    rays = camera.rays(box)
    with np.errstate(divide="ignore"):
        depths = -camera.position[2] / rays[2]
    depths = np.where((depths > 0) & np.isfinite(depths), depths, 1e6)
    x, y = camera.position[0] + depths * rays[0], camera.position[1] + depths * rays[1]
    return x.astype(np.float32), y.astype(np.float32)


def _fall(x: Floats, y: Floats, start: float, end: float) -> Floats:
    """Return 1 up to `start` from the middle, 0 from `end` on, and a smooth curve between."""
    away = np.sqrt(x * x + y * y)  # in a tenth of the time of hypot
    share = ((end - away) / (end - start)).clip(0, 1)
    return np.asarray(share * share * (3 - 2 * share))


# Surfaces -----------------------------------------------------------------------------------------------------------


def _surfaces(things: Sequence[Thing]) -> tuple[Floats, Ints, Floats]:
    """Return of each surface the color, the number of the finish, and the place and radius of its object."""
    parts = [(surface, thing) for thing in things for surface in thing.surfaces]
    finishes = np.array([FINISHES.index(surface.finish) for surface, _ in parts], dtype=np.int64)
    looks = np.array([(*surface.color, *thing.centre, thing.radius) for surface, thing in parts], dtype=np.float32)
    columns = looks.reshape(len(parts), 7).T.copy()
    return columns[:3], finishes, columns[3:]


def _places(mesh: Mesh, seen: Hits) -> tuple[Floats, Floats]:
    """Return the mean points and directions of pairs of entries: each of the first half with one of the second."""
    shares = (seen.weights / (2 * seen.nearness)).astype(np.float32)
    corners = np.ascontiguousarray(mesh.triangles[seen.triangles].T)
    points, normals = (
        sum(shares[i] * of_points.take(corners[i], axis=1) for i in range(3)).reshape(3, 2, -1).sum(axis=1)
        for of_points in (part.T.astype(np.float32, order="C") for part in (mesh.points, mesh.normals))
    )
    return points, _unit(normals)


def _shaded(
    camera: Camera, colors: Floats, finishes: Ints, bodies: Floats, points: Floats, normals: Floats
) -> tuple[Floats, Any]:
    """Return the light from places on surfaces that look so, and the share of that behind that they let through."""
    to_camera = _unit(np.array(camera.position, dtype=np.float32)[:, np.newaxis] - points)
    facing = _dot(normals, to_camera)
    normals, facing = np.where(facing < 0, -normals, normals), np.abs(facing)
    to_lamp = _unit(_lamp(camera)[:, np.newaxis] - points)
    lit = _dot(normals, to_lamp).clip(0)
    low = (points[2] / 0.7).clip(0, 1)  # the floor takes light from what is near it
    matt = colors * (AMBIENT * (0.75 + 0.25 * normals[2]) * (0.6 + 0.4 * low) + LIGHT * lit)
    halfway = np.log(_dot(normals, _unit(to_lamp + to_camera)).clip(1e-6))  # exp of it is quicker than powers
    light, through = matt + 0.02 * np.exp(12 * halfway), np.float32(0)
    for number in np.unique(finishes):
        of, finish = np.flatnonzero(finishes == number), FINISHES[number]
        if finish == SATIN:
            light[:, of] += 0.25 * np.exp(40 * halfway[of])
        elif finish != RUBBER:
            inside = (points[:, of] - bodies[:3, of]) / bodies[3, of]
            room = _room(camera, inside, 2 * facing[of] * normals[:, of] - to_camera[:, of])
            tint = colors[:, of]
            if finish == METAL:
                light[:, of] = tint * (0.12 * lit[of] + room) + (0.2 * tint + 0.5) * np.exp(90 * halfway[of])
            else:
                rim = (1 - facing[of]) ** 3
                light[:, of] = 0.5 * matt[:, of] + (0.06 + 0.5 * rim) * room + 0.6 * np.exp(80 * halfway[of])
                through = through + np.zeros_like(light)
                through[:, of] = _SEE_THROUGH * facing[of] * (0.25 + 0.75 * tint / np.maximum(tint.max(axis=0), 1e-6))
    return light, through


def _room(camera: Camera, inside: Floats, directions: Floats) -> Floats:
    """Return how bright the room is that metal mirrors: a floor, a dark ceiling, and smooth windows in the walls.

    `inside`: the places on the object that mirror it, in units of the object's radius.
    """
    walls = inside + ROOM * directions
    right, forward = (np.array(way, dtype=np.float32) @ walls for way in (camera.right, camera.forward))
    windows = 0.5 + 0.5 * np.tanh(1.8 * np.sin(3 * np.arctan2(forward, right) + 1.2) - 0.3)
    height = directions[2]
    above = 0.12 + 0.9 * windows * np.exp(-12 * (height - 0.28) ** 2)
    below = (0.1 + 0.44 * windows * (0.7 + 0.3 * inside[2]).clip(0.35, 1)) * np.exp(0.5 * height.clip(-1, 0))
    mixed = (0.5 + 4 * height).clip(0, 1)
    return np.asarray(mixed * above + (1 - mixed) * below)


def _unit(vectors: Any) -> Any:
    return vectors / np.sqrt(_dot(vectors, vectors)).clip(1e-9)


def _dot(one: Any, other: Any) -> Any:
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]
