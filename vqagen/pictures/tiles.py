"""Tiles: the pixels of a cell with its item, made when they are first needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from vqagen.errors import BadInput, Problem
from vqagen.extras import needed
from vqagen.pictures.canvas import BACK, CELL, HALO_WIDTH, ITEM_BOTTOM, ITEM_SIDE, PixelBox
from vqagen.pictures.drawing import Drawing, box_of
from vqagen.pictures.looks import Look
from vqagen.pictures.palette import Colors
from vqagen.pictures.plates import Plate, make_plate
from vqagen.pictures.shelf import HALO, HALOED, Back, Surface, cell_surfaces
from vqagen.pictures.sprites import EDGE, picture_sprite, sprite

if TYPE_CHECKING:
    from PIL.Image import Image

PICTURES = "a picture of a grid"
FINER = 4
"""Surfaces are rastered so many times finer than they are shown."""
MOST_BYTES = 64 * 2**20
"""All tiles that are kept: 4,600."""


class Tiles:
    """Tiles of one way to store colors. The oldest are forgotten when there are very many."""

    def __init__(self, looks: Mapping[str, Look], colors: Colors) -> None:
        self._looks, self.colors = looks, colors
        self._most = MOST_BYTES // (CELL**2 * colors.channels)
        self._made: dict[tuple[str | None, Back], Any] = {}
        self._plates: dict[tuple[Drawing, int, Back], Plate] = {}

    def tile(self, name: str | None, back: Back) -> Any:
        """Return rows of stored bytes of a cell with an item, or with none."""
        found = self._made.get((name, back))
        if found is None:
            made = self._empty_tile(back) if name is None else self._tile(self._looks[name], back)
            if len(self._made) >= self._most:
                del self._made[next(iter(self._made))]
            found = self._made[name, back] = made
        return found

    def seen_through(self, part: Image) -> Any:
        """Return the tile of an empty open cell with what is seen of the room in its back."""
        cell = _empty_cell(Back.FIGURE).copy()
        cell.paste(part, (BACK.left, BACK.top))
        return np.ascontiguousarray(self.colors.encode(np.asarray(cell)))

    def before(self, behind: Any, name: str | None) -> Any:
        """Return the tile of an item, or of none, before an open cell's tile in which the director's figure stands.

        The figure shows where neither a cell before the room nor one before a grey back shows the item or its halo.
        """
        if name is None:
            return behind
        shown = self.tile(name, Back.FIGURE)
        is_bare = (shown == self.tile(None, Back.FIGURE)) & (
            self.tile(name, Back.BLOCKED) == self.tile(None, Back.BLOCKED)
        )
        channels = self.colors.channels
        if channels > 1:
            is_bare = is_bare.reshape(CELL, CELL, channels).all(axis=2).repeat(channels, axis=1)
        return np.where(is_bare, behind, shown)

    def _empty_tile(self, back: Back) -> Any:
        return np.ascontiguousarray(self.colors.encode(np.asarray(_empty_cell(back))))

    def _tile(self, look: Look, back: Back) -> Any:
        """Return the tile of an item: an empty one with new pixels where the item stands."""
        made, channels = self.tile(None, back).copy(), self.colors.channels
        box = _item_box(look)
        columns = slice(box.left * channels, box.right * channels)
        if look.drawing is None:
            pixels = self.colors.encode(np.asarray(_draw_item(look, back)))
        else:
            pixels = self._plate(look.drawing, look, back).print(look.paint, self.colors)
        made[box.top : box.bottom, columns] = pixels
        return made

    def _plate(self, drawing: Drawing, look: Look, back: Back) -> Plate:
        square = item_square(look)
        key = drawing, square.width, back
        plate = self._plates.get(key)
        if plate is None:
            if len(self._plates) >= self._most:
                del self._plates[next(iter(self._plates))]
            box, behind = _item_box(look), _draw_behind(look, back)
            place = square.left - box.left, square.top - box.top
            plate = self._plates[key] = make_plate(drawing, square.width, place, behind)
        return plate


def _item_box(look: Look) -> PixelBox:
    """Return the box around an item and its halo."""
    return item_square(look).grown(HALO_WIDTH).inside(CELL)


def _draw_item(look: Look, back: Back) -> Image:
    """Return the picture of an item's box in a cell."""
    part, item = _draw_behind(look, back), _standing(look)
    part.paste(item, mask=item)
    return part


