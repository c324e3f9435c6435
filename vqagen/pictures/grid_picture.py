"""Pictures of grids: a shelf with items, labels and, if wished, the director, as PNG or SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from vqagen.extras import needed
from vqagen.pictures.canvas import CELL, FONT_SIZE, HALO_WIDTH, Canvas, GridStyle
from vqagen.pictures.figure import LAYERS, director_figure
from vqagen.pictures.grid_svg import GridSvg
from vqagen.pictures.looks import Look, item_sprite, item_square, raise_unreadable
from vqagen.pictures.png import png_file
from vqagen.pictures.shelf import HALO, HALOED, INK, ROOM, SURFACES, WALL, Back, boards, cell_surfaces, shown_cells
from vqagen.pictures.sprites import colors_of, sprite

if TYPE_CHECKING:
    from PIL.Image import Image

PICTURES = "a picture of a grid"
FINER = 4
"""Cells are painted so many times finer than they are shown."""
MOST_SPRITES = 4096
"""Items that are kept; a catalogue of more paints some of them again."""
MOST_COLORS, MOST_FLAT = 256, 192
"""Colors of a palette, and how many of them at most are those of surfaces; the others are blends at edges."""
STEPS = 8
"""Where two colors meet in a drawing, edges are blends of them, in eighths."""
TOO_NEAR = 24
"""A blend that is as near to the color of a surface, over all channels, is no color of its own."""


class GridPainter:
    """Draws grids of one style: Pillow pastes sprites, painted when first needed, on a picture of open cells."""

    def __init__(self, looks: Mapping[str, Look], style: GridStyle) -> None:
        """Take the looks of all items. Raise BadInput with every picture of the user's that cannot be read."""
        raise_unreadable(looks)
        self._looks, self._canvas = looks, Canvas(style)
        self._sprites: dict[tuple[str, bool], tuple[Image, tuple[int, int]]] = {}
        """Item and whether it has a halo -> its picture, and where this stands in a cell."""

    def restyled(self, style: GridStyle) -> GridPainter:
        """Return a painter of the same items for another view, which shares the sprites that are painted already."""
        other = GridPainter({}, style)
        other._looks, other._sprites = self._looks, self._sprites
        return other

    def require_png(self) -> None:
        """Raise UsageError if Pillow is not installed, so that a run fails before it begins."""
        needed("PIL.Image", "draw", PICTURES)

    def png(self, cells: Sequence[str | None], blocked: Sequence[bool]) -> bytes:
        """Return the picture of a grid whose cells are given row by row as the participant sees them."""
        picture = self._empty.copy()
        for number, (name, back) in enumerate(shown_cells(self._canvas.style, cells, blocked)):
            left, top = self._canvas.corner(number)
            if not back.is_open:
                picture.paste(empty_cell(back), (left, top))
            if name is not None:
                item, (x, y) = self._sprite(name, back in HALOED)
                picture.paste(item, (left + x, top + y), item)
        if self._palette is None:
            return png_file(np.asarray(picture))
        image: Any = needed("PIL.Image", "draw", PICTURES)
        numbers = picture.quantize(palette=self._palette, dither=image.Dither.NONE)
        return png_file(np.asarray(numbers), bytes(self._palette.getpalette() or ()))

    def svg(self, cells: Sequence[str | None], blocked: Sequence[bool]) -> str:
        """Return the same picture as SVG."""
        return self._svg.draw(cells, blocked)

    def _sprite(self, name: str, has_halo: bool) -> tuple[Image, tuple[int, int]]:
        found = self._sprites.get((name, has_halo))
        if found is None:
            if len(self._sprites) >= MOST_SPRITES:
                del self._sprites[next(iter(self._sprites))]
            found = self._sprites[name, has_halo] = standing(self._looks[name], has_halo)
        return found

    @cached_property
    def _empty(self) -> Image:
        return draw_empty(self._canvas)

    @cached_property
    def _palette(self) -> Image | None:
        return palette_for(self._looks)

    @cached_property
    def _svg(self) -> GridSvg:
        return GridSvg(self._looks, self._canvas)


