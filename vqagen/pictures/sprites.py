"""Pictures of single items: a drawing in a color as pixels or SVG, and the pictures of users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from vqagen.errors import BadInput, Problem
from vqagen.extras import needed
from vqagen.pictures.drawing import BASE, DARK, FILLS, GREY, INK, LIGHT, METAL, WHITE, WOOD, Drawing, Shape
from vqagen.pictures.outline import Outline, Point

if TYPE_CHECKING:
    from PIL.Image import Image

Rgb = tuple[int, int, int]

EDGE = 0.032
"""The width of the edge of a shape, half of it outside of its outline."""
NEUTRAL: Mapping[str, Rgb] = {
    INK: (42, 42, 48),
    WHITE: (250, 250, 250),
    GREY: (150, 153, 158),
    WOOD: (222, 202, 168),
    METAL: (196, 202, 210),
}
EDGES: Mapping[str, Rgb] = {WHITE: (96, 98, 104), GREY: (66, 68, 74), WOOD: (112, 96, 72), METAL: (66, 70, 78)}
"""The edges of what is neutral. The edge of `base` is a shade of it; the other fills have none."""
EDGE_SHADE, DARK_SHADE, LIGHT_SHADE = -0.6, -0.34, 0.5
"""How far the shades of a paint are from it, to black (-1) or white (1)."""


def sprite(drawing: Drawing, paint: str, side: int) -> Image:
    """Return a drawing in a color such as `#d62f2f`: an RGBA picture whose side is that of the unit square."""
    image: Any = needed("PIL.Image", "draw", "a picture")
    used, counts, whole = color_shares(drawing, side)
    shares = counts.astype(numpy.float32)  # exact, and twice as fast: the numbers are whole and below 2 ** 24
    total = shares.sum(axis=2, keepdims=True)
    colors = numpy.array(colors_of(paint), dtype=numpy.float32)[used]
    shown = (shares @ colors + numpy.floor(total / 2)) / numpy.maximum(total, 1)
    alpha = (total * 255 + whole // 2) / whole
    pixels = numpy.concatenate([shown, alpha], axis=2).astype(numpy.uint8)
    made: Image = image.fromarray(pixels, "RGBA")
    return made


def svg_of(drawing: Drawing, paint: str, x: float, y: float, side: float) -> str:
    """Return a drawing as a group of SVG whose unit square has its top left corner at (x, y)."""
    colors = [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in colors_of(paint)]
    paths = [path for shape in drawing.shapes for path in _svg_paths(shape, colors)]
    inner = side * (1 - EDGE)
    move = f"translate({_short(x + side * EDGE / 2)} {_short(y + side * EDGE / 2)}) scale({_short(inner)})"
    return f'<g transform="{move}" stroke-linecap="round" stroke-linejoin="round">{"".join(paths)}</g>'


def picture_sprite(path: Path | str, side: int) -> Image:
    """Return a user's picture whole in an RGBA square, centered. Raise BadInput if it cannot be read."""
    image: Any = needed("PIL.Image", "draw", "a picture")
    operations: Any = needed("PIL.ImageOps", "draw", "a picture")
    try:
        with image.open(path) as opened:
            given = _rgba(operations.exif_transpose(opened))
    except (OSError, ValueError, SyntaxError, image.DecompressionBombError) as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else f"not a readable picture ({error})"
        raise BadInput([Problem(f"{why}; give a PNG, JPEG, GIF or WebP file", str(path))]) from None
    made: Image = image.new("RGBA", (side, side), (0, 0, 0, 0))
    share = side / max(given.size)
    fitted = given.resize([max(1, round(length * share)) for length in given.size], image.Resampling.LANCZOS)
    made.paste(fitted, ((side - fitted.width) // 2, (side - fitted.height) // 2))
    return made


def _rgba(given: Image) -> Image:
    if given.mode.startswith("I;16"):  # Pillow would cut such greys off at 255
        image: Any = needed("PIL.Image", "draw", "a picture")
        given = image.fromarray((numpy.asarray(given) >> 8).astype(numpy.uint8), "L")
    return given.convert("RGBA")


# Colors -------------------------------------------------------------------------------------------------------------


def colors_of(paint: str) -> list[Rgb]:
    """Return the color of each fill, then those of their edges, both in the order of FILLS."""
    base = (int(paint[1:3], 16), int(paint[3:5], 16), int(paint[5:7], 16))
    shades = {BASE: base, DARK: _shade(base, DARK_SHADE), LIGHT: _shade(base, LIGHT_SHADE)}
    fills, edges = {**NEUTRAL, **shades}, {**EDGES, BASE: _shade(base, EDGE_SHADE)}
    return [*(fills[fill] for fill in FILLS), *(edges.get(fill, fills[fill]) for fill in FILLS)]


def _shade(color: Rgb, share: float) -> Rgb:
    goal = 255 if share > 0 else 0
    red, green, blue = (round(part + (goal - part) * abs(share)) for part in color)
    return red, green, blue


def _has_edge(fill: str) -> bool:
    return fill == BASE or fill in EDGES


# Pixels -------------------------------------------------------------------------------------------------------------


def _finer(side: int) -> int:
    """Return how many times finer than the picture a drawing is rastered, in each direction."""
    return 8 if side <= 64 else 4


@lru_cache(maxsize=512)
def color_shares(drawing: Drawing, side: int) -> tuple[list[int], Any, int]:
    """Return the colors that are used, how many fine pixels of each a pixel has, and how many fine pixels a pixel has.

    The second is an array of rows × columns × colors. A color is an index into `colors_of`. Counts do not depend on the
    paint, so that a drawing is rastered once for all its colors. They are whole numbers, so that a sprite is the same
    on every machine.
    """
    finer = _finer(side)
    image: Any = needed("PIL.Image", "draw", "a picture")
    canvas = image.new("L", (side * finer, side * finer), 0)
    _paint(canvas, drawing, side * finer)
    painted = numpy.asarray(canvas)
    found = numpy.flatnonzero(numpy.bincount(painted.reshape(-1), minlength=2 * len(FILLS) + 1))
    used = [color - 1 for color in found.tolist() if color]
    numbers = numpy.zeros(2 * len(FILLS) + 1, numpy.int32)
    numbers[found] = numpy.arange(len(found)) + (0 if 0 in found else 1)  # 0 stands for what is not painted
    pixels = numpy.arange(side, dtype=numpy.int32).repeat(finer)
    places = (pixels[:, numpy.newaxis] * side + pixels) * (len(used) + 1) + numbers[painted]
    counts = numpy.bincount(places.reshape(-1), minlength=side * side * (len(used) + 1))
    return used, counts.astype(numpy.uint8).reshape(side, side, -1)[:, :, 1:], finer**2


def _paint(canvas: Image, drawing: Drawing, side: int) -> None:
    """Paint the number of a color, from 1, over each fine pixel."""
    pen = _Pen(canvas, side)
    for shape in drawing.shapes:
        fill, edge = FILLS.index(shape.fill) + 1, FILLS.index(shape.fill) + 1 + len(FILLS)
        outline = shape.outline
        if outline.width:
            if _has_edge(shape.fill):
                pen.stroke(outline, outline.width + EDGE, edge)
                pen.stroke(outline, _inner_width(outline), fill)
            else:
                pen.stroke(outline, outline.width, fill)
        else:
            pen.fill(outline, fill)
            if _has_edge(shape.fill):
                pen.stroke(outline, EDGE, edge)


def _inner_width(outline: Outline) -> float:
    return max(outline.width - EDGE, outline.width / 4)


class _Pen:
    """Paints outlines of the unit square, and the edge around it, on a square canvas."""

    def __init__(self, canvas: Image, side: int) -> None:
        draw: Any = needed("PIL.ImageDraw", "draw", "a picture")
        self._draw = draw.Draw(canvas)
        self._scale = side * (1 - EDGE)
        self._origin = side * EDGE / 2 - 0.5  # pixel 0 is from -0.5 to 0.5

    def fill(self, outline: Outline, color: int) -> None:
        self._draw.polygon(self._placed(outline.points), fill=color)

    def stroke(self, outline: Outline, width: float, color: int) -> None:
        """Paint a line as a disk at each corner and a rectangle between each two."""
        points = self._placed(outline.points)
        half = width * self._scale / 2
        for x, y in points:
            self._draw.ellipse((x - half, y - half, x + half, y + half), fill=color)
        for (x, y), (next_x, next_y) in pairwise(points):
            length = ((next_x - x) ** 2 + (next_y - y) ** 2) ** 0.5
            if length:
                aside, down = (next_y - y) / length * half, (x - next_x) / length * half
                self._draw.polygon(
                    [
                        *((x + aside, y + down), (next_x + aside, next_y + down)),
                        *((next_x - aside, next_y - down), (x - aside, y - down)),
                    ],
                    fill=color,
                )

    def _placed(self, points: Sequence[Point]) -> list[Point]:
        return [(self._origin + x * self._scale, self._origin + y * self._scale) for x, y in points]


# SVG ----------------------------------------------------------------------------------------------------------------


def _svg_paths(shape: Shape, colors: Sequence[str]) -> list[str]:
    color, edge = colors[FILLS.index(shape.fill)], colors[FILLS.index(shape.fill) + len(FILLS)]
    outline, place = shape.outline, f'<path d="{_svg_place(shape.outline)}"'
    edged = _has_edge(shape.fill)
    if not outline.width:
        around = f' stroke="{edge}" stroke-width="{_short(EDGE)}"' if edged else ""
        return [f'{place} fill="{color}"{around}/>']
    strokes = [(edge, outline.width + EDGE), (color, _inner_width(outline))] if edged else [(color, outline.width)]
    return [f'{place} fill="none" stroke="{each}" stroke-width="{_short(width)}"/>' for each, width in strokes]


def _svg_place(outline: Outline) -> str:
    steps, at = [f"M{_svg_point(outline.start)}"], outline.start
    for first, second, end in outline.curves:
        is_straight = (first, second) == (at, end)
        steps.append("L" + _svg_point(end) if is_straight else "C" + " ".join(map(_svg_point, (first, second, end))))
        at = end
    return "".join(steps) + ("Z" if outline.is_closed else "")


def _svg_point(point: Point) -> str:
    return f"{_short(point[0])} {_short(point[1])}"


def _short(number: float) -> str:
    """Return a number with at most four decimals.

    >>> _short(0.25), _short(3.0), _short(-0.00001)
    ('0.25', '3', '0')
    """
    return f"{round(number, 4) + 0.0:.4f}".rstrip("0").rstrip(".")
