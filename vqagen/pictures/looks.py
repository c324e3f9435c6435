"""Looks: how an item is drawn and described."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vqagen.pictures.drawing import Drawing


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
