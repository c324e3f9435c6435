"""Sampled scenes keep the rules of the metadata, and reading those rules points at every mistake."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Commands
from depth import fewer
from oracles.naive_pixels import visible_pixels
from test_camera import camera_rules, fitted_camera, pixel_miss

import vqagen
from vqagen.errors import BadInput, VqagenError
from vqagen.world.camera import Camera
from vqagen.world.domain import domain_from_metadata
from vqagen.world.sampler import SamplingRules, sample_scene, sample_scenes
from vqagen.world.solids import Solid, overlap

ROOT = Path(__file__).parents[2]
METADATA = json.loads((ROOT / "metadata" / "clevr.json").read_text(encoding="utf-8"))
SAMPLING = METADATA["sampling"]
CLEVR = domain_from_metadata(METADATA, "clevr.json")
RULES = SamplingRules.from_domain(CLEVR)
COUNT = fewer(300, least=50)

Scene = dict[str, Any]


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    """As they come out of a file."""
    written = json.dumps(list(sample_scenes(RULES, seed=0, start=0, count=COUNT, split="test")))
    read: list[Scene] = json.loads(written)
    return read


def rules_of(metadata: dict[str, Any], source: str = "x.json") -> SamplingRules:
    return SamplingRules.from_domain(domain_from_metadata(metadata, source))


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The shipped metadata with a change."""
    metadata: dict[str, Any] = copy.deepcopy(METADATA)
    change(metadata)
    return metadata


def rules_with(**sampling: Any) -> SamplingRules:
    """The shipped rules with some keys of the sampling section replaced."""
    return rules_of(changed(lambda metadata: metadata["sampling"].update(sampling)))


# Placement


def radius(thing: dict[str, Any]) -> float:
    found: float = SAMPLING["radius"]["values"][thing["size"]]
    return found


def solid_of(thing: dict[str, Any]) -> Solid:
    x, y, z = thing["3d_coords"]
    return Solid(thing["shape"], (x, y, z), radius(thing), thing["rotation"])


def broken_pair_rules(scene: Scene) -> Iterator[str]:
    for one, other in combinations(scene["objects"], 2):
        x, y = (one["3d_coords"][axis] - other["3d_coords"][axis] for axis in (0, 1))
        if math.hypot(x, y) - radius(one) - radius(other) < SAMPLING["min_distance"] - 1e-9:
            yield "distance"
        for name in METADATA["types"]["Relation"]:
            direction = SAMPLING["directions"][name]
            if 0 < abs(x * direction[0] + y * direction[1]) < SAMPLING["margin"] - 1e-9:
                yield "margin"
        if overlap(solid_of(one), solid_of(other)):
            yield "overlap"


def broken_object_rules(scene: Scene) -> Iterator[str]:
    low, high = SAMPLING["objects"]
    if not low <= len(scene["objects"]) <= high:
        yield "objects"
    for thing in scene["objects"]:
        x, y, z = thing["3d_coords"]
        if not all(SAMPLING["area"][0] <= part <= SAMPLING["area"][1] for part in (x, y)):
            yield "area"
        if z != radius(thing):
            yield "height"
        if not 0 <= thing["rotation"] <= 360:
            yield "rotation"
        if any(thing[key.lower()] not in listed(key) for key in ("Size", "Color", "Material", "Shape")):
            yield "values"


def listed(type_name: str) -> list[str]:
    entry = METADATA["types"][type_name]
    values: list[str] = entry["values"] if isinstance(entry, dict) else entry
    return values


def broken_relations(scene: Scene) -> Iterator[str]:
    things = [thing["3d_coords"] for thing in scene["objects"]]
    for name in METADATA["types"]["Relation"]:
        direction = scene["directions"][name]
        for i, lists in enumerate(scene["relationships"][name]):
            along = [sum((b - a) * d for a, b, d in zip(things[i], other, direction, strict=True)) for other in things]
            if lists != [j for j, offset in enumerate(along) if offset > SAMPLING["relation_threshold"]]:
                yield name


