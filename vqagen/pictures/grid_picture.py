"""Pictures of grids: a shelf with items, labels and, if wished, the director, as PNG or SVG.

Both show the cells that `shown_cells` lists, each as a symbol for its back and one for its item. Pillow pastes symbols
that are painted when first needed; SVG defines each once, and uses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from vqagen.errors import BadInput, Problem
from vqagen.pictures.canvas import (
    BACKS,
    CELL,
    FIGURE,
    FONT_SIZE,
    HALO,
    HALO_WIDTH,
    HALOED,
    INK,
    LAYERS,
    OPEN,
    ROOM,
    SURFACES,
    WALL,
    GridStyle,
    Rectangle,
    Surface,
    boards,
    cell_surfaces,
    director_figure,
    shown_cells,
)
from vqagen.pictures.png import png_file
from vqagen.pictures.sprites import (
    Look,
    colors_of,
    item_sprite,
    item_square,
    item_svg,
    picture_sprite,
    pillow,
    sprite,
    svg_of,
)

if TYPE_CHECKING:
    from PIL.Image import Image

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
Sprites = dict[tuple[str, bool], "tuple[Image, tuple[int, int]]"]
"""Item and whether it has a halo -> its picture, and where this stands in a cell."""


class GridPainter:
    """Draws grids of one style."""

    def __init__(self, looks: Mapping[str, Look], style: GridStyle, sprites: Sprites | None = None) -> None:
        """Take the looks of all items. Raise BadInput with every picture of the user's that cannot be read.

        `sprites` are those of a painter of the same items for another view, which are shared.
        """
        if sprites is None:
            _raise_unreadable(looks)
        self.looks, self._style = looks, style
        self.sprites: Sprites = {} if sprites is None else sprites

    def png(self, cells: Sequence[str | None], blocked: Sequence[bool]) -> bytes:
        """Return the picture of a grid whose cells are given row by row as the participant sees them."""
        picture = self._empty.copy()
        for number, (name, back) in enumerate(shown_cells(self._style, cells, blocked)):
            left, top = self._style.corner(number)
            if back not in (OPEN, FIGURE):
                picture.paste(empty_cell(back), (left, top))
            if name is not None:
                item, (x, y) = self._sprite(name, back in HALOED)
                picture.paste(item, (left + x, top + y), item)
        if self._palette is None:
            return png_file(np.asarray(picture))
        numbers = picture.quantize(palette=self._palette, dither=pillow("Image").Dither.NONE)
        return png_file(np.asarray(numbers), bytes(self._palette.getpalette() or ()))

    def svg(self, cells: Sequence[str | None], blocked: Sequence[bool]) -> str:
        """Return the same picture as SVG."""
        shown = list(shown_cells(self._style, cells, blocked))
        names = list(dict.fromkeys(name for name, _ in shown if name))
        symbols = [f'<g id="item{number}">{self._symbol(name)}</g>' for number, name in enumerate(names, 1)]
        placed = []
        for number, (name, back) in enumerate(shown):
            left, top = self._style.corner(number)
            cell = f'<use href="#{back}" x="{left}" y="{top}"/>'
            cell += _seen_through(self._style.back(number)) if back == FIGURE else ""
            halo = ' filter="url(#halo)"' if back in HALOED else ""
            item = f'<use href="#item{names.index(name) + 1}" x="{left}" y="{top}"{halo}/>' if name else ""
            placed.append(cell + item)
        before, around = self._frame
        return "\n".join([*before, *symbols, "</defs>", *around, *placed, "</svg>", ""])

    def _sprite(self, name: str, has_halo: bool) -> tuple[Image, tuple[int, int]]:
        key = name, has_halo
        if key not in self.sprites:
            if len(self.sprites) >= MOST_SPRITES:
                del self.sprites[next(iter(self.sprites))]
            self.sprites[key] = standing(self.looks[name], has_halo)
        return self.sprites[key]

    @cached_property
    def _empty(self) -> Image:
        return draw_empty(self._style)

    @cached_property
    def _palette(self) -> Image | None:
        return palette_for(self.looks)

    @cached_property
    def _symbols(self) -> dict[str, str]:
        return {}

    def _symbol(self, name: str) -> str:
        if name not in self._symbols:
            square = item_square(self.looks[name])
            self._symbols[name] = item_svg(self.looks[name], square.left, square.top, square.width)
        return self._symbols[name]

    @cached_property
    def _frame(self) -> tuple[Sequence[str], Sequence[str]]:
        """The SVG before the symbols of items, and that before the cells."""
        (width, height), box = self._style.size, self._style.figure_square
        size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        backs = [f'<g id="{back}">{_polygons(cell_surfaces(back))}</g>' for back in BACKS]
        parts = [svg_of(*part, box.left, box.top, box.width) for part in director_figure()] if box else []
        figure = [f'<g id="director">{"".join(parts)}</g>'] if box else []
        before = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', "<defs>", _HALO, *backs, *figure]
        around = [
            f'<rect width="{width}" height="{height}" fill="{ROOM}"/>',
            *['<use href="#director"/>'][: len(figure)],
        ]
        shelf = _polygons((board.corners, color) for board, color in boards(self._style))
        look = f'font-family="sans-serif" font-size="{FONT_SIZE}" text-anchor="middle" fill="{INK}"'
        labels = (f'<text x="{x:g}" y="{y:g}" dy="0.35em">{text}</text>' for text, x, y in self._style.labels())
        return before, [*around, shelf, f"<g {look}>{''.join(labels)}</g>"]


def _raise_unreadable(looks: Mapping[str, Look]) -> None:
    problems: list[Problem] = []
    for look in looks.values():
        try:
            _ = look.picture and picture_sprite(look.picture, 1)
        except BadInput as error:
            problems += error.problems
    if problems:
        raise BadInput(problems)


# SVG -----------------------------------------------------------------------------------------------------------------

_HALO = (
    '<filter id="halo" x="-0.1" y="-0.1" width="1.2" height="1.2">'
    f'<feMorphology in="SourceAlpha" operator="dilate" radius="{HALO_WIDTH}" result="rim"/>'
    f'<feFlood flood-color="{HALO}"/><feComposite in2="rim" operator="in"/>'
    '<feMerge><feMergeNode/><feMergeNode in="SourceGraphic"/></feMerge></filter>'
)


def _seen_through(seen: Rectangle) -> str:
    """Return the part of the director that an open cell shows. An inner `svg` shows nothing outside of itself."""
    place = f'x="{seen.left}" y="{seen.top}" width="{seen.width}" height="{seen.height}"'
    sides = f"{seen.left} {seen.top} {seen.width} {seen.height}"
    return f'<svg {place} viewBox="{sides}"><use href="#director"/></svg>'


def _polygons(surfaces: Iterable[Surface]) -> str:
    texts = ((" ".join(f"{x},{y}" for x, y in points), color) for points, color in surfaces)
    return "".join(f'<polygon points="{text}" fill="{color}"/>' for text, color in texts)


# Pixels --------------------------------------------------------------------------------------------------------------


def standing(look: Look, has_halo: bool) -> tuple[Image, tuple[int, int]]:
    """Return an item, before some backs with a light rim around it, and where its top left corner is in a cell."""
    image = pillow("Image")
    square = item_square(look)
    item: Image = image.new("RGBA", (CELL, CELL))
    item.paste(item_sprite(look, square.width), (square.left, square.top))
    if has_halo:
        rim = image.new("RGBA", item.size, HALO)
        rim.putalpha(item.getchannel("A").filter(pillow("ImageFilter").MaxFilter(2 * HALO_WIDTH + 1)))
        item = image.alpha_composite(rim, item)
    box = item.getbbox() or (0, 0, 1, 1)
    return item.crop(box), box[:2]


def draw_empty(style: GridStyle) -> Image:
    """Return the picture of a shelf of open, empty cells, with labels, the room and the director behind it."""
    room: Image = pillow("Image").new("RGB", style.size, ROOM)
    box = style.figure_square
    for drawing, paint in director_figure() if box else ():
        assert box is not None
        part = sprite(drawing, paint, box.width)
        room.paste(part, (box.left, box.top), part)
    made = room.copy()
    for board, color in boards(style):
        made.paste(color, board)
    for number in range(style.width * style.height):
        made.paste(empty_cell(OPEN), style.corner(number))
        seen = style.back(number)
        made.paste(room.crop(seen), seen)
    pen, font = pillow("ImageDraw").Draw(made), pillow("ImageFont").load_default(FONT_SIZE)
    for text, x, y in style.labels():
        left, top, right, bottom = pen.textbbox((0, 0), text, font=font)
        pen.text((round(x - (left + right) / 2), round(y - (top + bottom) / 2)), text, fill=INK, font=font)
    return made


@cache
def empty_cell(back: str) -> Image:
    """Return the picture of a cell without an item."""
    made: Image = pillow("Image").new("RGB", (CELL * FINER, CELL * FINER))
    pen = pillow("ImageDraw").Draw(made)
    for points, color in cell_surfaces(back):
        pen.polygon([(x * FINER - 0.5, y * FINER - 0.5) for x, y in points], fill=color)  # pixel 0 begins at -0.5
    return made.reduce(FINER)


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
    image = pillow("Image")
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
