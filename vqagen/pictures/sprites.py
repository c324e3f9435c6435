"""How items look, and their pictures: a drawing in a color as pixels or SVG, or a picture of the user's own."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from itertools import pairwise
from math import hypot
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy

from vqagen.errors import BadInput, Problem
from vqagen.extras import needed
from vqagen.pictures.canvas import CELL, ITEM_BOTTOM, ITEM_SIDE, Rectangle
from vqagen.pictures.drawing import BASE, DARK, GREY, INK, LIGHT, METAL, WHITE, WOOD, Drawing, Point, Shape, box_of

if TYPE_CHECKING:
    from PIL.Image import Image

Color = TypeVar("Color", str, int)
"""A color such as `#d62f2f`, or its number."""
EDGE = 0.032
"""The width of the edge of a shape, half of it outside of its outline."""
NEUTRAL: Mapping[str, str] = {
    INK: "#2a2a30",
    WHITE: "#fafafa",
    GREY: "#96999e",
    WOOD: "#decaa8",
    METAL: "#c4cad2",
    f"{WHITE} edge": "#606268",
    f"{GREY} edge": "#42444a",
    f"{WOOD} edge": "#706048",
    f"{METAL} edge": "#42464e",
}
"""Colors that are the same in every paint. The edge of `base` is a shade of it; the other fills have none."""
EDGE_SHADE, DARK_SHADE, LIGHT_SHADE = -0.6, -0.34, 0.5
"""How far the shades of a paint are from it, to black (-1) or white (1)."""
FINER = 2
"""Pictures of users are stored in SVG so many times finer than they are shown."""


@dataclass(frozen=True)
class Look:
    """How one item is drawn, and the words for it. It has a drawing or a picture of the user's."""

    name: str
    words: str
    """The item as instructions call it, without its size, such as `red pair of scissors`."""
    drawing: Drawing | None = None
    paint: str = ""
    """The color of the drawing, such as `#d62f2f`."""
    picture: Path | None = None
    scale: float = 1.0
    """The share of the largest item's side that this item's side is."""
    properties: tuple[str, ...] = ()
    """The other nouns and adjectives that are true of the item."""
    size: int = 1
    """The size level, from 1."""
    sizes: int = 1
    """How many size levels there are."""


def pillow(module: str) -> Any:
    """Return a module of Pillow, such as `ImageDraw`. UsageError if it is not installed."""
    return needed(f"PIL.{module}", "draw", "a picture")


def item_square(look: Look) -> Rectangle:
    """Return the square in a cell that holds an item which stands on the floor, in the middle."""
    side = max(1, round(ITEM_SIDE * look.scale))
    if look.drawing is None:
        left, _, right, bottom = item_sprite(look, side).getbbox() or (0, 0, side, side)
        middle, lowest = (left + right) / 2, float(bottom)
    else:
        start, _, end, low = _box_of(look.drawing)
        middle = side * (EDGE / 2 + (start + end) / 2 * (1 - EDGE))
        lowest = side * (low * (1 - EDGE) + EDGE)
    left, top = round(CELL / 2 - middle), round(ITEM_BOTTOM - lowest)
    return Rectangle(left, top, left + side, top + side)


_box_of = lru_cache(maxsize=1024)(box_of)


def item_sprite(look: Look, side: int) -> Image:
    """Return the item as an RGBA square."""
    if look.picture is not None:
        return picture_sprite(look.picture, side)
    assert look.drawing is not None, look.name
    return sprite(look.drawing, look.paint, side)


def item_svg(look: Look, x: float, y: float, side: float, finer: int = FINER) -> str:
    """Return the item as SVG in a square whose top left corner is at (x, y)."""
    if look.drawing is not None:
        return svg_of(look.drawing, look.paint, x, y, side)
    stored = BytesIO()
    item_sprite(look, max(round(side * finer), 1)).save(stored, "PNG")
    place = f'x="{x:g}" y="{y:g}" width="{side:g}" height="{side:g}"'
    return f'<image {place} href="data:image/png;base64,{base64.b64encode(stored.getvalue()).decode()}"/>'


# Pixels --------------------------------------------------------------------------------------------------------------


def sprite(drawing: Drawing, paint: str, side: int) -> Image:
    """Return a drawing in a color such as `#d62f2f`: an RGBA picture whose side is that of the unit square."""
    finer = 8 if side <= 64 else 4
    fine = _painted(drawing, side * finer).copy()
    channels = b"".join(bytes.fromhex(color[1:]) + b"\xff" for color in colors_of(paint).values())
    fine.putpalette(bytes(4) + channels, "RGBA")
    return fine.convert("RGBA").reduce(finer)


@lru_cache(maxsize=512)
def _painted(drawing: Drawing, side: int) -> Image:
    """Return a drawing whose pixels are numbers of colors, from 1, so that it is painted once for all paints."""
    made: Image = pillow("Image").new("P", (side, side))
    pen, scale = pillow("ImageDraw").Draw(made), side * (1 - EDGE)
    origin = side * EDGE / 2 - 0.5  # pixel 0 is from -0.5 to 0.5
    numbers = {color: number for number, color in enumerate(colors_of("#000000"), 1)}
    for shape in drawing:
        points = [(origin + x * scale, origin + y * scale) for x, y in shape.points]
        if not shape.width:
            pen.polygon(points, fill=numbers[shape.fill])
        for number, width in _strokes(shape, numbers):
            _stroke(pen, points, width * scale / 2, number)
    return made