@pytest.mark.slow
def test_every_placement_rule_holds(scenes: list[Scene]) -> None:
    """Number, area, height, values, distance, margin and overlap, checked the plain way from the written scene."""
    broken = [(scene["image_index"], rule) for scene in scenes for rule in broken_object_rules(scene)]
    broken += [(scene["image_index"], rule) for scene in scenes for rule in broken_pair_rules(scene)]

    assert broken == []


def test_relations_follow_from_the_written_coordinates(scenes: list[Scene]) -> None:
    """And each is a strict total order, as the margin is wider than the threshold."""
    assert [name for scene in scenes for name in broken_relations(scene)] == []
    for scene in scenes:
        for lists in scene["relationships"].values():
            assert sorted(map(len, lists)) == list(range(len(scene["objects"])))


def test_pixels_are_projected_centres_and_enough_of_them_show(scenes: list[Scene]) -> None:
    """From the camera that is found by fitting, which lies within the jitter; 5 pixels are left to the fit."""
    rules = camera_rules()
    for scene in scenes[::3]:
        camera = fitted_camera(scene, rules)
        offsets = [abs(part - rest) for part, rest in zip(camera.position, rules.position, strict=True)]
        assert max(offsets) < SAMPLING["camera"]["jitter"] + 0.01
        assert pixel_miss(scene, camera) < 0.75
        assert min(visible_pixels(camera, list(map(solid_of, scene["objects"])))) >= SAMPLING["min_visible_pixels"] - 5


def test_a_scene_has_the_keys_of_the_format(scenes: list[Scene]) -> None:
    """Pixels are whole numbers, other numbers have 6 decimals at most; files are named by split and index."""
    scene = scenes[7]

    assert (scene["split"], scene["image_index"], scene["image_filename"]) == ("test", 7, "VQAGEN_test_000007.png")
    assert set(scene["relationships"]) == set(METADATA["types"]["Relation"])
    for thing in scene["objects"]:
        assert set(thing) == {"size", "color", "material", "shape", "3d_coords", "rotation", "pixel_coords"}
        assert [type(part) for part in thing["pixel_coords"]] == [int, int, float]
        assert all(part == round(part, 6) for part in (*thing["3d_coords"], thing["rotation"], *thing["pixel_coords"]))


