"""The quick test for visible pixels gives what the whole picture gives, for every scene."""

from __future__ import annotations

from collections import Counter

import pytest
from depth import fewer
from oracles.naive_pixels import visible_pixels

from vqagen.rng import Random, stream
from vqagen.world.camera import Camera, CameraRules
from vqagen.world.solids import KINDS, Solid, is_enough_visible, is_unhidden, shown_pixels

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


@pytest.mark.quick("a wide angle", "near the ground")
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
