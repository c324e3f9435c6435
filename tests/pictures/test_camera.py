"""The camera, what it sees of solids, and the relations between positions; against geometry and released scenes."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from depth import fewer
from numpy.typing import NDArray
from oracles.naive_pixels import GROUND, id_image, visible_pixels

from vqagen.rng import Random, stream
from vqagen.world.camera import Box, Camera, CameraRules, Vector
from vqagen.world.scene import relation_lists
from vqagen.world.solids import KINDS, Solid, is_enough_visible, is_unhidden, overlap, pixel_box, shown_pixels

METADATA = json.loads((Path(__file__).parents[2] / "metadata" / "clevr.json").read_text(encoding="utf-8"))
LEVEL = Camera.looking_at((0.0, -10.0, 1.0), (0.0, 0.0, 1.0), (0.0, 0.0, 1.0), 500.0, 400, 300)
"""Looks along y at the height of a solid of radius 1 that stands on the ground."""


def camera_rules() -> CameraRules:
    """The camera of the shipped metadata."""
    given = {key: value for key, value in METADATA["sampling"]["camera"].items() if key != "comment"}
    return CameraRules(**{key: tuple(value) if isinstance(value, list) else value for key, value in given.items()})


def fitted_camera(scene: dict[str, Any], rules: CameraRules) -> Camera:
    """The camera of `rules` at the position that explains a scene's pixel_coords best."""
    things = scene["objects"]
    return rules.fitted(
        [tuple(thing["3d_coords"]) for thing in things], [tuple(thing["pixel_coords"]) for thing in things]
    )


def pixel_miss(scene: dict[str, Any], camera: Camera) -> float:
    """The largest distance, in pixels, between written pixel_coords and the projection of 3d_coords."""
    placed = [(camera.project(tuple(thing["3d_coords"])), thing["pixel_coords"]) for thing in scene["objects"]]
    return max(math.hypot(pixel.x - seen[0], pixel.y - seen[1]) for pixel, seen in placed)


# The pinhole camera


@pytest.mark.parametrize(
    ("point", "expected"),
    [((1.0, 0.0, 1.0), (250, 150, 10)), ((0.0, 0.0, 2.0), (200, 100, 10)), ((1.0, 10.0, 1.0), (225, 150, 20))],
)
def test_projection_of_known_points(point: Vector, expected: tuple[float, float, float]) -> None:
    """To the right is a larger x, higher up a smaller y, twice as far half as large."""
    assert LEVEL.project(point) == pytest.approx(expected)


def test_jitter_moves_the_position_only() -> None:
    """Drawn positions fill the box around the position of the rules, and every axis goes through the same point."""
    rules = camera_rules()
    cameras = [rules.draw(stream(5, "camera", index)) for index in range(200)]
    offsets = np.array([camera.position for camera in cameras]) - rules.position

    assert np.abs(offsets).max() <= rules.jitter
    assert np.ptp(offsets, axis=0).min() > 1.9 * rules.jitter
    assert {tuple(round(part, 6) for part in camera.project(rules.look_at)[:2]) for camera in cameras} == {(240, 160)}


# Relations


def test_relation_lists_of_a_row() -> None:
    """`lists[relation][i]` holds what stands in the relation to i; an offset of just the threshold does not count."""
    positions = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.2, 5.0, 0.0)]

    lists = relation_lists(positions, {"east": (1.0, 0.0, 0.0)}, threshold=0.25)

    assert lists == {"east": [[1, 2], [], []]}
    assert relation_lists([(0.0, 0.0, 0.0), (0.25, 0.0, 0.0)], {"east": (1.0, 0.0, 0.0)}, 0.25) == {"east": [[], []]}


# Visibility


def inside(solid: Solid, x: Any, y: Any, z: Any) -> Any:
    """Whether points lie in a solid, by its definition."""
    angle = math.radians(solid.rotation)
    x, y, z = x - solid.centre[0], y - solid.centre[1], z - solid.centre[2]
    x, y = x * math.cos(angle) + y * math.sin(angle), y * math.cos(angle) - x * math.sin(angle)
    if solid.kind == "sphere":
        return x**2 + y**2 + z**2 < solid.radius**2
    around = np.hypot(x, y) if solid.kind == "cylinder" else np.maximum(abs(x), abs(y))
    return np.maximum(around, abs(z)) < solid.radius


def marched(camera: Camera, solids: list[Solid]) -> NDArray[np.int16]:
    """The slow twin of `id_image`: walk along every ray in small steps until a point lies in a solid."""
    ids = np.full((camera.height, camera.width), GROUND, dtype=np.int16)
    rays = camera.rays(Box(0, 0, camera.width, camera.height))
    for depth in np.arange(5.0, 16.0, 0.02):
        points = [start + depth * part for start, part in zip(camera.position, rays, strict=True)]
        for index, solid in enumerate(solids):
            ids[(ids == GROUND) & inside(solid, *points)] = index
    return ids


def test_id_image_agrees_with_walking_along_rays() -> None:
    """On a crowded picture, save for pixels that graze an edge."""
    camera = Camera.looking_at((7.5, -6.5, 5.3), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 131.0, 120, 80)
    rng = stream(3, "solids")
    solids = [random_solid(rng, spread=2.5) for _ in range(9)]

    fast, slow = id_image(camera, solids), marched(camera, solids)

    assert set(fast.ravel().tolist()) >= {GROUND, 0, 1, 2, 3}
    assert (fast != slow).mean() < 0.005


