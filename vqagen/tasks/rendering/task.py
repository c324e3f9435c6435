"""Pictures of scenes, as a task: the scenes again, with a picture, its camera, and a mask of each object.

    {…the scene, "camera": {…}, "lights": […], "picture": {"kind", "renderer", "variant", "samples", "sha256"},
     "objects": [{…the object, "box", "mask", "visible_pixels", "whole_pixels", "depth"}, …]}

The hash is of the pixels, not of the file. Rotations are radians in scenes of the renderer of Johnson et al. 2017,
whose files have no `generator`, and degrees in those of vqagen; a scene in radians says so from then on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vqagen.errors import BadInput, Problem, as_written, counted
from vqagen.files.locations import Location, content_hash
from vqagen.frozen import frozen
from vqagen.language.domain_files import DomainFiles, check_hashes, load_catalogue, rules_hashes
from vqagen.pictures.looks import DEGREES, RADIANS, ROTATION_UNIT, SceneLooks, Thing
from vqagen.pictures.masks import find_masks
from vqagen.pictures.png import png_file
from vqagen.pictures.sketch import FINENESS, sketched
from vqagen.pictures.variants import check_variant
from vqagen.rng import stream
from vqagen.tasks.contract import CountTally, Item, ItemRecords, Make, RunReport, Tally, Task
from vqagen.tasks.rendering.settings import RENDERED, PictureSettings
from vqagen.world.camera import Camera
from vqagen.world.loading import SCENES, SceneSource, SceneText, find_scenes, image_name, read_scene

FOLDER = "images"
"""The folder of pictures beside the scenes."""


class Made(NamedTuple):
    """A picture, and what its scene says of it."""

    pixels: NDArray[np.uint8]
    about: dict[str, Any]
    """What made it: the renderer, its variant if it has several, and the paths or places looked at in each pixel."""
    lights: list[dict[str, Any]] | None = None


HIDDEN = "hidden"
Paint = Callable[[Camera, list[Thing], Mapping[str, Any], int], Made]
"""(camera, objects, scene, its index) -> its picture."""


class PictureReport(RunReport):
    """The report of a run: how many pictures, and how many objects can hardly be seen."""

    def __init__(self) -> None:
        super().__init__("picture", "scene")
        self._hidden = 0

    def add(self, tally: Mapping[str, Any]) -> None:
        """Add the tally of a block."""
        self._hidden += tally.get(HIDDEN, 0)

    def summary(self) -> str:
        """Return the counts in a line."""
        if not self._hidden:
            return super().summary()
        return (
            f"{super().summary()}; {counted(self._hidden, 'object')} can hardly be seen (sampling.min_visible_pixels)"
        )

    def content(self) -> dict[str, Any]:
        """Return the counts as JSON."""
        return {**super().content(), f"{HIDDEN}_objects": self._hidden}


@frozen
class RenderingTask(Task):
    """Makes the picture and the masks of each scene. They depend on the scene, the seed and the scene's index alone."""

    settings: PictureSettings
    files: DomainFiles
    rotation_unit: str = DEGREES
    """The unit of the rotations of scenes that do not say it."""

    key = "scenes"
    makes_files = True
    WINDOW = 5  # pictures that a process makes before it hands them over, and that a kill may lose

    @property
    def inputs(self) -> tuple[Location, ...]:
        """The files of the domain, and its meshes."""
        return (*self.files.inputs, *self._looks().mesh_files)

    def hashes(self) -> dict[str, str]:
        """Return the content hashes of the metadata, and of its meshes if it has any."""
        meshes = self._looks().mesh_files
        return {**rules_hashes(self.files), **({"meshes": content_hash(meshes)} if meshes else {})}

    def _looks(self) -> SceneLooks:
        return SceneLooks.from_domain(load_catalogue(self.files)[0].domain)

    def load(self, hashes: Mapping[str, str]) -> Make:
        """Load the looks of the domain, and the renderer."""
        check_hashes(hashes, self.hashes())
        looks, settings = self._looks(), self.settings
        paint: Paint = _renderer(looks, settings) if settings.kind == RENDERED else _draw

        def make(items: Iterable[Item], first: int, tally: Tally) -> Iterator[ItemRecords]:
            assert isinstance(tally, CountTally)
            for item in items:
                assert isinstance(item, SceneText)
                if item.index >= first:
                    yield self._about(item, looks, paint, tally)

        return make

    def _about(self, item: SceneText, looks: SceneLooks, paint: Paint, tally: CountTally) -> ItemRecords:
        scene, source = read_scene(item), f"{item.place}: {SCENES.path(item.index)}"
        if self.rotation_unit != DEGREES:
            scene.setdefault(ROTATION_UNIT, self.rotation_unit)
        name = file_name(scene, source)
        camera, things = looks.camera(scene, source), looks.things(scene, source)
        if self.settings.width and self.settings.width != camera.width:
            camera = _resize(scene, camera, self.settings.width)
        made = paint(camera, things, scene, item.index)
        least = looks.rules.least_pixels(camera.width)
        for thing, mask in zip(scene["objects"], find_masks(camera, things), strict=True):
            thing.update(mask.to_record())
            tally[HIDDEN] += mask.visible_pixels < least
        scene["camera"] = camera.to_record()
        if made.lights is not None:
            scene["lights"] = made.lights
        scene["picture"] = {
            "kind": self.settings.kind,
            **made.about,
            "sha256": hashlib.sha256(made.pixels.tobytes()).hexdigest(),
        }
        return ItemRecords(item.index, [scene], {f"{FOLDER}/{name}": png_file(made.pixels)})

    def report(self) -> PictureReport:
        """Return an empty report."""
        return PictureReport()

    def generator_info(self) -> dict[str, Any]:
        """Return the domain's name, and the unit of rotations."""
        return {"domain": self.files.name, ROTATION_UNIT: self.rotation_unit}


