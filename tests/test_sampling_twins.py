"""The quick tests of the sampler give what the plain ones give, for every scene and rule."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from depth import fewer
from naive_pixels import visible_pixels
from naive_places import PlainGround

from vqagen.rng import Random, stream
from vqagen.world import sampler
from vqagen.world.camera import Camera, CameraRules
from vqagen.world.domain import load_domain
from vqagen.world.sampler import Ground
from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.solids import KINDS, Solid, is_enough_visible, shown_pixels

RULES = SamplingRules.from_domain(load_domain(Path(__file__).parents[1] / "metadata" / "clevr.json"))
WEST, EAST, NORTH, UP = (-1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def directed(rules: SamplingRules, **directions: tuple[float, float, float]) -> SamplingRules:
    """Rules with other relations."""
    return replace(rules, relations=tuple(directions), directions=directions)


GROUNDS = {
    "shipped": RULES,
    "roomy": replace(RULES, area=(-60.0, 60.0)),
    "far from the middle": replace(RULES, area=(1e7, 1e7 + 6)),
    "no margin": replace(RULES, margin=0.0),
    "no distance": replace(RULES, margin=0.0, min_distance=0.0),
    "distance alone": replace(RULES, margin=0.05, min_distance=1.0, area=(-2.0, 2.0)),
    "one way": directed(RULES, west=WEST),
    "two ways and one": directed(RULES, west=WEST, east=EAST, north=NORTH),
    "height alone": directed(RULES, up=UP),
    "a point": replace(RULES, area=(1.0, 1.0)),
    "a small area": replace(RULES, area=(-1e-5, 1e-5), margin=1e-5, min_distance=0.0),
}


def placed_in(ground: Ground | PlainGround, seed: int, radius: float) -> list[object]:
    """Four rounds of random objects, placed until one finds no place, and the state of the stream."""
    rng, found = stream(seed, "ground"), list[object]()
    for _ in range(4):
        ground.clear()
        for _ in range(10):
            kind, size = sorted(KINDS)[int(3 * rng.random())], radius * (1 + int(2 * rng.random()))
            place = ground.place(kind, size, rng)
            found.append(place if isinstance(place, Solid) else None)
            if found[-1] is None:
                break
    return [*found, rng.random()]


@pytest.mark.parametrize("name", GROUNDS)
def test_places_are_those_of_the_plain_rules(name: str) -> None:
    """The same ones, from the same draws, also in areas so small that most places are too close to call."""
    radius = 1e-6 if name == "a small area" else 0.35
    for seed in range(fewer(25)):
        plain, quick = PlainGround(GROUNDS[name]), Ground(GROUNDS[name])
        assert placed_in(quick, seed, radius) == placed_in(plain, seed, radius)


def test_close_calls_are_left_to_the_plain_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """If every distance is too close to call, the places are the same."""
    wanted = [placed_in(PlainGround(RULES), seed, 0.35) for seed in range(5)]
    monkeypatch.setattr(sampler, "CLOSE_CALL", 1e3)

    assert [placed_in(Ground(RULES), seed, 0.35) for seed in range(5)] == wanted


# Visible pixels ---------------------------------------------------------------------------------------------------

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

    assert min(verdicts.values()) > fewer(100)


def test_the_first_of_two_solids_at_one_place_is_seen() -> None:
    """At equal depths."""
    solids = [Solid("cube", (0.0, 0.0, 0.7), 0.7)] * 2

    assert shown_pixels(CAMERAS["shipped"], solids, 0) > 0
    assert shown_pixels(CAMERAS["shipped"], solids, 1) == 0
