"""Rendered pictures, where Mitsuba and OIDN are installed: masks fit, colors and materials show, runs give the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Commands
from picture_looks import lab, looks_of, standing
from PIL import Image
from scene_records import sampled_scenes

from vqagen.errors import BadInput
from vqagen.pictures.looks import FINISHES
from vqagen.pictures.masks import mask_pixels, masks_of
from vqagen.pictures.studio import LAMPS, Studio
from vqagen.rng import stream

mitsuba = pytest.importorskip("mitsuba", reason="rendering needs pip install 'vqagen[render]'")
pytest.importorskip("pyoidn", reason="rendering needs pip install 'vqagen[render]'")

pytestmark = pytest.mark.slow
COLORS = ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")


def small(scene: dict[str, Any], width: int = 240) -> dict[str, Any]:
    """The scene seen by a camera of fewer pixels."""
    return {**scene, "camera": looks_of().camera(scene).scaled(width).to_record()}


def rendered(scene: dict[str, Any], studio: Studio, domain: str = "clevr") -> Any:
    looks = looks_of(domain)
    return studio.render(looks.camera(scene), looks.things(scene), studio.lights(scene, stream(0, "lights")))


def surface_indexes(scene: dict[str, Any], studio: Studio, domain: str) -> tuple[Any, list[int]]:
    """Which surface the renderer sees at each pixel's centre, counted from 1, and the object of each."""
    looks, owners = looks_of(domain), []
    sampler = {"type": "stratified", "sample_count": 1, "jitter": False}
    sensor = {**studio._sensor(looks.camera(scene)), "sampler": sampler}
    world = {"type": "scene", "integrator": {"type": "aov", "aovs": "surface:shape_index"}, "sensor": sensor}
    for number, thing in enumerate(looks.things(scene)):
        for surface in thing.surfaces:
            world[f"surface {len(owners):03d}"] = studio._surface(surface)
            owners.append(number)
    seen = mitsuba.render(mitsuba.load_dict(world, parallel=False, optimize=False), seed=0)
    return np.rint(np.asarray(seen)[..., -1]).astype(int), owners


@pytest.mark.parametrize("domain", ["clevr", "market"])
def test_masks_are_what_the_renderer_sees(domain: str) -> None:
    """All but a few pixels at edges; boxes overlap by .95 and more."""
    studio, looks = Studio(looks_of(domain), 1), looks_of(domain)
    for scene in sampled_scenes(2, domain=domain):
        found, owners = surface_indexes(scene, studio, domain)
        seen = np.array([-1, *owners])[found]
        for number, mask in enumerate(masks_of(scene, looks)):
            rows, columns = np.nonzero(seen == number)
            box = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
            assert mask.box is not None and overlap(box, mask.box) >= 0.95
            assert (mask.pixels & (seen == number)).sum() >= 0.98 * (mask.pixels | (seen == number)).sum()


