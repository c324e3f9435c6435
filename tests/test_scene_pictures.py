"""Pictures of scenes show what the scene file says."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Commands
from oracles.naive_pixels import id_image
from PIL import Image
from scene_records import sampled_scenes

from vqagen.language.domain_files import find_domain, load_catalogue
from vqagen.pictures.scene_pictures import COLORS, scene_picture
from vqagen.rng import stream
from vqagen.world.camera import Camera
from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.solids import GROUND, KINDS, Solid, lit_share, surface

CAMERA = Camera.looking_at((7.5, -6.5, 5.3), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 130.0, 120, 80)


def rules_of(domain: str) -> SamplingRules:
    return SamplingRules.from_domain(load_catalogue(find_domain(domain))[0].domain)


def random_solids(seed: int, count: int) -> list[Solid]:
    rng = stream(seed, "solids")
    kinds = list(KINDS)
    made = []
    for number in range(count):
        radius = 0.3 + 0.4 * rng.random()
        x, y = 5 * rng.random() - 2.5, 5 * rng.random() - 2.5
        made.append(Solid(kinds[number % 3], (x, y, radius), radius, 360 * rng.random()))
    return made


def holds(solid: Solid, point: Any) -> bool:
    """The slow twin: true for a point inside a solid."""
    x, y, z = (point[i] - solid.centre[i] for i in range(3))
    angle = np.radians(solid.rotation)
    along, across = np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x
    if solid.kind == "sphere":
        return bool(x * x + y * y + z * z < solid.radius**2)
    if solid.kind == "cube":
        return bool(max(abs(along), abs(across), abs(z)) < solid.radius)
    return bool(x * x + y * y < solid.radius**2 and abs(z) < solid.radius)


def test_a_surface_shows_the_solids_that_pixels_show() -> None:
    """Its points lie on the solids, and its normals lead out of them."""
    solids = random_solids(0, 6)
    seen = surface(CAMERA, solids)
    for row, column in list(zip(*np.nonzero(seen.ids != GROUND), strict=True))[::3]:
        solid, point, normal = solids[seen.ids[row, column]], seen.points[row, column], seen.normals[row, column]
        assert not holds(solid, point + 1e-3 * normal)
        assert holds(solid, point - 1e-3 * normal) or seen_edge(solid, point)


def seen_edge(solid: Solid, point: Any) -> bool:
    """True near an edge, where a step against the normal may leave the solid."""
    inward = (np.array(solid.centre) - point) * 0.01
    return holds(solid, point + inward)


def test_lamps_are_hidden_by_what_stands_before_them() -> None:
    """The share of a lamp's spots that light a point is the one found by walking from the point to each spot."""
    solids = random_solids(5, 5)
    rng = stream(3, "points")
    points = np.array([(6 * rng.random() - 3, 6 * rng.random() - 3, 0.0) for _ in range(30)])
    points = np.array([point for point in points if not any(holds(each, point) for each in solids)])
    lamp, spread = (3.0, -7.0, 9.0), [(-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.5, 0.5, 0.0)]
    found = lit_share(points, lamp, spread, solids)
    steps = np.linspace(0, 1, 500)[1:, np.newaxis]
    for point, share in zip(points, found, strict=True):
        free = 0
        for offset in spread:
            way = point + steps * (np.array(lamp) + offset - point)
            free += not any(holds(solid, step) for step in way[:117] for solid in solids)
        assert share == pytest.approx(free / len(spread), abs=0.34), "a spot may be grazed, not more"
    assert (found < 1).any() and (found == 1).any()


@pytest.mark.slow
def test_objects_have_their_colors_where_they_are() -> None:
    """For each object that shows 300 pixels or more, the mean color there is nearer to its own than to any other."""
    rules = rules_of("clevr")
    wrong = total = 0
    for scene in sampled_scenes(2):
        pixels = np.asarray(Image.open(io.BytesIO(scene_picture(scene, rules))).convert("RGB"), dtype=float)
        things = scene["objects"]
        camera = rules.camera.fitted(
            [tuple(each["3d_coords"]) for each in things], [tuple(each["pixel_coords"]) for each in things]
        )
        radius = {"small": 0.35, "large": 0.7}
        solids = [
            Solid(each["shape"], tuple(each["3d_coords"]), radius[each["size"]], each["rotation"]) for each in things
        ]
        seen = id_image(camera, solids)
        for number, thing in enumerate(things):
            if (seen == number).sum() >= 300:
                total += 1
                wrong += nearest_color(pixels[seen == number].mean(axis=0)) != thing["color"]
    assert total >= 11 and wrong == 0


