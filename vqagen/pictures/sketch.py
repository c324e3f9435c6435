"""Drawn pictures of scenes: quick, without a renderer, for a training loop that wants twenty and more a second.

Triangles are painted with one lamp, light from all sides and soft shadows on the floor; metal mirrors a room with
windows. Colors are linear until the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vqagen.pictures.looks import FINISHES, GLASS, METAL, SATIN, SceneLooks, Thing
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

    What is in front is found at several places of a pixel, and shaded once for each surface that the pixel shows.
    """
    fine = camera.scaled(camera.width * FINENESS, camera.height * FINENESS)
    picture = _floor(camera, things).reshape(-1, 3)
    world = joined(things)
    surfaces = list(chain.from_iterable(thing.surfaces for thing in things))
    covered = hits(fine, world.mesh)
    is_glass = np.array([surface.finish == GLASS for surface in surfaces], dtype=np.bool_)
    clear = is_glass[world.surfaces[covered.triangles]] if len(surfaces) else np.zeros(0, np.bool_)
    layers = [covered.at(np.flatnonzero(~clear)).nearest()]
    if clear.any():
        behind = np.zeros(fine.width * fine.height)
        behind[layers[0].pixels] = layers[0].nearness
        ahead = covered.at(np.flatnonzero(clear)).nearest()
        layers.append(ahead.at(np.flatnonzero(ahead.nearness > behind[ahead.pixels])))
    for seen in layers:
        if not len(seen.pixels):
            continue
        row, column = np.divmod(seen.pixels, fine.width)
        pixels = row // FINENESS * camera.width + column // FINENESS
        shown = pixels * len(surfaces) + world.surfaces[seen.triangles]
        order = np.argsort(shown, kind="stable")
        shown = shown[order]
        starts = np.flatnonzero(np.concatenate(([True], shown[1:] != shown[:-1])))
        pixels, of_surface = np.divmod(shown[starts], len(surfaces))
        light, through = _shaded(fine, things, of_surface, *_places(world.mesh, seen.at(order), starts))
        share = (np.diff(starts, append=len(shown)) / FINENESS**2).astype(np.float32)[:, np.newaxis]
        added = share * (light + (through - 1) * picture[pixels])
        for channel in range(3):
            picture[:, channel] += np.bincount(pixels, added[:, channel], len(picture))
    return to_srgb(picture.reshape(camera.height, camera.width, 3))


def to_srgb(linear: Any) -> NDArray[np.uint8]:
    """Return linear colors, from 0 to 1, as pixels."""
    steps = np.clip(linear * (len(_SRGB) - 1) + 0.5, 0, len(_SRGB) - 1).astype(np.uint16)
    return np.asarray(_SRGB[steps], dtype=np.uint8)


def _srgb_table() -> NDArray[np.uint8]:
    linear = np.linspace(0, 1, 1 << 14)
    curve = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    levels: NDArray[np.uint8] = np.rint(255 * curve).astype(np.uint8)
    return levels


_SRGB = _srgb_table()


# The floor ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _bare_floor(width: int, height: int) -> Floats:
    """Return the floor without shadows: darker at the back and at the sides."""
    down, across = np.mgrid[0:height, 0:width].astype(np.float32)
    down, across = (down + 0.5) / height, (across + 0.5) / width - 0.5
    light = (0.15 + 0.14 * down) * (1 - 0.35 * across * across)
    return np.asarray(light[..., np.newaxis] * np.array((1.0, 0.99, 0.98)), dtype=np.float32)


def _floor(camera: Camera, things: Sequence[Thing]) -> Floats:
    """Return the floor with the soft shadow of each object, of shape (height, width, 3)."""
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
        beside = np.hypot(right - 1.3 * radius * along * away[0], forward - 1.3 * radius * along * away[1])
        shade = SHADOW * (1 - 0.6 * along) * _fall(beside, 0.5 * radius, 1.5 * radius)
        below = CONTACT * _fall(np.hypot(right, forward), 0.7 * radius, 1.2 * radius)
        floor[box.top : box.bottom, box.left : box.right] *= ((1 - shade) * (1 - below))[..., np.newaxis]
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


def _fall(values: Floats, start: float, end: float) -> Floats:
    """Return 1 up to `start`, 0 from `end` on, and a smooth curve between."""
    share = np.clip((end - values) / (end - start), 0, 1)
    return np.asarray(share * share * (3 - 2 * share))


# Surfaces -----------------------------------------------------------------------------------------------------------