def test_quick_scenes_follow_the_rules_and_have_their_camera() -> None:
    """Also crowded ones; and places of few objects, of which hardly any is refused, are spread as others are."""
    quick = [sample_scene(RULES, seed=5, index=index, is_quick=True) for index in range(COUNT // 5)]
    few = rules_with(objects=[2, 2])
    drawn = [[sample_scene(few, 5, i, is_quick=is_quick) for i in range(150)] for is_quick in (False, True)]
    spread = [[thing["3d_coords"][:2] for scene in scenes for thing in scene["objects"]] for scenes in drawn]

    assert [rule for scene in quick for rule in (*broken_object_rules(scene), *broken_pair_rules(scene))] == []
    assert max(pixel_miss(scene, Camera.from_record(scene["camera"])) for scene in quick) < 0.75
    assert max(len(scene["objects"]) for scene in quick) > 7
    for share in (0.1, 0.25, 0.5, 0.75, 0.9):
        one, other = (np.quantile(parts, share) for parts in spread)
        assert abs(one - other) < 0.6


# Shares


@pytest.mark.parametrize("type_name", ["Color", "Material", "Shape"])
def test_values_are_equally_frequent(scenes: list[Scene], type_name: str) -> None:
    """Each within four standard errors of its share."""
    values = listed(type_name)
    found = Counter(thing[type_name.lower()] for scene in scenes for thing in scene["objects"])
    share, total = 1 / len(values), found.total()

    for value in values:
        assert abs(found[value] / total - share) < 4 * math.sqrt(share * (1 - share) / total)


# Same seed, same bytes


def digest(scenes: list[Scene]) -> str:
    return hashlib.sha256(json.dumps(scenes).encode()).hexdigest()


def test_a_scene_does_not_depend_on_its_run(scenes: list[Scene]) -> None:
    """Drawn alone, in another run or for another split, scene i is scene i."""
    alone = sample_scene(RULES, seed=0, index=41, split="test")
    (in_run,) = [scene for scene in sample_scenes(RULES, 0, 40, 3, "test") if scene["image_index"] == 41]
    other_split = sample_scene(RULES, seed=0, index=41, split="val")

    assert json.dumps(alone) == json.dumps(in_run) == json.dumps(scenes[41])
    assert other_split["objects"] == alone["objects"]


def test_the_bytes_of_seed_0(scenes: list[Scene]) -> None:
    """On every machine; a change of the sampler or of its rules that changes them is a change people must hear of."""
    assert digest(scenes[:5])[:16] == "7116f73bce07caee"


# Other rules


def test_a_domain_without_sampling_rules_is_sampled_by_default_ones() -> None:
    """Spheres of one radius, with the attributes and relations the domain has; keys in the order of its types."""
    types = {"Mood": {"values": ["calm", "wild"], "key": "Temper"}, "Kind": ["a"], "Relation": ["left", "behind"]}
    rules = rules_of({"types": types})

    scene = sample_scene(rules, seed=0, index=0)

    assert list(scene["objects"][0]) == ["Temper", "kind", "3d_coords", "rotation", "pixel_coords"]
    assert {thing["3d_coords"][2] for thing in scene["objects"]} == {0.5}
    assert list(scene["relationships"]) == ["left", "behind"]


IMPOSSIBLE = [
    ({"objects": [200, 200]}, ["200 objects", "sampling.margin"]),
    ({"radius": 5}, ["sampling.min_distance"]),
    ({"radius": 0.02, "objects": [3, 3]}, ["sampling.min_visible_pixels"]),
    ({"min_visible_share": 1.0, "objects": [9, 9], "min_distance": 0, "margin": 0}, ["sampling.min_visible_share"]),
]


@pytest.mark.parametrize(("sampling", "named"), IMPOSSIBLE)
def test_rules_without_room_end_in_an_error_that_names_them(sampling: dict[str, Any], named: list[str]) -> None:
    with pytest.raises(VqagenError) as caught:
        sample_scene(rules_with(restarts_per_scene=20, **sampling), seed=0, index=0)

    assert [words for words in named if words not in str(caught.value)] == []


# Mistakes in the rules


def everything_wrong(metadata: dict[str, Any]) -> None:
    sampling = metadata["sampling"]
    del sampling["conditions"]  # it names the colors, which are of no attribute below
    sampling.update(objects=[9, 3], area=["wide", 3], marign=1, min_distance=math.nan, tries_per_object=2.5)
    sampling["radius"]["values"] = {"small": 0.3, "huge": 1}
    sampling["solid"]["values"]["cube"] = "cub"
    sampling["directions"]["left"] = [1, 1, 0]
    del sampling["directions"]["front"]
    sampling["camera"].update(up=[0, 0], widht=3)
    sampling["restrict"] = [{"attribute": "shap", "value": "cube", "only": {"colour": ["gray"], "size": ["hug"]}}]
    metadata["types"]["Texture"] = {"values": ["rough"], "key": "color"}
    metadata["types"]["Turn"] = {"values": ["half"], "key": "rotation"}


def test_all_mistakes_are_reported_at_once() -> None:
    with pytest.raises(BadInput) as caught:
        rules_of(changed(everything_wrong))

    assert {problem.source for problem in caught.value.problems} == {"x.json"}
    assert sorted(problem.path for problem in caught.value.problems) == [
        "sampling.area[0]",
        "sampling.camera.up",
        "sampling.camera.widht",
        "sampling.directions",
        "sampling.directions.left",
        "sampling.marign",
        "sampling.min_distance",
        "sampling.objects",
        "sampling.radius.values",
        "sampling.radius.values.huge",
        "sampling.restrict[0].attribute",
        "sampling.restrict[0].only.colour",
        "sampling.restrict[0].only.size[0]",
        "sampling.solid.values.cube",
        "sampling.tries_per_object",
        "types.Texture",
        "types.Turn",
    ]


CIRCLE = [
    {"attribute": "shape", "value": "cube", "only": {"color": ["gray"]}},
    {"attribute": "color", "value": "red", "only": {"shape": ["cube"]}},
]
"""Shape decides on colour, and colour on shape."""
CONDITIONS: list[tuple[Any, str]] = [
    ([{**CIRCLE[0], "value": "cub"}], "x.json: sampling.conditions.x[0].value: unknown value 'cub'"),
    ([], "x.json: sampling.conditions.x: expected a list of at least 1"),
    (CIRCLE, "x.json: sampling.conditions.x: attributes restrict each other in a circle"),
]
ONE_MISTAKE: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda metadata: metadata.update(sampling=7), "sampling: expected an object, found 7"),
    (lambda metadata: metadata["types"].update(Relation=["left", "north"]), "no direction for relation 'north'"),
    (lambda metadata: metadata["sampling"].update(solid="cubes"), "found 'cubes'; did you mean 'cube'?"),
    (lambda metadata: metadata["sampling"].update(radius=0), "sampling.radius: expected more than 0"),
    (lambda metadata: metadata["sampling"]["radius"].update(attribute="siz"), "did you mean 'size'?"),
    (lambda metadata: metadata["sampling"]["camera"].update(look_at=[7.48113, -6.50764, 0]), "has no level right"),
    (
        lambda metadata: metadata["sampling"].update(restrict=CIRCLE),
        "restrict: attributes restrict each other in a circle: ",
    ),
    *(
        (lambda metadata, rules=rules: metadata["sampling"].update(conditions={"x": rules}), message)
        for rules, message in CONDITIONS
    ),
]


