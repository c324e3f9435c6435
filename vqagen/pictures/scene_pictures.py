"""Pictures of scenes: plain solids on a table, drawn from the scene file alone.

Each pixel is the color of what its ray meets first, with a lamp, light from all sides, a soft shadow, and a highlight
on what shines. The camera is the one that explains the scene's pixel coordinates. These pictures show what a scene file
says, in place of a renderer; they are no training data for realistic pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vqagen.errors import BadInput, PlaceError, Problem, as_written
from vqagen.files.output import atomic_output
from vqagen.language.domain_files import DomainFiles, PathLike, load_catalogue
from vqagen.pictures.png import png_file
from vqagen.world.camera import Camera
from vqagen.world.loading import SCENES, find_scenes
from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.solids import GROUND, Solid, Surface, lit_share, surface

Floats = NDArray[np.float64]
Rgb = tuple[int, int, int]

COLORS: Mapping[str, Rgb] = {
    "gray": (120, 122, 125), "red": (193, 39, 45), "blue": (45, 84, 205), "green": (36, 130, 58),
    "brown": (133, 82, 40), "purple": (128, 52, 178), "cyan": (56, 197, 205), "yellow": (243, 209, 48),
    "orange": (233, 123, 32), "pink": (232, 130, 170), "white": (240, 240, 238), "black": (38, 38, 42),
}  # fmt: skip
"""Values that color an object, whatever their attribute is called. Others leave it gray."""
SHINY = frozenset({"metal", "glass", "brass", "copper", "tin", "steel", "gold", "silver"})
"""Values that make an object shine."""
TABLE: Rgb = (206, 206, 203)
LAMP = (3.0, -7.0, 9.0)
LAMP_SPOTS = (-1.4, -0.7, 0.0, 0.7, 1.4)
"""Where the lamp's spots are beside its middle, along x and y: a larger lamp makes softer shadows."""
ROOM_SIZE = 5.0
"""How far the walls are that shiny objects mirror."""
FINENESS = 2
"""Rays per pixel, across and down."""
AMBIENT, DIFFUSE = 0.48, 0.62
FARTHEST = 1e6
"""Coordinates beyond are mistakes: rays to such places overflow."""


def scene_picture(scene: Mapping[str, Any], rules: SamplingRules, source: str = "") -> bytes:
    """Return a PNG of a scene record, as large as the domain's camera says. Raises BadInput for what has no place."""
    objects = scene["objects"]
    solids = [_solid(each, rules, source, f"objects[{number}]") for number, each in enumerate(objects)]
    camera = rules.camera.fitted([each.centre for each in solids], [tuple(each["pixel_coords"]) for each in objects])
    words = [_words(each) for each in objects]
    colors = [next((COLORS[word] for word in each if word in COLORS), COLORS["gray"]) for each in words]
    picture = _picture(camera, solids, colors, [not SHINY.isdisjoint(each) for each in words])
    return png_file(np.rint(picture * 255).astype(np.uint8))


def _solid(thing: Mapping[str, Any], rules: SamplingRules, source: str, path: str) -> Solid:
    faults = []
    for key in ("3d_coords", "pixel_coords"):
        value = thing.get(key)
        if key not in thing:
            faults.append(f"has no {key}, by which pictures of scenes are drawn")
        elif not (isinstance(value, list) and len(value) == 3 and all(map(_is_near, value))):
            faults.append(f"{key}: expected three numbers, none beyond {FARTHEST:,.0f}, found {as_written(value)}")
    rotation = thing.get("rotation", 0.0)
    if not _is_near(rotation):
        faults.append(f"rotation: expected degrees, found {as_written(rotation)}")
    try:
        if not faults:
            kind, radius, (x, y, z) = rules.solid.of(thing), float(rules.radius.of(thing)), thing["3d_coords"]
            return Solid(kind, (x, y, z), radius, float(rotation))
    except KeyError as error:
        strange = as_written(error.args[0])
        faults = [f"no shape or size in {rules.source} for {strange}; are the scenes of another domain?"]
    raise BadInput([Problem(fault, source, path) for fault in faults])


