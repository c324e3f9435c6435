"""The pixels that show each object of a scene: what is visible, what would be without the others, and how far it is.

A pixel belongs to what its centre shows. Spheres and cylinders are meshes here, whose outlines are within 0.13 pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vqagen.pictures.looks import SceneLooks, Thing
from vqagen.pictures.raster import hits, joined
from vqagen.world.camera import Camera, vector_of

Bools = NDArray[np.bool_]


class Mask(NamedTuple):
    """The pixels of an object: those that show it, of shape (height, width), and how many would without the others."""

    pixels: Bools
    whole_pixels: int
    depth: float | None
    """The mean length of the rays to what is visible; None if nothing is."""

    @property
    def visible_pixels(self) -> int:
        """How many pixels show the object."""
        return int(np.count_nonzero(self.pixels))

    @property
    def box(self) -> tuple[int, int, int, int] | None:
        """Left, top, right and bottom of what is visible, the last two behind its last pixels; None if nothing is."""
        columns, rows = np.flatnonzero(self.pixels.any(axis=0)), np.flatnonzero(self.pixels.any(axis=1))
        return (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1) if len(rows) else None

    def to_record(self) -> dict[str, Any]:
        """Return the mask as an object of a scene says it."""
        return {
            "box": list(self.box) if self.box else None,
            "mask": {"size": list(self.pixels.shape), "counts": run_lengths(self.pixels)},
            "visible_pixels": self.visible_pixels,
            "whole_pixels": self.whole_pixels,
            "depth": None if self.depth is None else round(self.depth, 4),
        }


def masks_of(scene: Mapping[str, Any], looks: SceneLooks, source: str = "") -> list[Mask]:
    """Return the mask of each object of a scene record, seen by the scene's camera. Raises BadInput."""
    return find_masks(looks.camera(scene, source), looks.things(scene, source))


def seen_again(scene: Mapping[str, Any], looks: SceneLooks, miss: float, source: str = "") -> dict[str, Any]:
    """Return a scene record with the masks and boxes that its camera sees, computed again, and `pixel_coords`.

    These are as they were if the camera sees their object so near to them. Raises BadInput.
    """
    camera, pairs = looks.camera(scene, source), zip(scene["objects"], masks_of(scene, looks, source), strict=True)
    objects = [{**thing, **mask.to_record(), **_pixel(camera, thing, miss)} for thing, mask in pairs]
    return {**scene, "objects": objects}


def _pixel(camera: Camera, thing: Mapping[str, Any], miss: float) -> dict[str, Any]:
    """Return the `pixel_coords` that an object should have; each number as it is if it is near. Nothing without any."""
    with suppress(ZeroDivisionError):  # beside the camera
        if given := thing.get("pixel_coords"):
            seen = map(round, camera.project(vector_of(thing["3d_coords"])))
            return {
                "pixel_coords": [one if abs(one - two) <= miss else two for one, two in zip(given, seen, strict=True)]
            }
    return {}


def find_masks(camera: Camera, things: Sequence[Thing]) -> list[Mask]:
    """Return the mask of each object."""
    world = joined(things)
    covered = hits(camera, world.mesh)
    pixels = camera.width * camera.height
    both = np.unique(world.things[covered.triangles] * pixels + covered.pixels)
    whole = np.bincount(both // pixels, minlength=len(things))
    nearest = covered.nearest()
    rows, columns = np.divmod(nearest.pixels, camera.width)
    across, upward = columns + 0.5 - camera.width / 2, rows + 0.5 - camera.height / 2
    slant = np.sqrt(1 + (across * across + upward * upward) / camera.focal_pixels**2)
    lengths, owners = slant / nearest.nearness, world.things[nearest.triangles]
    masks = []
    for number in range(len(things)):
        is_own = owners == number
        shown = np.zeros(pixels, dtype=np.bool_)
        shown[nearest.pixels[is_own]] = True
        depth = float(lengths[is_own].mean()) if is_own.any() else None
        masks.append(Mask(shown.reshape(camera.height, camera.width), int(whole[number]), depth))
    return masks


def run_lengths(pixels: Bools) -> list[int]:
    """Return the lengths of runs, column by column, of pixels that are not and that are in a mask, as COCO has them.

    >>> run_lengths(np.array([[0, 1], [1, 1]], dtype=np.bool_))
    [1, 3]
    """
    flat = np.concatenate(([False], pixels.ravel(order="F")))
    changes = np.flatnonzero(flat[1:] != flat[:-1])
    return [int(length) for length in np.diff(np.concatenate(([0], changes, [pixels.size])))]


def mask_pixels(record: Mapping[str, Any]) -> Bools:
    """Return the pixels of a mask that a record holds, of shape (height, width)."""
    height, width = record["size"]
    counts = np.array(record["counts"], dtype=np.int64)
    flat = np.repeat(np.arange(len(counts)) % 2 == 1, counts)
    return np.reshape(flat, (height, width), order="F")