@pytest.mark.parametrize(("change", "message"), ONE_MISTAKE)
def test_a_mistake_says_what_is_wrong(change: Callable[[dict[str, Any]], object], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        rules_of(changed(change))

    assert message in str(caught.value)


# Conditions

A_COLORS = {"cube": {"gray", "blue", "brown", "yellow"}, "cylinder": {"red", "green", "purple", "cyan"}}
"""CLEVR-CoGenT's condition A; B swaps the two."""


def pairs_of(condition: str, count: int = 60) -> Counter[tuple[str, str]]:
    """Shape and color of the objects of scenes that are sampled under a condition."""
    scenes = sample_scenes(SamplingRules.from_domain(CLEVR, condition), seed=3, start=0, count=count)
    return Counter((thing["shape"], thing["color"]) for scene in scenes for thing in scene["objects"])


@pytest.mark.slow
def test_cogent_conditions_share_no_pair_of_shape_and_color() -> None:
    a, b = pairs_of("A"), pairs_of("B")
    shapes = {shape for shape, _ in a}

    assert {shape: {color for of, color in a if of == shape} for shape in A_COLORS} == A_COLORS
    assert not {pair for pair in a if pair[0] != "sphere"} & {pair for pair in b if pair[0] != "sphere"}
    assert {color for shape, color in a if shape == "sphere"} == set(METADATA["types"]["Color"])
    assert shapes == set(METADATA["types"]["Shape"]["values"])


def test_scenes_keep_their_condition_and_no_other() -> None:
    a, b = (SamplingRules.from_domain(CLEVR, condition) for condition in "AB")

    for scene in sample_scenes(a, seed=3, start=0, count=fewer(50)):
        shapes = {thing["shape"] for thing in scene["objects"]}
        assert a.keeps(scene)
        assert RULES.keeps(scene)
        assert b.keeps(scene) == (shapes == {"sphere"})


def test_the_condition_is_a_flag_of_the_command(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    run, out = Commands(capsysbinary), tmp_path / "scenes.json"
    run.done(f"scenes sample --count 5 --seed 3 --condition B -o {out}")
    wrong = run(f"scenes sample --count 5 --condition C -o {tmp_path}/c.json")

    assert json.loads(out.read_text("utf-8"))["scenes"] == list(vqagen.sample_scenes(5, seed=3, condition="B"))
    assert (wrong.code, "unknown condition 'C'; known: A, B" in wrong.err) == (2, True)