def _is_near(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= FARTHEST


def _words(thing: Mapping[str, Any]) -> list[str]:
    """Return the values of an object that are words."""
    words = [word for value in thing.values() for word in (value if isinstance(value, list) else [value])]
    return [word for word in words if isinstance(word, str)]


def _picture(camera: Camera, solids: Sequence[Solid], colors: Sequence[Rgb], shines: Sequence[bool]) -> Floats:
    """Return the colors of pixels, from 0 to 1, of shape (height, width, 3), for solids of some colors."""
    fine = Camera(
        camera.position, camera.right, camera.up, camera.forward,
        camera.focal_pixels * FINENESS, camera.width * FINENESS, camera.height * FINENESS,
    )  # fmt: skip
    seen = surface(fine, solids)
    coarse = _lamp_share(seen.points[::FINENESS, ::FINENESS], solids)  # shadows are soft: one ray a pixel is enough
    light = coarse.repeat(FINENESS, axis=0).repeat(FINENESS, axis=1)
    painted = np.array([*colors, TABLE])[seen.ids] / 255
    shaded = _shaded(fine, seen, painted, np.array([*shines, False])[seen.ids], light)
    height, width = camera.height, camera.width
    blended: Floats = shaded.reshape(height, FINENESS, width, FINENESS, 3).mean(axis=(1, 3))
    return blended


def _lamp_share(points: Floats, solids: Sequence[Solid]) -> Floats:
    """Return the share of the lamp that shines on each point."""
    spread = [(dx, dy, 0.0) for dx in LAMP_SPOTS for dy in LAMP_SPOTS]
    return lit_share(points.reshape(-1, 3), LAMP, spread, solids).reshape(points.shape[:-1])


def _shaded(camera: Camera, seen: Surface, colors: Floats, shines: Any, light: Floats) -> Floats:
    """Return the color of each ray: matt, or (`shines`) with the room mirrored in it."""
    to_lamp = _unit(np.array(LAMP) - seen.points)
    to_camera = _unit(np.array(camera.position) - seen.points)
    facing = np.clip((seen.normals * to_lamp).sum(axis=-1), 0, 1) * light
    sky = 0.75 + 0.25 * seen.normals[..., 2]  # what faces up gets more of the light from all sides
    lit = AMBIENT * sky + DIFFUSE * facing
    halfway = np.clip((seen.normals * _unit(to_lamp + to_camera)).sum(axis=-1), 0, 1)
    spot = np.where(shines, 0.9 * halfway**60, 0.1 * halfway**12) * light * (seen.ids != GROUND)
    mirrored = 2 * (seen.normals * to_camera).sum(axis=-1, keepdims=True) * seen.normals - to_camera
    room = _room(mirrored * ROOM_SIZE + seen.points)
    mirror = colors * (0.35 * lit + 0.55 * room)[..., np.newaxis] + 0.12 * room[..., np.newaxis] ** 2
    shade = np.where(shines[..., np.newaxis], mirror, colors * lit[..., np.newaxis])
    shaded: Floats = np.clip(shade + spot[..., np.newaxis], 0, 1)
    return shaded


def _room(walls: Floats) -> Floats:
    """Return how bright a room with windows is at points of its walls; what shines is known by mirroring it."""
    around = np.arctan2(walls[..., 1], walls[..., 0])
    height = walls[..., 2] / ROOM_SIZE
    windows = 0.5 + 0.5 * np.tanh(3 * np.sin(4 * around) - 0.6)
    floor = np.clip(0.7 + 0.5 * height, 0.35, 0.75)
    bright: Floats = np.where(height > 0, 0.5 + 0.3 * height, floor) + 0.3 * windows
    return bright


def _unit(vectors: Floats) -> Floats:
    lengths: Floats = np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))
    return vectors / lengths


# Folders of pictures ----------------------------------------------------------------------------------------------


class Drawn(NamedTuple):
    """How many pictures were made, and how many were there already."""

    made: int
    kept: int


def draw_scenes(
    scenes: PathLike,
    out: PathLike,
    files: DomainFiles,
    *,
    count: int = 0,
    force: bool = False,
    on_picture: Callable[[int], object] = lambda _: None,
) -> Drawn:
    """Write the picture of each of the first `count` scenes, or (0) of all, by its name into a folder.

    Pictures that are there stay, unless `force`: an interrupted run goes on. Raises BadInput at the first scene that
    has the name of an earlier one or none for a picture, or objects without places; pictures made before stay.
    """
    catalogue, _ = load_catalogue(files)
    rules = SamplingRules.from_domain(catalogue.domain)
    source = find_scenes(str(scenes))
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise PlaceError(f"{out} is a file; name a folder for the pictures")
    folder.mkdir(parents=True, exist_ok=True)
    made = kept = 0
    first_of: dict[str, str] = {}
    for index, record, place in source.entries(0, count):
        where = f"{place}: {SCENES.path(index)}"
        name = _file_name(record, where)
        first = first_of.setdefault(name, where)
        if first is not where:
            message = f"{name} is the name of two scenes, and pictures are named by them; the first is in {first}"
            raise BadInput([Problem(message, where, "image_filename")])
        target = folder / name
        if target.exists() and not force:
            kept += 1
        else:
            with atomic_output(str(target)) as file:
                file.write(scene_picture(record, rules, where))
            made += 1
        on_picture(1)
    return Drawn(made, kept)


def _file_name(scene: Mapping[str, Any], source: str) -> str:
    name = scene.get("image_filename")
    is_plain = isinstance(name, str) and name.isprintable() and Path(name).name == name and "\\" not in name
    if is_plain and str(name).lower().endswith(".png"):
        return str(name)
    message = f"expected the name of a PNG file without folders or control characters, found {as_written(name)}"
    raise BadInput([Problem(message, source, "image_filename")])
