"""Pictures of items for their author as SVG: one item alone, or a contact sheet."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

from vqagen.authoring.items.edits import find_entry, things
from vqagen.errors import UsageError
from vqagen.pictures.looks import Look
from vqagen.pictures.sprites import picture_sprite, svg_of
from vqagen.tasks.director.catalogue import GridItem, ItemCatalogue
from vqagen.tasks.director.catalogue_words import name_drawn_item, spell_out
from vqagen.tasks.director.pictures import looks_of

if TYPE_CHECKING:
    pass

SIDE = 120
"""Pixels of the side of the largest items."""
_COLUMNS = 8
_MARGIN = 10
_LETTERS = 14
_LINE = 22
_INK, _PAPER, _TILE = "#2a2a30", "#ffffff", "#eef1f4"


@dataclass(frozen=True)
class Tile:
    """One item on a sheet, with the words below it."""

    item: GridItem
    label: str


@dataclass(frozen=True)
class Sheet:
    """Items in rows. One item without a label has no margin, and nothing behind it."""

    catalogue: ItemCatalogue
    tiles: tuple[Tile, ...]
    columns: int = _COLUMNS
    side: int = SIDE

    @property
    def is_single(self) -> bool:
        """True if it is one item without a label."""
        return len(self.tiles) == 1 and not self.tiles[0].label

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        if self.is_single:
            return self.side, self.side
        columns = min(self.columns, max(len(self.tiles), 1))
        rows = -(-len(self.tiles) // self.columns)
        return columns * (self.side + _MARGIN) + _MARGIN, rows * (self.side + self.line + _MARGIN) + _MARGIN

    @property
    def line(self) -> int:
        """Pixels of the line below an item that names it."""
        return _LINE if any(tile.label for tile in self.tiles) else 0

    def place(self, number: int) -> tuple[int, int]:
        """Return the top left corner of the tile of this number."""
        if self.is_single:
            return 0, 0
        row, column = divmod(number, self.columns)
        return _MARGIN + column * (self.side + _MARGIN), _MARGIN + row * (self.side + self.line + _MARGIN)

    @cached_property
    def looks(self) -> Mapping[str, Look]:
        """How each item is drawn."""
        return looks_of(self.catalogue)


def without_labels(sheet: Sheet) -> Sheet:
    """Return a sheet without words."""
    return replace(sheet, tiles=tuple(Tile(tile.item, "") for tile in sheet.tiles))


def make_sheet(catalogue: ItemCatalogue, names: Sequence[str] = (), side: int = SIDE) -> Sheet:
    """Return the sheet of some entries.

    Without names it has each kind once, in changing colors, and each own item. A named kind is shown in each size (a
    row) and color. The name of an item, such as `red_apple_3`, gives this item alone.
    """
    if not names:
        return Sheet(catalogue, tuple(_overview(catalogue)), _COLUMNS, side)
    by_name = {item.name: item for item in catalogue.items}
    kinds = catalogue.record["kinds"]
    tiles: list[Tile] = []
    for name in names:
        if name in kinds:
            tiles += _variants(catalogue, name)
        elif name in by_name:
            tiles.append(Tile(by_name[name], "" if len(names) == 1 else spell_out(name)))
        else:
            entry = find_entry(catalogue.record, name)  # or the nearest name is reported
            raise UsageError(f"the {entry.sort} {name!r} has no picture; name kinds or items")
    return Sheet(catalogue, tuple(tiles), len(catalogue.paints) or _COLUMNS, side)


def _overview(catalogue: ItemCatalogue) -> list[Tile]:
    by_name = {item.name: item for item in catalogue.items}
    colors = list(catalogue.paints)
    tiles = []
    for number, entry in enumerate(things(catalogue.record).values()):
        name = entry.name
        if name not in by_name:
            name = name_drawn_item(colors[number % len(colors)], name, len(catalogue.sizes))
        tiles.append(Tile(by_name[name], spell_out(entry.name)))
    return tiles


def _variants(catalogue: ItemCatalogue, kind: str) -> list[Tile]:
    """Return the drawn items of a kind: by size, then by color."""
    items = [item for item in catalogue.items if item.kind == kind and not item.picture]
    words = catalogue.spoken(kind)
    ordered = sorted(items, key=lambda item: item.size)
    return [Tile(item, f"{_color_of(catalogue, item)} {words} {item.size}") for item in ordered]


def _color_of(catalogue: ItemCatalogue, item: GridItem) -> str:
    return next((color for color in catalogue.paints if color in item.properties), "")


def sheet_svg(sheet: Sheet) -> str:
    """Return a sheet as SVG."""
    width, height = sheet.size
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' font-family="sans-serif" text-anchor="middle">'
    ]
    if not sheet.is_single:
        pieces.append(f'<rect width="{width}" height="{height}" fill="{_PAPER}"/>')
    for number, tile in enumerate(sheet.tiles):
        x, y = sheet.place(number)
        if not sheet.is_single:
            pieces.append(f'<rect x="{x}" y="{y}" width="{sheet.side}" height="{sheet.side}" rx="8" fill="{_TILE}"/>')
        pieces.append(item_svg(sheet, tile.item, x, y, sheet.side))
        if not sheet.is_single:
            middle, line = x + sheet.side / 2, y + sheet.side + _LINE / 2 + 5
            letters = max(min(_LETTERS, int(sheet.side / (0.55 * max(len(tile.label), 1)))), 7)
            label = escape(tile.label)
            pieces.append(f'<text x="{middle:g}" y="{line:g}" font-size="{letters}" fill="{_INK}">{label}</text>')
    return "".join([*pieces, "</svg>\n"])


def item_svg(sheet: Sheet, item: GridItem, x: float, y: float, side: float) -> str:
    """Return one item, centered in a square."""
    look = sheet.looks[item.name]
    inner = side * look.scale
    left, top = x + (side - inner) / 2, y + (side - inner) / 2
    if look.drawing is not None:
        return svg_of(look.drawing, look.paint, left, top, inner)
    assert look.picture is not None
    image = io.BytesIO()
    picture_sprite(look.picture, max(round(inner), 1)).save(image, "PNG")
    data = base64.b64encode(image.getvalue()).decode()
    return f'<image x="{left:g}" y="{top:g}" width="{inner:g}" height="{inner:g}" href="data:image/png;base64,{data}"/>'