def overlap(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """The area that two boxes share, as a share of what they cover."""
    wide, high = (min(one[i + 2], other[i + 2]) - max(one[i], other[i]) for i in range(2))
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return max(wide, 0) * max(high, 0) / (sum(areas) - max(wide, 0) * max(high, 0))


def test_colors_are_told_apart_in_either_material() -> None:
    """The nearest mean color inside a mask, among those of objects elsewhere, is of the same name."""
    studio, looks = Studio(looks_of(), 4), looks_of()
    tones: dict[tuple[str, str, int], Any] = {}
    for material in ("rubber", "metal"):
        for first in (0, 4):
            for turn in (1, -1):
                names = COLORS[first : first + 4][::turn]
                scene = small(standing(*(f"large {color} {material} sphere" for color in names)))
                pixels = lab(rendered(scene, studio))
                for color, mask in zip(names, masks_of(scene, looks), strict=True):
                    tones[material, color, turn] = pixels[mask.pixels].mean(axis=0) * (0.5, 1, 1)
    for (material, color, turn), tone in tones.items():
        others = {name: tones[material, name, -turn] for name in COLORS}
        assert min(COLORS, key=lambda name: np.linalg.norm(others[name] - tone)) == color, (material, color)


@pytest.mark.parametrize("shape", ["cube", "sphere", "cylinder"])
def test_metal_mirrors_and_rubber_does_not(shape: str) -> None:
    """The lightness of metal varies more than that of the same solid of rubber at the same place."""
    studio, looks = Studio(looks_of(), 4), looks_of()
    spread = {}
    for material in ("rubber", "metal"):
        scene = small(standing(*(f"large {color} {material} {shape}" for color in ("gray", "blue", "yellow"))))
        pixels = lab(rendered(scene, studio))
        spread[material] = [
            np.ptp(np.percentile(pixels[mask.pixels][:, 0], (5, 98))) for mask in masks_of(scene, looks)
        ]
    assert np.mean(spread["metal"]) > 1.15 * np.mean(spread["rubber"])


def test_the_floor_is_as_bright_as_the_references_and_free_of_noise() -> None:
    studio = Studio(looks_of(), 8)
    pixels = rendered(standing("small red rubber cube"), studio).astype(float)

    assert pixels[:20].mean() == pytest.approx(103, abs=6) and np.median(pixels[-20:]) == pytest.approx(137, abs=10)
    assert np.abs(np.diff(pixels[-100:, :, 0], axis=1)).mean() < 0.5


def test_objects_throw_shadows_on_the_floor() -> None:
    """Outside of the objects' boxes, 2 to 5 % of the floor are more than 10 % darker than without objects."""
    studio, looks, dark, pixels = Studio(looks_of(), 8), looks_of(), 0, 0
    for number, scene in enumerate(map(small, sampled_scenes(8))):
        camera, lamps = looks.camera(scene), studio.lights(scene, stream(0, "lights", number))
        full, bare = (
            studio.render(camera, things, lamps).mean(axis=-1, dtype=float) for things in (looks.things(scene), [])
        )
        is_floor = np.ones(full.shape, np.bool_)
        for mask in masks_of(scene, looks):
            if mask.box:
                left, top, right, bottom = mask.box
                is_floor[top:bottom, left:right] = False
        dark += np.count_nonzero(full[is_floor] < 0.9 * bare[is_floor])
        pixels += np.count_nonzero(is_floor)
    assert 0.02 <= dark / pixels <= 0.05


def test_every_finish_renders() -> None:
    """Each gives another picture, and a second studio the same."""
    looks, scene = looks_of(), small(standing("large blue rubber sphere"), 60)
    pictures = []
    for finish in FINISHES:
        (thing,) = looks.things(scene)
        changed = thing._replace(surfaces=(thing.surfaces[0]._replace(finish=finish),))
        for studio in (Studio(looks, 1), Studio(looks, 1)):
            lights = studio.lights(scene, stream(0, "lights"))
            pictures.append(studio.render(looks.camera(scene), [changed], lights).tobytes())

    assert pictures[::2] == pictures[1::2] and len(set(pictures)) == len(FINISHES)


def test_lamps_move_by_the_seed_and_turn_with_the_camera() -> None:
    studio, market = Studio(looks_of(), 1), Studio(looks_of("market"), 1)
    one, again, other = (studio.lights({}, stream(0, "lights", index)) for index in (1, 1, 2))
    turned = market.lights({}, stream(0, "lights", 1))

    assert one == again != other and one[-1] == other[-1], "the sun stays"
    assert [lamp["name"] for lamp in one] == [lamp["name"] for lamp in LAMPS]
    assert np.abs(np.array(one[0]["position"]) - LAMPS[0]["position"]).max() <= 1
    assert turned[0]["position"][1] < one[0]["position"][1] - 2, "the key lamp stays beside the camera"
    assert studio.lights({"lights": one}, stream(9, "lights")) == one
    for wrong in (5, [{}], [{**one[0], "half_side": 0}], [{**one[0], "position": [0, "x", 1]}]):
        with pytest.raises(BadInput, match="lights"):
            looks_of().camera({"objects": [], "lights": wrong})


def test_rendered_folders_are_the_same_however_they_are_made(
    capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scenes.json").write_text(json.dumps({"info": {"generator": {}}, "scenes": sampled_scenes(7)}))
    vqagen_ = Commands(capsysbinary)
    vqagen_.done("scenes render scenes.json -o one --width 120 --samples 2")
    vqagen_.done("scenes render scenes.json -o two --width 120 --samples 2 --workers 2")
    vqagen_.done("scenes render one/scenes.json -o again --samples 2 --seed 5")

    def content(folder: str) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}

    assert len(content("one")) == 8 and content("one") == content("two")
    scenes, again = (json.loads(content(name)["scenes.json"])["scenes"] for name in ("one", "again"))
    assert scenes == again, "camera and lamps are recorded"
    assert scenes[0]["picture"]["kind"] == "rendered" and scenes[0]["picture"]["samples"] == 2
    for thing in scenes[0]["objects"]:
        assert mask_pixels(thing["mask"]).sum() == thing["visible_pixels"]
    with Image.open("one/images/" + scenes[0]["image_filename"]) as picture:
        assert picture.size == (120, 80)
