"""Drawn pictures show what scenes say, with boxes and masks, however the run is made. `test_studio.py` renders."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Commands
from depth import fewer, some
from oracles.naive_pixels import visible_pixels
from picture_looks import lab, looks_of, plain_scenes, standing
from PIL import Image
from scene_records import sampled_scenes

import vqagen
from vqagen.errors import BadInput
from vqagen.pictures.looks import SceneLooks
from vqagen.pictures.masks import mask_pixels, masks_of, run_lengths
from vqagen.pictures.sketch import sketch, to_srgb
from vqagen.world.camera import Camera
from vqagen.world.domain import load_domain
from vqagen.world.solids import Solid

COLORS = ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")


def write(folder: Path, scenes: list[dict[str, Any]], info: dict[str, Any] | None = None) -> Path:
    path = folder / "scenes.json"
    path.write_text(json.dumps({**({"info": info} if info else {}), "scenes": scenes}), encoding="utf-8")
    return path


def written(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "scenes.json").read_bytes())
    return document


# Masks --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_released_scenes_are_seen_as_they_were_rendered(shared: Path) -> None:
    """Objects lie within .75 pixels of where they were and, with rotations in radians, show 200 pixels or more."""
    text = (shared / "data" / "clevr_v1_train_scenes_1000.json").read_bytes()
    for scene in json.loads(text)["scenes"][: fewer(40)]:
        scene["rotation_unit"] = "radians"
        camera = looks_of().camera(scene)
        for thing, mask in zip(scene["objects"], masks_of(scene, looks_of()), strict=True):
            x, y, _ = camera.project(tuple(thing["3d_coords"]))
            assert np.hypot(x - thing["pixel_coords"][0], y - thing["pixel_coords"][1]) < 0.75
            assert mask.visible_pixels >= 200


def test_masks_count_about_as_many_pixels_as_sharp_solids() -> None:
    """Rounded edges take at most a tenth. What nothing hides is whole."""
    scene = standing("large red metal cube", "small blue rubber sphere", "large gray metal cylinder")
    looks = looks_of()
    solids = [
        Solid(each["shape"], tuple(each["3d_coords"]), 0.7 if each["size"] == "large" else 0.35, each["rotation"])
        for each in scene["objects"]
    ]
    for mask, sharp in zip(masks_of(scene, looks), visible_pixels(looks.camera(scene), solids), strict=True):
        assert 0.9 * sharp <= mask.visible_pixels <= sharp + 12
        assert mask.visible_pixels == mask.whole_pixels


def test_what_is_hidden_is_whole_and_not_visible() -> None:
    scene = standing("large red rubber cube", "small blue rubber sphere", gap=0.0)
    scene["objects"][1]["3d_coords"] = [-2.0, 1.74, 0.35]
    del scene["objects"][0]["pixel_coords"], scene["objects"][1]["pixel_coords"]
    scene["camera"] = Camera.looking_at((6.0, -5.2, 1.0), (0, 0, 0.7), (0, 0, 1), 525.0, 480, 320).to_record()
    cube, ball = masks_of(scene, looks_of())
    record = ball.to_record()

    assert cube.visible_pixels == cube.whole_pixels > 10_000
    assert record | {"whole_pixels": 0} == {
        "box": None,
        "mask": {"size": [320, 480], "counts": [480 * 320]},
        "visible_pixels": 0,
        "whole_pixels": 0,
        "depth": None,
    }
    assert ball.whole_pixels > 500


def test_run_lengths_and_back() -> None:
    random = np.random.default_rng(0)
    for height, width in ((1, 1), (3, 7), (20, 11)):
        pixels = random.random((height, width)) < 0.5
        record = {"size": [height, width], "counts": run_lengths(pixels)}
        assert (mask_pixels(record) == pixels).all()
        assert all(record["counts"][1:])


def test_depth_is_the_length_of_the_ray() -> None:
    scene = standing("large red rubber sphere")
    (mask,) = masks_of(scene, looks_of())
    away = np.linalg.norm(np.array(looks_of().camera(scene).position) - scene["objects"][0]["3d_coords"])

    assert mask.depth is not None and away - 0.7 < mask.depth < away


# Looks --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_colors_are_told_apart_where_the_masks_are() -> None:
    """The hue of an object of either material is nearer to that of its color than to any other; gray has none."""
    looks = looks_of()
    tones: dict[tuple[str, str], Any] = {}
    for material in ("rubber", "metal"):
        for first in (0, 4):
            scene = standing(*(f"large {color} {material} sphere" for color in COLORS[first : first + 4]))
            pixels = lab(sketch(scene, looks))
            for color, mask in zip(COLORS[first : first + 4], masks_of(scene, looks), strict=True):
                tones[material, color] = pixels[mask.pixels].mean(axis=0) * (0.5, 1, 1)
    for (material, color), tone in tones.items():
        other = "metal" if material == "rubber" else "rubber"
        assert min(COLORS, key=lambda name: np.linalg.norm(tones[other, name] - tone)) == color, (material, color)


@pytest.mark.quick(1)
@pytest.mark.parametrize("shape", ["cube", "sphere", "cylinder"])
def test_metal_is_told_from_rubber(shape: str) -> None:
    """What it mirrors makes its lightness vary more, also on flat sides."""
    looks = looks_of()
    for color in some(COLORS):
        scene = standing(*(f"large {color} {material} {shape}" for material in ("rubber", "metal", "rubber", "metal")))
        scene["camera"] = looks.camera(scene).scaled(240).to_record()
        pixels = lab(sketch(scene, looks))
        spread = [np.ptp(np.percentile(pixels[mask.pixels][:, 0], (50, 98))) for mask in masks_of(scene, looks)]
        assert min(spread[1], spread[3]) > max(spread[0], spread[2]), (color, spread)


def test_a_picture_is_as_wide_as_asked_for() -> None:
    scene = standing("small red rubber cube")

    assert sketch(scene, looks_of()).shape == (320, 480, 3)
    assert sketch(scene, looks_of(), 120).shape == (80, 120, 3)
    assert (sketch({**scene, "objects": []}, looks_of(), 60) > 90).all()


def test_linear_colors_become_the_nearest_levels_of_srgb() -> None:
    """By IEC 61966-2-1."""
    linear = np.linspace(-0.1, 1.1, 1201)
    shown = linear.clip(0, 1)
    levels = 255 * np.where(shown <= 0.0031308, 12.92 * shown, 1.055 * shown ** (1 / 2.4) - 0.055)

    assert abs(to_srgb(linear) - levels).max() < 0.51, "half a level, and what the table rounds"


def test_dolls_are_no_boxes() -> None:
    """Kinds of the market have outlines of their own: no two cover the same pixels, and none its whole box."""
    looks = looks_of("market")
    (scene,) = sampled_scenes(1, domain="market")
    shapes = {}
    for kind in looks.shapes.values:
        record = {**scene["objects"][0], "kind": kind, "size": "large", "rotation": 30.0}
        (mask,) = masks_of({"objects": [record]}, looks)
        assert mask.box is not None
        left, top, right, bottom = mask.box
        shapes[kind] = mask.pixels
        assert mask.visible_pixels < 0.86 * (right - left) * (bottom - top), kind
    for one, other in combinations(shapes, 2):
        shared = (shapes[one] & shapes[other]).sum() / (shapes[one] | shapes[other]).sum()
        assert shared < 0.9, (one, other)


def test_glass_lets_through_what_is_behind_it() -> None:
    looks = looks_of("market")
    (scene,) = sampled_scenes(1, domain="market")
    vase = {**scene["objects"][0], "kind": "vase", "size": "large", "color": "white"}
    clear, solid = (
        sketch({"objects": [{**vase, "material": material}]}, looks).astype(int) for material in ("glass", "clay")
    )
    (mask,) = masks_of({"objects": [vase]}, looks)

    assert np.abs(clear - solid)[mask.pixels].mean() > 5
    assert (clear == solid)[~mask.pixels].mean() > 0.99


# The section of the metadata ----------------------------------------------------------------------------------------


def domain_with(folder: Path, render: Any) -> SceneLooks:
    path = folder / "metadata.json"
    types = {"Size": ["small", "large"], "Shape": ["cube", "pile"], "Relation": ["left", "right"]}
    radius = {"attribute": "size", "values": {"small": 0.3, "large": 0.6}}
    path.write_text(json.dumps({"types": types, "sampling": {"radius": radius}, "render": render}), encoding="utf-8")
    return SceneLooks.from_domain(load_domain(path))


def test_a_domain_without_looks_has_gray_spheres(tmp_path: Path) -> None:
    looks = domain_with(tmp_path, {})
    (thing,) = looks.things({"objects": [{"size": "large", "shape": "pile", "3d_coords": [0, 0, 0.6]}]})

    assert thing.radius == 0.6 and len(thing.surfaces) == 1 and thing.surfaces[0].finish == "rubber"
    assert thing.surfaces[0].color == pytest.approx((87 / 255,) * 3)


def test_shapes_can_be_meshes_and_parts(tmp_path: Path) -> None:
    (tmp_path / "flag.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n")
    parts = [{"mesh": "flag.obj", "color": [255, 0, 0]}, {"solid": "cone", "top": 0.5, "size": 0.5, "finish": "metal"}]
    looks = domain_with(tmp_path, {"shape": {"attribute": "shape", "values": {"cube": "cube", "pile": parts}}})
    (thing,) = looks.things({"objects": [{"size": "large", "shape": "pile", "3d_coords": [1, 2, 0.6]}]})
    flag, cone = thing.surfaces

    assert flag.mesh.points[0] == pytest.approx((1, 2, 0.6)) and flag.mesh.points[1] == pytest.approx((1.6, 2, 0.6))
    assert flag.color == (1, 0, 0) and (flag.finish, cone.finish) == ("rubber", "metal")
    assert np.abs(cone.mesh.points - (1, 2, 0.6)).max() == pytest.approx(0.3)
    assert [path.name for path in looks.mesh_files] == ["flag.obj"]


def test_mistakes_in_the_looks_are_named_together(tmp_path: Path) -> None:
    render = {
        "shape": {"attribute": "shape", "values": {"cube": "cube", "pil": [{"mesh": "none.obj"}]}},
        "color": {"attribute": "colour", "values": {}},
        "material": "wool",
        "light": 1,
    }
    with pytest.raises(BadInput) as caught:
        domain_with(tmp_path, render)
    message = str(caught.value)
    for part in (
        "render.shape.values.pil: unknown value 'pil'; did you mean 'pile'?",
        "render.shape.values: nothing for value 'pile'",
        "render.color.attribute: unknown attribute 'colour'",
        "render.material: expected 'rubber', 'satin', 'metal' or 'glass', found 'wool'",
        "render.light: unknown key 'light'",
    ):
        assert part in message
    shape = {"attribute": "shape", "values": {"cube": "cube", "pile": [{"mesh": "none.obj"}]}}
    with pytest.raises(BadInput, match=r"pile\[0\]\.mesh: cannot read the mesh"):
        domain_with(tmp_path, {"shape": shape})


# The command --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_folder_has_pictures_and_what_is_where(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    scenes, out = write(tmp_path, plain_scenes(2), {"generator": {}}), tmp_path / "out"
    done = Commands(capsysbinary).done(f"scenes draw {scenes} -o {out}")
    document = written(out)

    assert done.err == f"2 pictures -> {out}\n"
    assert document["info"]["generator"]["rotation_unit"] == "degrees"
    for given, scene in zip(plain_scenes(2), document["scenes"], strict=True):
        with Image.open(out / "images" / scene["image_filename"]) as picture:
            pixels = np.asarray(picture)
        assert scene["picture"] == {
            "kind": "drawn",
            "renderer": "vqagen",
            "samples": 4,
            "sha256": hashlib.sha256(pixels.tobytes()).hexdigest(),
        }
        assert Camera.from_record(scene["camera"]).width == 480
        assert "rotation_unit" not in scene
        for before, thing in zip(given["objects"], scene["objects"], strict=True):
            mask = mask_pixels(thing["mask"])
            rows, columns = np.nonzero(mask)
            assert thing["box"] == [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
            assert 0 < thing["visible_pixels"] == mask.sum() <= thing["whole_pixels"]
            assert before.items() <= thing.items()


@pytest.mark.slow
def test_workers_resumed_runs_and_shards_give_the_same_bytes(
    capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenes = write(tmp_path, [{**each, "objects": each["objects"][:1]} for each in sampled_scenes(12)])
    vqagen_, monkey = Commands(capsysbinary), monkeypatch
    monkey.chdir(tmp_path)
    vqagen_.done(f"scenes draw {scenes} -o one --width 60")
    vqagen_.done(f"scenes draw {scenes} -o two --width 60 --workers 2")
    for number in (1, 2):
        vqagen_.done(f"scenes draw {scenes} -o shard{number} --width 60 --shard {number}/2")
    vqagen_.done("merge shard1 shard2 -o merged")
    with monkey.context() as broken:
        from vqagen.tasks.rendering import task

        draw = task._draw
        broken.setattr(task, "_draw", lambda *given: draw(*given) if given[3] < 7 else 1 / 0)
        with pytest.raises(ZeroDivisionError):
            vqagen.write_pictures(scenes, "three", settings=vqagen.PictureSettings(kind="drawn", width=60))
    assert len(list(Path("three.part/files/images").iterdir())) == 5, "finished pictures stay"
    vqagen_.done(f"scenes draw {scenes} -o three --width 60 --resume")

    def content(folder: str) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}

    assert len(content("one")) == 13
    assert content("one") == content("two") == content("three") == content("merged")


@pytest.mark.slow
def test_other_widths_scale_all_pixels(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    scenes = write(tmp_path, plain_scenes(1), {"generator": {}})
    vqagen_ = Commands(capsysbinary)
    vqagen_.done(f"scenes draw {scenes} -o {tmp_path / 'wide'}")
    vqagen_.done(f"scenes draw {scenes} -o {tmp_path / 'small'} --width 240")
    (wide,), (small,) = (written(tmp_path / name)["scenes"] for name in ("wide", "small"))

    assert small["camera"]["width"] == 240 and small["camera"]["height"] == 160
    for one, other in zip(wide["objects"], small["objects"], strict=True):
        assert np.array(one["pixel_coords"]) / (2, 2, 1) == pytest.approx(np.array(other["pixel_coords"]), abs=1)
        assert np.array(one["box"]) / 2 == pytest.approx(np.array(other["box"]), abs=1.01)
    again = tmp_path / "again"
    vqagen_.done(f"scenes draw {tmp_path / 'small' / 'scenes.json'} -o {again}")
    assert written(again)["scenes"][0]["picture"] == small["picture"], "a scene says its own camera"


@pytest.mark.slow
def test_rotations_of_the_reference_renderer_are_radians(
    capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    """Its files have no `generator`; a scene keeps its unit when its pictures are made again."""
    cube = standing("large red rubber cube", "large red rubber cube")
    scenes, vqagen_ = write(tmp_path, [cube], {"split": "train"}), Commands(capsysbinary)
    vqagen_.done(f"scenes draw {scenes} -o {tmp_path / 'radians'}")
    vqagen_.done(f"scenes draw {tmp_path / 'radians' / 'scenes.json'} -o {tmp_path / 'again'}")
    write(tmp_path, [cube], {"generator": {}})
    vqagen_.done(f"scenes draw {scenes} -o {tmp_path / 'degrees'}")
    (radians,), (again,), (degrees,) = (written(tmp_path / each)["scenes"] for each in ("radians", "again", "degrees"))

    assert radians["rotation_unit"] == again["rotation_unit"] == "radians"
    assert radians["picture"] == again["picture"] != degrees["picture"]


def test_objects_that_can_hardly_be_seen_are_counted(
    capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    scene = standing("large red rubber cube", "small blue rubber sphere", gap=0.1)
    scenes = write(tmp_path, [scene], {"generator": {}})
    done = Commands(capsysbinary).done(f"scenes draw {scenes} -o {tmp_path / 'out'}")

    assert done.err.startswith("1 picture; 1 object can hardly be seen (sampling.min_visible_pixels) ->")


def test_objects_placed_by_hand_are_seen_by_the_camera_of_the_domain() -> None:
    """Where it is without its jitter. A domain that names no camera decides none."""
    scene = standing("large red rubber cube", "small blue rubber sphere", gap=0.1)
    for each in scene["objects"]:
        del each["pixel_coords"]
    looks = looks_of()

    assert looks.camera(scene) == looks.rules.camera.at(looks.rules.camera.position)
    assert masks_of(scene, looks)[0].visible_pixels > 1_000
    with pytest.raises(BadInput, match=r"objects\[0\]: has no pixel_coords"):
        replace(looks, has_camera=False).camera(scene)


CUBE = {"shape": "cube", "size": "small", "color": "red", "material": "metal", "3d_coords": [0, 0, 0.35]}
SEEN = {**CUBE, "pixel_coords": [240, 147, 11.0]}
CAMERA = Camera.looking_at((1, 2, 3), (0, 0, 0), (0, 0, 1), 500.0, 40, 30).to_record()
CAMERAS: list[tuple[Any, str]] = [
    (5, ": expected an object, found 5"),
    ({"position": [0, 0]}, ".position: expected a list of at least 3"),
    ({**CAMERA, "focal_pixels": 0}, ".focal_pixels: expected more than 0"),
    ({**CAMERA, "width": 0}, ".width: expected 1 or more"),
    ({**CAMERA, "height": 4097}, ".height: expected 4096 or less"),
    ({**CAMERA, "width": True}, ".width: expected a whole number"),
    ({**CAMERA, "up": [0, 0, 2]}, ": right, up and forward: expected vectors of length 1 at right angles"),
    ({**CAMERA, "right": CAMERA["up"]}, ": right, up and forward: expected vectors of length 1 at right angles"),
]
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"image_filename": "../up.png"}, "image_filename: expected the name of a PNG file without folders"),
    ({"image_filename": None}, "image_filename: expected the name of a PNG file"),
    ({"image_filename": "a\nb.png"}, "without folders or control characters"),
    ({"image_filename": "a.jpg"}, "found 'a.jpg'"),
    ({"objects": [{"shape": "cube", "size": "small"}]}, "objects[0]: missing key '3d_coords'"),
    ({"objects": [SEEN, CUBE]}, "objects[1]: has no pixel_coords, by which pictures"),
    ({"objects": [{**SEEN, "3d_coords": [0, 1e308, 1]}]}, "3d_coords[1]: expected 1000000.0 or less"),
    ({"objects": [{**SEEN, "pixel_coords": [9, 9]}]}, "pixel_coords: expected a list of at least 3"),
    ({"objects": [{**SEEN, "pixel_coords": [9, 9, 2.0]}]}, "pixel_coords: no camera of"),
    ({"objects": [{**SEEN, "rotation": "left"}]}, "rotation: expected a number, found 'left'"),
    ({"objects": [SEEN], "rotation_unit": "turns"}, "rotation_unit: expected 'degrees' or 'radians', found 'turns'"),
    ({"objects": [{**SEEN, "shape": "cub"}]}, "unknown shape 'cub'; did you mean 'cube'?"),
    ({"objects": [{**SEEN, "color": "pink"}]}, "unknown color 'pink'; known: gray, red"),
    ({"objects": [{**SEEN, "material": ["metal"]}]}, "material: expected text"),
    ({"objects": [{key: SEEN[key] for key in SEEN if key != "size"}]}, "has no size; are the scenes of another domain"),
    ({"objects": None}, "objects: expected a list, found null"),
    ({"objects": [5]}, "objects[0]: expected an object"),
    *(({"camera": camera}, f"camera{fault}") for camera, fault in CAMERAS),
]


def test_what_has_no_picture_is_refused(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    """The scene is named with its fault, and nothing is left behind."""
    vqagen_, failed = Commands(capsysbinary), []
    row = standing("small red metal cube")
    same = [row, {**row, "image_filename": "ROW.png"}]  # on some disks, letters of either case are the same
    wrong = [([{**row, **change}], message) for change, message in WRONG]
    for scenes, message in [*wrong, (same, "ROW.png is the name of two scenes"), (same, "; the first is in")]:
        path = write(tmp_path, scenes)
        ran = vqagen_(f"scenes draw {path} -o {tmp_path / 'out'}")
        if ran.code != 3 or message not in ran.err or "scenes[0]" not in ran.err or (tmp_path / "out").exists():
            failed.append(f"{message}: {ran.code} {ran.err}")

    assert not failed, "\n".join(failed)


def test_a_camera_is_read_as_it_is_written() -> None:
    assert Camera.from_record(json.loads(json.dumps(CAMERA))).to_record() == CAMERA


def test_no_picture_is_too_wide(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    ran = Commands(capsysbinary)(f"scenes draw {write(tmp_path, plain_scenes(1))} -o {tmp_path / 'out'} --width 5000")

    assert ran.code == 2 and "--width must be at most 4096, found 5000" in ran.err


def test_check_reports_mistakes_in_looks(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    path = tmp_path / "metadata.json"
    path.write_text(json.dumps({"types": {"Shape": ["cube"]}, "render": {"color": [1, 2]}}), encoding="utf-8")
    ran = Commands(capsysbinary)(f"check {path}")

    assert ran.code == 1 and "render.color" in ran.out.decode() + ran.err


def test_rendering_without_its_extra_says_what_to_install(
    capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mitsuba", None)
    scenes = write(tmp_path, plain_scenes(1))
    ran = Commands(capsysbinary)(f"scenes render {scenes} -o {tmp_path / 'out'}")

    assert ran.code == 2 and "a rendered picture needs mitsuba; install it: pip install 'vqagen[render]'" in ran.err
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.part").exists()
