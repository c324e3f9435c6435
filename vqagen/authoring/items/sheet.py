"""Pictures of items for their author: one item alone, or a contact sheet, as PNG or SVG."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vqagen.art.looks import Look
from vqagen.art.sprites import picture_sprite, sprite, svg_of
from vqagen.authoring.items.entries import find_entry, things
from vqagen.errors import UsageError
from vqagen.extras import needed
from vqagen.tasks.director.catalogue import GridItem, ItemCatalogue
from vqagen.tasks.director.catalogue_words import name_drawn_item, spell_out
from vqagen.tasks.director.looks import looks_of

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE, LARGEST_SIDE = 120, 1024
"""Pixels of the side of the largest items: by default, and at most."""
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


# PNG ----------------------------------------------------------------------------------------------------------------


def sheet_png(sheet: Sheet) -> bytes:
    """Return a sheet as PNG."""
    image: Any = needed("PIL.Image", "draw", "a preview")
    made = io.BytesIO()
    canvas = image.new("RGBA", sheet.size, (0, 0, 0, 0) if sheet.is_single else _PAPER)
    draw: Any = needed("PIL.ImageDraw", "draw", "a preview").Draw(canvas)
    for number, tile in enumerate(sheet.tiles):
        x, y = sheet.place(number)
        if not sheet.is_single:
            draw.rounded_rectangle((x, y, x + sheet.side - 1, y + sheet.side - 1), 8, fill=_TILE)
            middle = (x + sheet.side / 2, y + sheet.side + _LINE / 2)
            draw.text(middle, tile.label, _INK, _font(_letters(tile.label, sheet.side)), anchor="mm")
        drawn = _sprite(sheet.looks[tile.item.name], sheet.side)
        place = (x + (sheet.side - drawn.width) // 2, y + (sheet.side - drawn.height) // 2)
        canvas.alpha_composite(drawn, place)
    canvas.save(made, "PNG", optimize=True)
    return made.getvalue()


def _sprite(look: Look, side: int) -> Image:
    pixels = max(round(side * look.scale), 1)
    if look.drawing is not None:
        return sprite(look.drawing, look.paint, pixels)
    assert look.picture is not None
    return picture_sprite(look.picture, pixels)


def _letters(label: str, side: int) -> int:
    """Return the size of letters with which a label is not wider than its tile."""
    return max(min(_LETTERS, int(side / (0.55 * max(len(label), 1)))), 7)


@lru_cache(maxsize=16)
def _font(size: int) -> Any:
    return needed("PIL.ImageFont", "draw", "a preview").load_default(size)


# SVG ----------------------------------------------------------------------------------------------------------------


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
            letters = _letters(tile.label, sheet.side)
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


FORMATS: Mapping[str, Any] = {".png": sheet_png, ".svg": lambda sheet: sheet_svg(sheet).encode()}
"""Suffix -> the function that returns a sheet's bytes."""


def sheet_bytes(sheet: Sheet, target: str) -> bytes:
    """Return a sheet in the format that the name of its file says."""
    suffix = Path(target).suffix.lower()
    if suffix not in FORMATS:
        raise UsageError(f"cannot tell the format of {target}; end its name in .png or .svg")
    made: bytes = FORMATS[suffix](sheet)
    return made
