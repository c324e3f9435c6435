"""The director: a figure that stands behind the shelf and looks at the participant."""

from __future__ import annotations

from functools import cache, lru_cache

from vqagen.pictures.canvas import Canvas, PixelBox
from vqagen.pictures.drawing import Drawing, box_of, read_drawing
from vqagen.pictures.outline import Box

GRAZE = 4
"""Pixels of the border of a part that count for nothing."""
TROUSERS, SHOES, SKIN, SLEEVES, JUMPER, HAIR = "#2d55af", "#19092d", "#dda171", "#057d5d", "#2d9b7d", "#4b1901"
"""Their light shades are shown: items stand before the director. None is like the grey of blocked backs."""

LAYERS: tuple[tuple[str, list[dict[str, object]]], ...] = (
    (TROUSERS, [{"rect": [0.385, 0.55, 0.11, 0.42]}, {"rect": [0.505, 0.55, 0.11, 0.42]}]),
    (SHOES, [{"ellipse": [0.425, 0.965, 0.075, 0.03]}, {"ellipse": [0.575, 0.965, 0.075, 0.03]}]),
    (SKIN, [{"ellipse": [0.325, 0.575, 0.036, 0.042]}, {"ellipse": [0.675, 0.575, 0.036, 0.042]}]),
    (
        SLEEVES,
        [
            {"line": [[0.385, 0.325], [0.328, 0.54]], "width": 0.075},
            {"line": [[0.615, 0.325], [0.672, 0.54]], "width": 0.075},
        ],
    ),
    (JUMPER, [{"rect": [0.365, 0.275, 0.27, 0.325], "round": 0.07}]),
    (
        SKIN,
        [
            {"rect": [0.456, 0.2, 0.088, 0.1], "round": 0.03},
            {"ellipse": [0.406, 0.145, 0.02, 0.028]},
            {"ellipse": [0.594, 0.145, 0.02, 0.028]},
            {"ellipse": [0.5, 0.14, 0.094, 0.112]},
        ],
    ),
    (
        HAIR,
        [
            {"ellipse": [0.464, 0.14, 0.011, 0.015]},
            {"ellipse": [0.536, 0.14, 0.011, 0.015]},
            {"arc": [0.5, 0.18, 0.036, 0.024], "start": 20, "end": 160, "width": 0.011},
            {
                "curve": [
                    *([0.398, 0.13], [0.398, 0.13], [0.41, 0.055], [0.5, 0.016], [0.59, 0.055], [0.602, 0.13]),
                    *([0.602, 0.13], [0.565, 0.08], [0.5, 0.088], [0.435, 0.08]),
                ]
            },
        ],
    ),
)
"""Paint and shapes of each part, from the back to the front."""


@cache
def director_figure() -> tuple[tuple[Drawing, str], ...]:
    """Return the drawings of the director from the front, from head to foot, each with its paint."""
    return tuple((read_drawing([{**shape, "fill": "light"} for shape in shapes]), paint) for paint, shapes in LAYERS)


@lru_cache(maxsize=16)
def figured_cells(canvas: Canvas) -> frozenset[int]:
    """Return the cells behind whose backs a part of the director stands, and not just a tip of a shoe."""
    square = canvas.figure
    if square is None:
        return frozenset()
    parts = [_pixels(box, square) for box in _boxes()]
    cells = range(canvas.style.width * canvas.style.height)
    return frozenset(number for number in cells if any(canvas.back(number).meets(part.grown(-GRAZE)) for part in parts))


@cache
def _boxes() -> tuple[Box, ...]:
    """Return the boxes around all shapes, as shares of the square."""
    return tuple(box_of(read_drawing([shape])) for _, shapes in LAYERS for shape in shapes)


def _pixels(box: Box, square: PixelBox) -> PixelBox:
    sides = ((square.left, box.left), (square.top, box.top), (square.left, box.right), (square.top, box.bottom))
    return PixelBox(*(at + round(share * square.width) for at, share in sides))