def nearest_color(found: Any) -> str:
    """The name of the color with the most alike hue and saturation, which shading changes little."""
    named = {name: COLORS[name] for name in ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")}

    def pure(color: Any) -> Any:
        values = np.array(color, dtype=float)
        return (values - values.mean()) / values.max()

    def miss(name: str) -> float:
        return float(
            np.abs(pure(found) - pure(named[name])).sum() + 0.15 * abs(np.mean(found) - np.mean(named[name])) / 64
        )

    return min(named, key=miss)


def write_scenes(folder: Path, count: int) -> Path:
    path = folder / "scenes.json"
    scenes = [{**scene, "objects": scene["objects"][:2]} for scene in sampled_scenes(3)[:count]]
    path.write_text(json.dumps({"scenes": scenes}), encoding="utf-8")
    return path


def test_pictures_have_the_names_of_the_scenes_and_are_kept(
    capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    """A second run draws only what is missing, with the same bytes."""
    scenes, out = write_scenes(tmp_path, 2), tmp_path / "images"
    Commands(capsysbinary).done(f"scenes draw {scenes} -o {out} --count 1")
    names = [each["image_filename"] for each in sampled_scenes(3)[:2]]
    assert [each.name for each in out.iterdir()] == names[:1]
    first = (out / names[0]).read_bytes()
    done = Commands(capsysbinary).done(f"scenes draw {scenes} -o {out}")
    assert "1 picture ->" in done.err and "1 picture existed and stayed" in done.err
    assert sorted(each.name for each in out.iterdir()) == sorted(names)
    assert (out / names[0]).read_bytes() == first
    with Image.open(out / names[1]) as picture:
        assert picture.size == (480, 320)


def test_what_has_no_picture_is_refused(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    """A scene without a name for its picture, or without places, is named with its fault."""
    path = tmp_path / "scenes.json"
    cube = {"shape": "cube", "size": "small", "3d_coords": [0, 0, 1], "pixel_coords": [9, 9, 9]}
    changes: list[tuple[dict[str, Any], str]] = [
        ({"image_filename": "../up.png"}, "image_filename: expected the name of a PNG file without folders"),
        ({"image_filename": None}, "found null"),
        ({"objects": [{"shape": "cube", "size": "small"}]}, "objects[0]: has no 3d_coords, by which"),
        ({"objects": [{"shape": "cube", "size": "small"}]}, "objects[0]: has no pixel_coords, by which"),
        *(
            ({"image_filename": f"a{bad}b.png"}, "without folders or control characters")
            for bad in ("\0", "\n", "\\", "/", "\x1b")
        ),
        ({"objects": [{**cube, "3d_coords": [0, 1e308, 1]}]}, "3d_coords: expected three numbers, none beyond"),
        ({"objects": [{**cube, "pixel_coords": [9, 9, -1e308]}]}, "pixel_coords: expected three numbers"),
        ({"objects": [{**cube, "rotation": 1e308}]}, "rotation: expected degrees, found 1e+308"),
        ({"objects": [{**cube, "rotation": "left"}]}, "rotation: expected degrees, found 'left'"),
        (
            {"objects": [{"kind": "doll", "3d_coords": [0, 0, 1], "pixel_coords": [9, 9, 9]}]},
            "for 'shape'; are the scenes of another domain?",
        ),
    ]
    for change, message in changes:
        path.write_text(json.dumps({"scenes": [{**sampled_scenes(3)[0], **change}]}), encoding="utf-8")
        ran = Commands(capsysbinary)(f"scenes draw {path} -o {tmp_path / 'images'}")
        assert ran.code == 3 and message in ran.err and "scenes[0]" in ran.err
        assert not list((tmp_path / "images").iterdir())


def test_two_scenes_of_one_name_are_refused(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    """Or the picture of one would stand for both."""
    path = write_scenes(tmp_path, 2)
    scenes = json.loads(path.read_bytes())["scenes"]
    path.write_text(json.dumps({"scenes": [scenes[0], {**scenes[1], "image_filename": scenes[0]["image_filename"]}]}))
    ran = Commands(capsysbinary)(f"scenes draw {path} -o {tmp_path / 'images'}")

    assert ran.code == 3 and "is the name of two scenes" in ran.err
    assert "scenes[1]" in ran.err and "the first is in" in ran.err and "scenes[0]" in ran.err
    assert len(list((tmp_path / "images").iterdir())) == 1