@pytest.mark.slow
def test_pixel_box_holds_the_whole_solid() -> None:
    """Points inside a solid, of any kind and at many places, project into its box."""
    camera = camera_rules().at((7.5, -6.5, 5.3))
    rng = stream(4, "solids")
    for solid in [random_solid(rng, spread=2.0) for _ in range(12)]:
        box = pixel_box(camera, solid)
        steps = np.linspace(-1.4, 1.4, 15) * solid.radius
        points = [tuple(solid.centre + np.array(step)) for step in itertools.product(steps, steps, steps)]
        pixels = [camera.project(point) for point in points if inside(solid, *point)]
        assert len(pixels) > 100
        assert all(box.left <= pixel.x <= box.right and box.top <= pixel.y <= box.bottom for pixel in pixels)


# Footprints


def random_solid(rng: Random, spread: float) -> Solid:
    """A solid of any kind somewhere on the ground."""
    radius = 0.35 + 0.35 * rng.random()
    x, y = (spread * (2 * rng.random() - 1) for _ in range(2))
    return Solid(sorted(KINDS)[int(3 * rng.random())], (x, y, radius), radius, 360 * rng.random())


@pytest.mark.slow
def test_overlap_agrees_with_points_in_both() -> None:
    """Two footprints overlap exactly when some point of a fine grid lies in both, save for the closest of calls."""
    x, y = np.meshgrid(np.linspace(-1.7, 1.7, 171), np.linspace(-1.7, 1.7, 171))
    rng = stream(6, "solids")
    seen = {True: 0, False: 0}
    for _ in range(300):
        one, other = random_solid(rng, spread=0.7), random_solid(rng, spread=0.7)
        shared = (inside(one, x, y, one.radius) & inside(other, x, y, other.radius)).sum()
        assert overlap(one, other) == overlap(other, one)
        assert overlap(one, other) or not shared
        assert shared or not overlap(smaller(one), smaller(other))
        seen[overlap(one, other)] += 1

    assert min(seen.values()) > 30


def smaller(solid: Solid) -> Solid:
    """The solid less a rim as wide as the grid of the test above."""
    return solid._replace(radius=solid.radius - 0.03)


@pytest.mark.parametrize(
    ("turn", "away", "expected"), [(0, 2.01, False), (0, 1.99, True), (45, 2.80, True), (45, 2.84, False)]
)
def test_corners_count_for_overlap(turn: float, away: float, expected: bool) -> None:
    """Two cubes of radius 1 side by side touch at distance 2, corner to corner at 2 times the root of 2."""
    one = Solid("cube", (0.0, 0.0, 1.0), 1.0, turn)

    assert overlap(one, Solid("cube", (away, 0.0, 1.0), 1.0, turn)) is expected


# Visible pixels, proven and counted

UP = (0.0, 0.0, 1.0)
CAMERAS = {
    "shipped": CameraRules().at(CameraRules().position),
    "near the ground": Camera.looking_at((6.0, 0.0, 0.5), (0.0, 0.0, 0.5), UP, 200.0, 160, 90),
    "from above": Camera.looking_at((0.0, 0.0, 9.0), (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), 150.0, 100, 100),
    "among the solids": Camera.looking_at((0.5, 0.0, 0.9), (-1.0, 0.2, 0.4), UP, 60.0, 80, 60),
    "a wide angle": Camera.looking_at((3.5, -3.0, 2.5), (0.0, 0.0, 0.0), UP, 40.0, 96, 64),
}


def random_solids(rng: Random) -> list[Solid]:
    """Up to ten solids, near each other or not, some of which overlap."""
    spread = 1 + 3 * rng.random()
    radii = [(0.35, 0.7, 0.05, 1.3)[int(4 * rng.random() ** 2)] for _ in range(1 + int(10 * rng.random()))]
    return [
        Solid(
            sorted(KINDS)[int(3 * rng.random())],
            (spread * (2 * rng.random() - 1), spread * (2 * rng.random() - 1), radius),
            radius,
            360 * rng.random(),
        )
        for radius in radii
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", CAMERAS)
def test_visible_pixels_are_those_of_the_whole_picture(name: str) -> None:
    """Of each solid; and enough are visible exactly if the least of these numbers is enough, to the pixel."""
    camera, rng, verdicts = CAMERAS[name], stream(1, f"solids/{name}"), Counter[bool]()
    for _ in range(fewer(150)):
        solids = random_solids(rng)
        counts = visible_pixels(camera, solids)
        assert [shown_pixels(camera, solids, i) for i in range(len(solids))] == counts
        for least in {0, 1, 20, 200, min(counts), min(counts) + 1, min(counts) - 1, min(counts) * 2 // 3}:
            assert is_enough_visible(camera, solids, least) is (min(counts) >= least)
            verdicts[min(counts) >= least] += 1
        alone = [visible_pixels(camera, [solid])[0] for solid in solids]
        for share in (0.0, 0.3, 0.7, 1.0):
            seen = all(shown >= share * whole for shown, whole in zip(counts, alone, strict=True))
            assert is_unhidden(camera, solids, share) is seen

    assert min(verdicts.values()) > fewer(100)


def test_the_first_of_two_solids_at_one_place_is_seen() -> None:
    """At equal depths."""
    solids = [Solid("cube", (0.0, 0.0, 0.7), 0.7)] * 2

    assert shown_pixels(CAMERAS["shipped"], solids, 0) > 0
    assert shown_pixels(CAMERAS["shipped"], solids, 1) == 0
