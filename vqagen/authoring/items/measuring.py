"""Measures of a picture: how much of it is visible, and the color that most of it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from vqagen.pictures.sprites import picture_sprite

if TYPE_CHECKING:
    from PIL.Image import Image

_SIDE = 96
"""Pixels of the square that a picture is measured in."""
_VISIBLE = 128
"""The alpha from which a pixel counts as visible."""
_COLORFUL = 12.0
"""The chroma (CIE Lab) below which a pixel has no color: white, grey, black."""
_WHITE = (0.95047, 1.0, 1.08883)
"""The white of sRGB in CIE XYZ (D65)."""


@dataclass(frozen=True)
class PictureFacts:
    """Measures of one picture."""

    area: float
    """The share of the square around the picture that is visible."""
    colors: Mapping[str, float]
    """Color -> the share of the visible pixels that are nearest to its paint, from the largest."""


def measure_picture(path: Path, paints: Mapping[str, str]) -> PictureFacts:
    """Return the measures of a picture file, with `paints` as the colors. Raise BadInput if it is unreadable."""
    return measure_image(picture_sprite(path, _SIDE), paints)


def measure_image(square: Image, paints: Mapping[str, str]) -> PictureFacts:
    """Return the measures of an RGBA square."""
    pixels = numpy.asarray(square)
    visible = pixels[pixels[..., 3] >= _VISIBLE][:, :3]
    area = len(visible) / (pixels.shape[0] * pixels.shape[1])
    lab = _lab(visible)
    colorful = lab[numpy.hypot(lab[:, 1], lab[:, 2]) >= _COLORFUL]
    return PictureFacts(area, _nearest_shares(colorful, paints, max(len(visible), 1)))


def paint_distance(first: str, second: str) -> float:
    """Return how different two paints look: the distance in CIE Lab, of which 2 can just be seen.

    >>> round(paint_distance("#d62f2f", "#d62f2f")), paint_distance("#d62f2f", "#2b62d9") > 100
    (0, True)
    """
    one, other = _lab(numpy.array([_rgb(first), _rgb(second)]))
    return float(numpy.linalg.norm(one - other))


def _nearest_shares(lab: NDArray[numpy.float64], paints: Mapping[str, str], whole: int) -> dict[str, float]:
    """Return for each color how many of the pixels are nearest to its paint, as a share of `whole`."""
    if not paints:
        return {}
    known = _lab(numpy.array([_rgb(paint) for paint in paints.values()]))
    nearest = numpy.linalg.norm(lab[:, None, :] - known[None, :, :], axis=2).argmin(axis=1)
    counts = numpy.bincount(nearest, minlength=len(paints)) / whole
    return dict(sorted(zip(paints, counts.tolist(), strict=True), key=lambda pair: -pair[1]))


def _rgb(paint: str) -> tuple[int, int, int]:
    return int(paint[1:3], 16), int(paint[3:5], 16), int(paint[5:7], 16)


def _lab(rgb: Any) -> NDArray[numpy.float64]:
    """Return colors of sRGB (rows of three numbers from 0 to 255) in CIE Lab, where distance is what eyes see."""
    share = numpy.asarray(rgb, dtype=numpy.float64).reshape(-1, 3) / 255
    linear = numpy.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    matrix = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    x, y, z = (linear @ numpy.array(matrix).T / numpy.array(_WHITE)).T
    bent = [numpy.where(each > 216 / 24389, numpy.cbrt(each), (24389 / 27 * each + 16) / 116) for each in (x, y, z)]
    return numpy.stack([116 * bent[1] - 16, 500 * (bent[0] - bent[1]), 200 * (bent[1] - bent[2])], axis=1)
