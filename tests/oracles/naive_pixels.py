"""Slow twin of `vqagen.world.solids`: a whole picture, in which every pixel knows its solid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vqagen.world.camera import Camera
from vqagen.world.solids import Solid, entry_depths, pixel_box

GROUND = -1
"""The id of a pixel that shows no solid."""


def id_image(camera: Camera, solids: Sequence[Solid]) -> NDArray[np.int16]:
    """Return `image[row, column]`: the index of the solid seen at that pixel's centre, or GROUND."""
    ids = np.full((camera.height, camera.width), GROUND, dtype=np.int16)
    nearest = np.full((camera.height, camera.width), np.inf)
    for index, solid in enumerate(solids):
        box = pixel_box(camera, solid)
        if box.left >= box.right or box.top >= box.bottom:
            continue
        place = np.s_[box.top : box.bottom, box.left : box.right]
        depth = entry_depths(camera, solid, camera.rays(box))
        closer = depth < nearest[place]
        nearest[place][closer] = depth[closer]
        ids[place][closer] = index
    return ids


def visible_pixels(camera: Camera, solids: Sequence[Solid]) -> list[int]:
    """Return, for each solid, the number of pixels that show it."""
    seen = id_image(camera, solids)
    counts: list[int] = np.bincount(seen[seen != GROUND], minlength=len(solids)).tolist()
    return counts
