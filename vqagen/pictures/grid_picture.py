"""Pictures of grids: a shelf with items, labels and, if wished, the director, as PNG or SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from vqagen.extras import needed
from vqagen.pictures.canvas import CELL, FONT_SIZE, Canvas, GridStyle
from vqagen.pictures.figure import FIGURE_PAINTS, director_figure, figured_cells
from vqagen.pictures.grid_svg import GridSvg
from vqagen.pictures.looks import Look
from vqagen.pictures.palette import MOST_FLAT, Colors, Palette, TrueColor, hex_to_rgb
from vqagen.pictures.png import PngEncoder
from vqagen.pictures.shelf import HALO, INK, ROOM, SURFACES, WALL, Back, boards, shown_cells
from vqagen.pictures.sprites import colors_of, sprite
from vqagen.pictures.tiles import PICTURES, Tiles, paint_surfaces, raise_unreadable

if TYPE_CHECKING:
    from PIL.Image import Image


class GridPainter:
    """Draws grids of one style. It keeps one canvas, on which a picture replaces the cells of the one before."""

    def __init__(self, looks: Mapping[str, Look], style: GridStyle) -> None:
        """Take the looks of all items. Raise BadInput with every picture of the user's that cannot be read."""
        raise_unreadable(looks)
        self._looks = looks
        self._canvas = Canvas(style)

    def restyled(self, style: GridStyle) -> GridPainter:
        """Return a painter of the same items for another view, which shares the tiles that are drawn already."""
        other = GridPainter({}, style)
        other._looks, other._tiles = self._looks, self._tiles
        return other

    def require_png(self) -> None:
        """Raise UsageError if Pillow is not installed, so that a run fails before it begins."""
        needed("PIL.Image", "draw", PICTURES)

    def png(self, cells: Sequence[str | None], blocked: Sequence[bool]) -> bytes:
        """Return the picture of a grid whose cells are given row by row as the participant sees them."""
        rows, channels = self._rows, self._tiles.colors.channels
        shown = shown_cells(self._canvas.style, cells, blocked)
        for number, (name, back) in enumerate(shown):
            left, top = self._corners[number]
            begin = 1 + left * channels
            tile = self._before_figure(number, name) if back is Back.FIGURE else self._tiles.tile(name, back)
            rows[top : top + CELL, begin : begin + CELL * channels] = tile
        return self._png.encode(rows)

    def svg(self, cells: Sequence[str | None], blocked: Sequence[bool]) -> str:
        """Return the same picture as SVG."""
        return self._svg.draw(cells, blocked)

    def _before_figure(self, number: int, name: str | None) -> Any:
        return self._tiles.before(self._figured[number], name)

    @cached_property
    def _figured(self) -> dict[int, Any]:
        """Cell behind which the director stands -> its tile without an item."""
        room, found = draw_room(self._canvas), {}
        for number in figured_cells(self._canvas):
            seen = self._canvas.back(number)
            part = room.crop((seen.left, seen.top, seen.right, seen.bottom))
            found[number] = self._tiles.seen_through(part)
        return found

    @cached_property
    def _tiles(self) -> Tiles:
        return Tiles(self._looks, colors_for(self._looks))

    @cached_property
    def _png(self) -> PngEncoder:
        colors = self._tiles.colors
        return PngEncoder(self._canvas.size, colors.to_bytes() if isinstance(colors, Palette) else None)

    @cached_property
    def _svg(self) -> GridSvg:
        return GridSvg(self._looks, self._canvas)

    @cached_property
    def _corners(self) -> tuple[tuple[int, int], ...]:
        style = self._canvas.style
        return tuple(map(self._canvas.corner, range(style.width * style.height)))

    @cached_property
    def _rows(self) -> Any:
        """The rows of the picture, each after the zero byte of its PNG filter. At first the cells are missing."""
        rows = self._tiles.colors.encode(np.asarray(draw_around(self._canvas)))
        return np.ascontiguousarray(np.pad(rows, ((0, 0), (1, 0))))


def colors_for(looks: Mapping[str, Look]) -> Colors:
    """Return a palette; true color if an item has a picture of the user's own, or if there are very many paints.

    It follows from the looks alone, so that each picture of a catalogue is stored alike.
    """
    if any(look.picture is not None for look in looks.values()):
        return TrueColor()
    return _colors_for_paints(tuple(dict.fromkeys(look.paint for look in looks.values())))


@lru_cache(maxsize=4)
def _colors_for_paints(paints: tuple[str, ...]) -> Colors:
    surfaces = [hex_to_rgb(color) for color in SURFACES]
    painted = [tuple(colors_of(paint)) for paint in (*paints, *FIGURE_PAINTS)]
    behind = [hex_to_rgb(color) for color in (ROOM, WALL, HALO)]
    flat = dict.fromkeys((*surfaces, *(color for colors in painted for color in colors)))
    if len(flat) > MOST_FLAT:
        return TrueColor()
    return Palette(flat, [surfaces, *((*colors, *behind) for colors in painted)])


def draw_room(canvas: Canvas) -> Image:
    """Return the picture of the room behind the shelf, with the figure."""
    image: Any = needed("PIL.Image", "draw", PICTURES)
    made: Image = image.new("RGB", canvas.size, ROOM)
    _draw_figure(made, canvas)
    return made


def draw_around(canvas: Canvas) -> Image:
    """Return the picture without its cells: room, figure, boards and labels."""
    made = draw_room(canvas)
    paint_surfaces(made, boards(canvas))
    _draw_labels(made, canvas)
    return made


def _draw_figure(picture: Image, canvas: Canvas) -> None:
    box = canvas.figure
    if box is not None:
        for drawing, paint in director_figure():
            part = sprite(drawing, paint, box.width)
            picture.paste(part, (box.left, box.top), part)


def _draw_labels(picture: Image, canvas: Canvas) -> None:
    draw: Any = needed("PIL.ImageDraw", "draw", PICTURES)
    fonts: Any = needed("PIL.ImageFont", "draw", PICTURES)
    pen, font = draw.Draw(picture), fonts.load_default(FONT_SIZE)
    for label in canvas.labels():
        left, top, right, bottom = pen.textbbox((0, 0), label.text, font=font)
        place = round(label.x - (left + right) / 2), round(label.y - (top + bottom) / 2)
        pen.text(place, label.text, fill=INK, font=font)
