"""Looks: how an item is drawn and described, and where it stands in its cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from vqagen.errors import BadInput, Problem
from vqagen.pictures.canvas import CELL, ITEM_BOTTOM, ITEM_SIDE, PixelBox
from vqagen.pictures.drawing import Drawing, box_of
from vqagen.pictures.sprites import EDGE, picture_sprite, sprite

if TYPE_CHECKING:
    from PIL.Image import Image


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


def item_sprite(look: Look, side: int) -> Image:
    """Return the item as an RGBA square."""
    if look.picture is not None:
        return picture_sprite(look.picture, side)
    assert look.drawing is not None, look.name
    return sprite(look.drawing, look.paint, side)


def item_square(look: Look) -> PixelBox:
    """Return the square in a cell that holds an item which stands on the floor, in the middle."""
    side = max(1, round(ITEM_SIDE * look.scale))
    if look.drawing is None:
        left, _, right, bottom = item_sprite(look, side).getbbox() or (0, 0, side, side)
        middle, lowest = (left + right) / 2, float(bottom)
    else:
        box = _box_of(look.drawing)
        middle = side * (EDGE / 2 + box.middle[0] * (1 - EDGE))
        lowest = side * (box.bottom * (1 - EDGE) + EDGE)
    left, top = round(CELL / 2 - middle), round(ITEM_BOTTOM - lowest)
    return PixelBox(left, top, left + side, top + side)


_box_of = lru_cache(maxsize=1024)(box_of)


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