def _places(mesh: Mesh, seen: Hits, starts: Ints) -> tuple[Floats, Floats]:
    """Return the mean points and directions of entries, from each start to the next, both of shape (starts, 3)."""
    shares = (seen.weights / seen.nearness).astype(np.float32)
    corners = mesh.triangles[seen.triangles]
    sizes = np.diff(starts, append=len(corners)).astype(np.float32)[:, np.newaxis]
    means: list[Floats] = []
    for of_corner in (mesh.points.astype(np.float32), mesh.normals.astype(np.float32)):
        at = sum(shares[i][:, np.newaxis] * of_corner.take(corners[:, i], axis=0) for i in range(3))
        means.append(np.asarray(np.add.reduceat(at, starts) / sizes, dtype=np.float32))
    return means[0], _unit(means[1])


def _shaded(
    camera: Camera, things: Sequence[Thing], of_surface: Ints, points: Floats, normals: Floats
) -> tuple[Floats, Floats]:
    """Return the light from each place, and the share of that from behind which it lets through, both (n, 3).

    `of_surface` numbers the surfaces of all things.
    """
    surfaces = [(surface, thing) for thing in things for surface in thing.surfaces]
    colors = np.array([surface.color for surface, _ in surfaces], dtype=np.float32)[of_surface]
    finishes = np.array([FINISHES.index(surface.finish) for surface, _ in surfaces])[of_surface]
    middles = np.array([(*thing.centre, thing.radius) for _, thing in surfaces], dtype=np.float32)
    centres = middles[of_surface]  # x, y, z, and the radius
    to_camera = _unit(np.array(camera.position, dtype=np.float32) - points)
    facing = _dot(normals, to_camera)
    normals = np.where(facing[:, np.newaxis] < 0, -normals, normals)
    facing = np.abs(facing)[:, np.newaxis]
    to_lamp = _unit(_lamp(camera) - points)
    lit = np.clip(_dot(normals, to_lamp), 0, None)[:, np.newaxis]
    upward = normals[:, 2:]
    inside = (points - centres[:, :3]) / centres[:, 3:]
    low = np.clip(points[:, 2:] / 0.7, 0, 1)  # the floor takes light from what is near it
    around = AMBIENT * (0.75 + 0.25 * upward) * (0.6 + 0.4 * low)
    matt = colors * (around + LIGHT * lit)
    halfway = np.clip(_dot(normals, _unit(to_lamp + to_camera)), 0, 1)[:, np.newaxis]
    light = matt + 0.02 * halfway**12
    for number in np.unique(finishes):
        of = finishes == number
        finish = FINISHES[number]
        if finish == METAL:
            room = _room(camera, inside[of], 2 * facing[of] * normals[of] - to_camera[of])
            light[of] = colors[of] * (0.12 * lit[of] + room) + (0.2 * colors[of] + 0.5) * halfway[of] ** 90
        elif finish == SATIN:
            light[of] += 0.25 * halfway[of] ** 40
        elif finish == GLASS:
            rim = (1 - facing[of]) ** 3
            room = _room(camera, inside[of], 2 * facing[of] * normals[of] - to_camera[of])
            light[of] = 0.5 * matt[of] + (0.06 + 0.5 * rim) * room + 0.6 * halfway[of] ** 80
    tinted = 0.25 + 0.75 * colors / np.maximum(colors.max(axis=1, keepdims=True), 1e-6)
    through = np.where((finishes == FINISHES.index(GLASS))[:, np.newaxis], _SEE_THROUGH * facing * tinted, 0)
    return light, through.astype(np.float32)


def _room(camera: Camera, inside: Floats, directions: Floats) -> Floats:
    """Return how bright the room is that metal mirrors: a floor, a dark ceiling, and smooth windows in the walls.

    `inside`: the places on the object that mirror it, in units of the object's radius.
    """
    walls = inside + ROOM * directions
    right, forward = (walls @ np.array(way, dtype=np.float32) for way in (camera.right, camera.forward))
    windows = (0.5 + 0.5 * np.tanh(1.8 * np.sin(3 * np.arctan2(forward, right) + 1.2) - 0.3))[:, np.newaxis]
    height = directions[:, 2:]
    above = 0.12 + 0.9 * windows * np.exp(-12 * (height - 0.28) ** 2)
    below = (0.1 + 0.44 * windows * np.clip(0.7 + 0.3 * inside[:, 2:], 0.35, 1)) * np.exp(0.5 * np.clip(height, -1, 0))
    mixed = np.clip(0.5 + 4 * height, 0, 1)
    return np.asarray(mixed * above + (1 - mixed) * below)


def _unit(vectors: Any) -> Any:
    return vectors / np.maximum(np.sqrt(_dot(vectors, vectors)), 1e-9)[:, np.newaxis]


def _dot(one: Any, other: Any) -> Any:
    return np.einsum("ij,ij->i", one, other)