def picture_task(scenes: Location | str, settings: PictureSettings, files: DomainFiles) -> RenderingTask:
    """Return the task for the scenes of a file or folder, whose names are checked. Raises VqagenError."""
    source = find_scenes(scenes)
    _check_names(source)
    if settings.kind == RENDERED:
        check_variant(settings.variant)
    is_ours = "generator" in source.info
    return RenderingTask(settings, files, DEGREES if is_ours else RADIANS)


def _check_names(source: SceneSource) -> None:
    """Raise BadInput if scenes have no name for a picture, or two have the same."""
    first_of: dict[str, str] = {}
    for index, scene, place in source.entries():
        where = f"{place}: {SCENES.path(index)}"
        name = file_name(scene, where)
        first = first_of.setdefault(name.lower(), where)
        if first is not where:
            message = f"{name} is the name of two scenes, and pictures are named by them; the first is in {first}"
            raise BadInput([Problem(message, where, "image_filename")])


def file_name(scene: Mapping[str, Any], source: str) -> str:
    """Return the name of a scene's picture. Raises BadInput for one that is no plain name of a PNG file."""
    name = image_name(scene)
    is_plain = name.isprintable() and Path(name).name == name and "\\" not in name
    if is_plain and name.lower().endswith(".png"):
        return name
    found = as_written(scene.get("image_filename"))
    message = f"expected the name of a PNG file without folders or control characters, found {found}"
    raise BadInput([Problem(message, source, "image_filename")])


def _resize(scene: dict[str, Any], camera: Camera, width: int) -> Camera:
    """Return the camera of pictures of another width; the pixels of the scene's objects follow."""
    scaled = camera.scaled(width)
    for thing in scene["objects"]:
        x, y, z = thing["3d_coords"]
        with suppress(ZeroDivisionError):  # beside the camera
            pixel = scaled.project((x, y, z))
            thing["pixel_coords"] = [round(pixel.x), round(pixel.y), round(pixel.depth, 6)]
    return scaled


# Kinds --------------------------------------------------------------------------------------------------------------


def _draw(camera: Camera, things: list[Thing], scene: Mapping[str, Any], index: int) -> Made:
    return Made(sketched(camera, things), {"renderer": "vqagen", "samples": FINENESS * FINENESS})


def _renderer(looks: SceneLooks, settings: PictureSettings) -> Paint:
    from vqagen.pictures.studio import Studio  # loads the renderer

    studio = Studio(looks, settings.samples, settings.variant)

    def render(camera: Camera, things: list[Thing], scene: Mapping[str, Any], index: int) -> Made:
        lights = studio.lights(scene, stream(settings.seed, "lights", index))
        return Made(studio.render(camera, things, lights), studio.about, lights)

    return render