def _draw_behind(look: Look, back: Back) -> Image:
    """Return the picture of an item's box without the item: the cell, and before some backs the item's halo."""
    box = _item_box(look)
    part: Image = _empty_cell(back).crop((box.left, box.top, box.right, box.bottom))
    if back in HALOED:
        part.paste(HALO, mask=_halo(_standing(look), HALO_WIDTH))
    return part


def _standing(look: Look) -> Image:
    """Return the item on a transparent background as large as its box."""
    image: Any = needed("PIL.Image", "draw", PICTURES)
    square, box = item_square(look), _item_box(look)
    item: Image = image.new("RGBA", (box.width, box.height), (0, 0, 0, 0))
    item.paste(item_sprite(look, square.width), (square.left - box.left, square.top - box.top))
    return item


@cache
def _empty_cell(back: Back) -> Image:
    image: Any = needed("PIL.Image", "draw", PICTURES)
    made: Image = image.new("RGB", (CELL, CELL))
    paint_surfaces(made, cell_surfaces(back))
    return made


def paint_surfaces(picture: Image, surfaces: Iterable[Surface]) -> None:
    """Paint surfaces over a picture, slanted edges smoothly."""
    for surface in surfaces:
        box = surface.box
        if box.corners == surface.points:
            picture.paste(surface.color, (box.left, box.top, box.right, box.bottom))
        else:
            picture.paste(surface.color, (box.left, box.top), _slope(surface, box))


def _slope(surface: Surface, box: PixelBox) -> Image:
    """Return how much of each pixel of a box the surface covers. Its corners are given clockwise."""
    image: Any = needed("PIL.Image", "draw", PICTURES)
    x = box.left + (np.arange(box.width * FINER) + 0.5) / FINER
    y = (box.top + (np.arange(box.height * FINER) + 0.5) / FINER)[:, np.newaxis]
    inside = np.ones((box.height * FINER, box.width * FINER), bool)
    for (x1, y1), (x2, y2) in zip(surface.points, (*surface.points[1:], surface.points[0]), strict=True):
        inside &= (x2 - x1) * (y - y1) >= (y2 - y1) * (x - x1)
    shares = inside.reshape(box.height, FINER, box.width, FINER).mean(axis=(1, 3))
    made: Image = image.fromarray((shares * 255).round().astype(np.uint8), "L")
    return made


def _halo(item: Image, width: int) -> Image:
    """Return the item's opacity, spread by some pixels in each direction."""
    image: Any = needed("PIL.Image", "draw", PICTURES)
    opacity = np.pad(np.asarray(item.getchannel("A")), width)
    for _ in range(width):
        opacity = np.max([opacity[:-2], opacity[1:-1], opacity[2:]], axis=0)
        opacity = np.max([opacity[:, :-2], opacity[:, 1:-1], opacity[:, 2:]], axis=0)
    made: Image = image.fromarray(opacity, "L")
    return made


def item_sprite(look: Look, side: int) -> Image:
    """Return the item as an RGBA square."""
    if look.picture is not None:
        return picture_sprite(look.picture, side)
    assert look.drawing is not None, look.name
    return sprite(look.drawing, look.paint, side)


def raise_unreadable(looks: Mapping[str, Look]) -> None:
    """Raise BadInput with every picture of the user's that cannot be read."""
    problems: list[Problem] = []
    for look in looks.values():
        if look.picture is not None:
            try:
                picture_sprite(look.picture, 1)
            except BadInput as error:
                problems += error.problems
    if problems:
        raise BadInput(problems)


def item_square(look: Look) -> PixelBox:
    """Return the square in a cell that holds an item which stands on the floor, in the middle."""
    side = max(1, round(ITEM_SIDE * look.scale))
    middle, bottom = _footing(look, side)
    left, top = round(CELL / 2 - middle * side), round(ITEM_BOTTOM - bottom * side)
    return PixelBox(left, top, left + side, top + side)


def _footing(look: Look, side: int) -> tuple[float, float]:
    """Return the middle and the lowest point of an item, as shares of its square."""
    if look.drawing is None:
        left, _, right, bottom = item_sprite(look, side).getbbox() or (0, 0, side, side)
        return (left + right) / 2 / side, bottom / side
    box = _box_of(look.drawing)
    return EDGE / 2 + box.middle[0] * (1 - EDGE), box.bottom * (1 - EDGE) + EDGE


_box_of = lru_cache(maxsize=1024)(box_of)