def standing(look: Look, has_halo: bool) -> tuple[Image, tuple[int, int]]:
    """Return an item, before some backs with a light rim around it, and where its top left corner is in a cell."""
    image: Any = needed("PIL.Image", "draw", PICTURES)
    filters: Any = needed("PIL.ImageFilter", "draw", PICTURES)
    square = item_square(look)
    box = square.grown(HALO_WIDTH).inside(CELL)
    item: Image = image.new("RGBA", (box.width, box.height))
    item.paste(item_sprite(look, square.width), (square.left - box.left, square.top - box.top))
    if has_halo:
        rim = image.new("RGBA", item.size, HALO)
        rim.putalpha(item.getchannel("A").filter(filters.MaxFilter(2 * HALO_WIDTH + 1)))
        item = image.alpha_composite(rim, item)
    return item, (box.left, box.top)


def draw_empty(canvas: Canvas) -> Image:
    """Return the picture of a shelf of open, empty cells, with labels, the room and the director behind it."""
    image: Any = needed("PIL.Image", "draw", PICTURES)
    room: Image = image.new("RGB", canvas.size, ROOM)
    box = canvas.figure
    if box is not None:
        for drawing, paint in director_figure():
            part = sprite(drawing, paint, box.width)
            room.paste(part, (box.left, box.top), part)
    made = room.copy()
    for board, color in boards(canvas):
        made.paste(color, board.sides)
    for number in range(canvas.style.width * canvas.style.height):
        made.paste(empty_cell(Back.OPEN), canvas.corner(number))
        seen = canvas.back(number).sides
        made.paste(room.crop(seen), seen)
    _draw_labels(made, canvas)
    return made


@cache
def empty_cell(back: Back) -> Image:
    """Return the picture of a cell without an item."""
    image: Any = needed("PIL.Image", "draw", PICTURES)
    draw: Any = needed("PIL.ImageDraw", "draw", PICTURES)
    made: Image = image.new("RGB", (CELL * FINER, CELL * FINER))
    pen = draw.Draw(made)
    for points, color in cell_surfaces(back):
        pen.polygon([(x * FINER - 0.5, y * FINER - 0.5) for x, y in points], fill=color)  # pixel 0 begins at -0.5
    return made.reduce(FINER)


def _draw_labels(picture: Image, canvas: Canvas) -> None:
    draw: Any = needed("PIL.ImageDraw", "draw", PICTURES)
    fonts: Any = needed("PIL.ImageFont", "draw", PICTURES)
    pen, font = draw.Draw(picture), fonts.load_default(FONT_SIZE)
    for label in canvas.labels():
        left, top, right, bottom = pen.textbbox((0, 0), label.text, font=font)
        place = round(label.x - (left + right) / 2), round(label.y - (top + bottom) / 2)
        pen.text(place, label.text, fill=INK, font=font)


def palette_for(looks: Mapping[str, Look]) -> Image | None:
    """Return a palette for all pictures of a catalogue, which makes them small and quick to write.

    None, for true color, if an item has a picture of the user's own, or if there are very many paints. It follows from
    the looks alone, so that each picture of a catalogue is stored alike.
    """
    if any(look.picture is not None for look in looks.values()):
        return None
    return _palette_of(tuple(dict.fromkeys(look.paint for look in looks.values())))


@lru_cache(maxsize=4)
def _palette_of(paints: tuple[str, ...]) -> Image | None:
    """Return surfaces and paints as they are, and those colors between them that serve most blends at edges."""
    image: Any = needed("PIL.Image", "draw", PICTURES)
    painted = [tuple(colors_of(paint).values()) for paint in dict.fromkeys((*paints, *(paint for paint, _ in LAYERS)))]
    flat = _rgb(dict.fromkeys((*SURFACES, *(color for colors in painted for color in colors))))
    if len(flat) > MOST_FLAT:
        return None
    shares = np.arange(1, STEPS)[:, np.newaxis] / STEPS
    pairs = [pair for colors in painted for pair in combinations(_rgb((*colors, ROOM, WALL, HALO)), 2)]
    blends = np.concatenate([one * (1 - shares) + two * shares for one, two in pairs]).astype(np.uint8)
    apart = np.min([np.abs(blends - color).sum(axis=1) for color in flat], axis=0)
    others = image.fromarray(blends[np.newaxis, apart > TOO_NEAR]).quantize(MOST_COLORS - len(flat))
    made: Image = image.new("P", (1, 1))
    made.putpalette(bytes(flat.astype(np.uint8).ravel()) + bytes(others.getpalette()))
    return made


def _rgb(colors: Any) -> Any:
    """Return the channels of colors such as `#ff8000`."""
    return np.array([list(bytes.fromhex(color[1:])) for color in colors], dtype=float)
