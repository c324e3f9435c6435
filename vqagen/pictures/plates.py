"""Plates: a drawing of one size before a background, ready to be printed in any color.

Most pixels of such a tile are alike. A plate holds each different pixel once, as shares of the drawing's colors over
what is behind it, so that a new color costs as much as its few hundred different pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vqagen.pictures.sprites import color_shares, colors_of

if TYPE_CHECKING:
    from PIL.Image import Image

    from vqagen.pictures.drawing import Drawing
    from vqagen.pictures.palette import Colors

PACKED = 6
"""Counts, of at most 64 each, that are packed into one number."""


@dataclass(frozen=True)
class Plate:
    """A tile's different pixels, and which of them stands where."""

    used: list[int]
    """The colors that the drawing uses, as `colors_of` numbers them."""
    counts: Any
    """pixel × color: fine pixels of each color, out of `whole`."""
    whole: int
    behind: Any
    """pixel × 3: the color behind it."""
    places: Any
    """row × column: the number of the pixel."""

    def print(self, paint: str, colors: Colors) -> Any:
        """Return rows of stored bytes of the tile with the drawing in a color, the same as of a pasted sprite."""
        total = self.counts.sum(axis=1, keepdims=True)
        shades = np.array(colors_of(paint), np.int32)[self.used]
        shown = (self.counts @ shades + total // 2) // np.maximum(total, 1)
        opacity = (total * 255 + self.whole // 2) // self.whole
        blended = shown * opacity + self.behind * (255 - opacity) + 128
        pixels = ((blended >> 8) + blended) >> 8  # as Pillow divides by 255
        stored = colors.encode(pixels.astype(np.uint8)[:, np.newaxis])
        return np.ascontiguousarray(stored[self.places].reshape(len(self.places), -1))


def make_plate(drawing: Drawing, side: int, place: tuple[int, int], behind: Image) -> Plate:
    """Return the plate of a drawing, `side` pixels wide, whose top left corner is at `place` of what is behind."""
    used, drawn, whole = color_shares(drawing, side)
    back = np.asarray(behind).astype(np.int64)
    height, width, _ = back.shape
    (left, top), counts = place, np.zeros((height, width, len(used)), np.int32)
    inside = drawn[max(-top, 0) : height - top, max(-left, 0) : width - left]
    counts[max(top, 0) : top + side, max(left, 0) : left + side] = inside
    shares = np.zeros((height, width), np.int64)
    for first in range(0, len(used), PACKED):
        packed = counts[:, :, first : first + PACKED] @ (128 ** np.arange(len(used[first : first + PACKED])))
        shares = _numbered(packed << 16 | shares)
    kinds = shares << 24 | back @ np.array([65536, 256, 1])
    _, firsts, places = np.unique(kinds, return_index=True, return_inverse=True)
    counts_of, behind_of = counts.reshape(-1, len(used))[firsts], back.reshape(-1, 3)[firsts].astype(np.int32)
    return Plate(used, counts_of, whole, behind_of, places.reshape(height, width).astype(np.uint16))


def _numbered(keys: Any) -> Any:
    """Return for each key its number among the different ones."""
    return np.unique(keys, return_inverse=True)[1].reshape(keys.shape)
