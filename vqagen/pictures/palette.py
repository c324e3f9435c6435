"""Palettes: at most 256 colors for all pictures of a catalogue, so that pictures are small and quick to write."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from vqagen.pictures.sprites import Rgb

MOST_COLORS = 256
MOST_FLAT = 192
"""Colors of surfaces. With more, too little of the palette is left for the blends at edges."""
STEPS = 8
"""Where two colors meet in a drawing, edges are blends of them, in eighths."""


class Colors(Protocol):
    """How a picture's colors are stored."""

    channels: int
    """Bytes of a pixel."""

    def encode(self, pixels: Any) -> Any:
        """Return an array of height × width × 3 bytes as rows of stored bytes."""


class TrueColor:
    """Stores red, green and blue of each pixel, for pictures of the user's own."""

    channels = 3

    def encode(self, pixels: Any) -> Any:
        """Return rows of red, green and blue in turn."""
        return pixels.reshape(len(pixels), -1)


class Palette:
    """Stores the number of the nearest of at most 256 colors."""

    channels = 1

    def __init__(self, flat: Iterable[Rgb], groups: Iterable[Iterable[Rgb]]) -> None:
        """Take all colors of surfaces, which are `flat`, and `groups` of colors that can meet at an edge.

        Flat colors are kept as they are, as far as there is room. The other places go to blends of colors that can
        meet, each time to the blend that is farthest from every color in the palette.
        """
        first = _distinct(flat)
        chosen = _spread(first[:1], first)
        self._numbers = np.zeros(1 << 24, np.uint16)
        """Each color -> the place of the nearest in the palette, from 1; 0 as long as nothing asked for it."""
        self._colors = _spread(chosen, _distinct(blend for group in groups for blend in _blends(group)))

    def to_bytes(self) -> bytes:
        """Return red, green and blue of each color in turn."""
        stored: bytes = self._colors.astype(np.uint8).tobytes()
        return stored

    def encode(self, pixels: Any) -> Any:
        """Return rows of the nearest colors' numbers."""
        packed = pixels.astype(np.int32) @ np.array([65536, 256, 1], np.int32)
        new = np.unique(packed[self._numbers[packed] == 0])
        for part in np.array_split(new, len(new) // 4096 + 1):
            channels = np.stack((part >> 16, part >> 8 & 255, part & 255), axis=1)
            self._numbers[part] = _distances(channels, self._colors).argmin(axis=1) + 1
        return (self._numbers[packed] - 1).astype(np.uint8)


def hex_to_rgb(color: str) -> Rgb:
    """Return red, green and blue.

    >>> hex_to_rgb("#ff8000")
    (255, 128, 0)
    """
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _blends(colors: Iterable[Rgb]) -> Iterable[Rgb]:
    for one, two in combinations(_distinct(colors).tolist(), 2):
        for step in range(1, STEPS):
            red, green, blue = (
                (low * (STEPS - step) + high * step) // STEPS for low, high in zip(one, two, strict=True)
            )
            yield red, green, blue


def _distinct(colors: Iterable[Rgb]) -> Any:
    return np.array(list(dict.fromkeys(colors)), np.int32)


def _spread(chosen: Any, candidates: Any) -> Any:
    """Return the `chosen` colors and, as far as there is room, each time the candidate farthest from these."""
    apart = _distances(candidates, chosen).min(axis=1)
    while len(chosen) < MOST_COLORS and apart.max():
        farthest = candidates[apart.argmax()][np.newaxis]
        chosen = np.concatenate((chosen, farthest))
        apart = np.minimum(apart, _distances(candidates, farthest)[:, 0])
    return chosen


def _distances(colors: Any, others: Any) -> Any:
    """Return the squared distance of each color to each of the others, exactly: all numbers are below 2 ** 24."""
    mine, theirs = colors.astype(np.float32), others.astype(np.float32)
    return (mine**2).sum(axis=1)[:, np.newaxis] + (theirs**2).sum(axis=1) - 2 * mine @ theirs.T