def _stroke(pen: Any, points: Sequence[Point], half: float, color: int) -> None:
    """Paint a line as a disk at each corner and a rectangle between each two: Pillow's lines have whole widths."""
    for x, y in points:
        pen.ellipse((x - half, y - half, x + half, y + half), fill=color)
    for (x, y), (next_x, next_y) in pairwise(points):
        length = hypot(next_x - x, next_y - y)
        if length:
            aside, down = (next_y - y) / length * half, (x - next_x) / length * half
            ends = ((x, y, 1), (next_x, next_y, 1), (next_x, next_y, -1), (x, y, -1))
            pen.polygon([(at + way * aside, height + way * down) for at, height, way in ends], fill=color)


def picture_sprite(path: Path | str, side: int) -> Image:
    """Return a user's picture whole in an RGBA square, centered. Raise BadInput if it cannot be read."""
    image = pillow("Image")
    try:
        with image.open(path) as opened:
            given = pillow("ImageOps").exif_transpose(opened)
            if given.mode.startswith("I;16"):  # Pillow would cut such greys off at 255
                given = image.fromarray((numpy.asarray(given) >> 8).astype(numpy.uint8), "L")
            given = given.convert("RGBA")
    except (OSError, ValueError, SyntaxError, image.DecompressionBombError) as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else f"not a readable picture ({error})"
        raise BadInput([Problem(f"{why}; give a PNG, JPEG, GIF or WebP file", str(path))]) from None
    made: Image = image.new("RGBA", (side, side), (0, 0, 0, 0))
    share = side / max(given.size)
    fitted = given.resize([max(1, round(length * share)) for length in given.size], image.Resampling.LANCZOS)
    made.paste(fitted, ((side - fitted.width) // 2, (side - fitted.height) // 2))
    return made


# Colors --------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def colors_of(paint: str) -> Mapping[str, str]:
    """Return the color of each fill and, under names such as `base edge`, of its edge if it has one."""
    shades = {BASE: paint, DARK: _shade(paint, DARK_SHADE), LIGHT: _shade(paint, LIGHT_SHADE)}
    return {**shades, f"{BASE} edge": _shade(paint, EDGE_SHADE), **NEUTRAL}


def _shade(paint: str, share: float) -> str:
    goal = 255 if share > 0 else 0
    return "#" + bytes(round(part + (goal - part) * abs(share)) for part in bytes.fromhex(paint[1:])).hex()


def _strokes(shape: Shape, colors: Mapping[str, Color]) -> list[tuple[Color, float]]:
    """Return color and width of what is stroked along a shape's outline: its edge, and the line that it is."""
    edge, width = colors.get(f"{shape.fill} edge"), shape.width
    if not width:
        return [(edge, EDGE)] if edge else []
    if not edge:
        return [(colors[shape.fill], width)]
    return [(edge, width + EDGE), (colors[shape.fill], max(width - EDGE, width / 4))]


# SVG -----------------------------------------------------------------------------------------------------------------


def svg_of(drawing: Drawing, paint: str, x: float, y: float, side: float) -> str:
    """Return a drawing as a group of SVG whose unit square has its top left corner at (x, y)."""
    colors = colors_of(paint)
    paths = [path for shape in drawing for path in _svg_paths(shape, colors)]
    inner = side * (1 - EDGE)
    move = f"translate({_short(x + side * EDGE / 2)} {_short(y + side * EDGE / 2)}) scale({_short(inner)})"
    return f'<g transform="{move}" stroke-linecap="round" stroke-linejoin="round">{"".join(paths)}</g>'


def _svg_paths(shape: Shape, colors: Mapping[str, str]) -> list[str]:
    place, strokes = f'<path d="{_svg_place(shape)}"', _strokes(shape, colors)
    if shape.width:
        return [f'{place} fill="none" stroke="{color}" stroke-width="{_short(width)}"/>' for color, width in strokes]
    around = "".join(f' stroke="{color}" stroke-width="{_short(width)}"' for color, width in strokes)
    return [f'{place} fill="{colors[shape.fill]}"{around}/>']


def _svg_place(shape: Shape) -> str:
    steps, at = [f"M{_svg_point(shape.start)}"], shape.start
    for first, second, end in shape.curves:
        is_straight = (first, second) == (at, end)
        steps.append("L" + _svg_point(end) if is_straight else "C" + " ".join(map(_svg_point, (first, second, end))))
        at = end
    return "".join(steps) + ("Z" if shape.is_closed else "")


def _svg_point(point: Point) -> str:
    return f"{_short(point[0])} {_short(point[1])}"


def _short(number: float) -> str:
    """Return a number with at most four decimals.

    >>> _short(0.25), _short(3.0), _short(-0.00001)
    ('0.25', '3', '0')
    """
    return f"{round(number, 4) + 0.0:.4f}".rstrip("0").rstrip(".")
