"""Letters on objects in pictures: the options where an answer is an object.

A letter stands on a white disc with a dark rim, in the middle of what can be seen of its object, and hides less than
half of that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vqagen.pictures.drawing import read_drawing
from vqagen.pictures.masks import Bools, mask_pixels
from vqagen.pictures.sprites import pillow, sprite
from vqagen.world.scene import picture_size

DISCS, LEAST_SIDE, LEAST_SHOWN = 30, 14, 2
"""Discs side by side across a picture; the least width of one in pixels, so that its letter can be read; and how many
squares around a disc an object must show to bear one."""
LETTERS = "ABCD"
_STROKES: Sequence[Sequence[Mapping[str, Any]]] = (
    ({"line": [[0.3, 0.72], [0.5, 0.26], [0.7, 0.72]]}, {"line": [[0.39, 0.57], [0.61, 0.57]]}),
    (
        {"line": [[0.48, 0.27], [0.36, 0.27], [0.36, 0.73], [0.5, 0.73]]},
        {"line": [[0.36, 0.49], [0.5, 0.49]]},
        {"arc": [0.48, 0.38, 0.15, 0.11], "start": -90, "end": 90},
        {"arc": [0.5, 0.61, 0.16, 0.12], "start": -90, "end": 90},
    ),
    ({"arc": [0.53, 0.5, 0.22, 0.24], "start": 50, "end": 310},),
    (
        {"line": [[0.44, 0.27], [0.35, 0.27], [0.35, 0.73], [0.44, 0.73]]},
        {"arc": [0.44, 0.5, 0.25, 0.23], "start": -90, "end": 90},
    ),
)
"""The strokes of each letter."""
_DISC = ({"ellipse": [0.5, 0.5, 0.5, 0.5], "fill": "ink"}, {"ellipse": [0.5, 0.5, 0.43, 0.43]})


def _side(width: int) -> int:
    """Return the width of a disc in a picture of a width."""
    return max(LEAST_SIDE, round(width / DISCS))


def markable(scene: Mapping[str, Any]) -> list[int]:
    """Return the objects of a scene record that can bear a mark: enough of them can be seen, as far as it says so."""
    least = LEAST_SHOWN * _side((picture_size(scene) or (0, 0))[0]) ** 2
    shown = (thing.get("visible_pixels") for thing in scene["objects"])
    return [number for number, pixels in enumerate(shown) if not isinstance(pixels, int) or pixels >= least]


def pixels_of(image: bytes) -> NDArray[np.uint8]:
    """Return the pixels of a picture file, of shape (height, width, 3). OSError for what is no picture."""
    return np.asarray(pillow("Image").open(BytesIO(image)).convert("RGB"), dtype=np.uint8)


def marked(image: bytes, masks: Sequence[Mapping[str, Any]], marks: Sequence[int]) -> NDArray[np.uint8]:
    """Return the pixels of a picture with letters from A on on the objects `marks`; `masks` has one of each object."""
    made = pillow("Image").fromarray(pixels_of(image))
    side = _side(made.width)
    for strokes, number in zip(_STROKES, marks, strict=False):
        letter = read_drawing([*_DISC, *({**each, "width": 0.11, "fill": "ink"} for each in strokes)])
        x, y = middle_of(mask_pixels(masks[number]))
        made.paste(disc := sprite(letter, "#ffffff", side), (x - side // 2, y - side // 2), disc)
    return np.asarray(made, dtype=np.uint8)


def middle_of(shown: Bools) -> tuple[int, int]:
    """Return x and y of a pixel that shows an object and is farthest from those that do not, here in straight steps.

    >>> middle_of(np.array([[1, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 0, 1, 1, 1]], dtype=np.bool_))
    (3, 1)
    """
    inner = left = np.pad(shown, 1)
    while left.any():
        inner = left
        left = inner & np.roll(inner, 1, 0) & np.roll(inner, -1, 0) & np.roll(inner, 1, 1) & np.roll(inner, -1, 1)
    rows, columns = np.nonzero(inner)
    nearest = np.argmin((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2)
    return int(columns[nearest]) - 1, int(rows[nearest]) - 1
