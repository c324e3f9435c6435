"""Pictures of items for their author as SVG: one item alone, or a contact sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import cycle
from operator import attrgetter

from vqagen.errors import UsageError, unknown
from vqagen.pictures.sprites import Look, item_svg
from vqagen.tasks.director.catalogue import GridItem, ItemCatalogue
from vqagen.tasks.director.catalogue_words import name_drawn_item, named, spell_out
from vqagen.tasks.director.pictures import looks_of

SIDE = 120
"""Pixels of the side of the largest items."""
_COLUMNS = 8
_MARGIN = 10
_LETTERS = 14
_LINE = 22
"""Pixels of the line below an item that names it."""
_INK, _PAPER, _TILE = "#2a2a30", "#ffffff", "#eef1f4"

Tile = tuple[GridItem, str]
"""An item, and the words below it."""


def sheet_svg(catalogue: ItemCatalogue, names: Sequence[str] = ()) -> str:
    """Return a sheet of some entries as SVG.

    Without names it has each kind once and each own item. A named kind is shown in each size (a row) and color. The
    name of one item, such as `red_apple_3`, gives this item alone, with nothing behind it.
    """
    tiles = [tile for name in names for tile in _tiles_of(catalogue, name)] if names else [*_overview(catalogue)]
    looks = looks_of(catalogue)
    if [item.name for item, _ in tiles] == [*names] and len(names) == 1:
        return _document(SIDE, SIDE, _centered(looks[names[0]], 0, 0))
    most = len(catalogue.paints) if names and catalogue.paints else _COLUMNS
    width = min(most, max(len(tiles), 1)) * (SIDE + _MARGIN) + _MARGIN
    height = -(-len(tiles) // most) * (SIDE + _LINE + _MARGIN) + _MARGIN
    pieces = [f'<rect width="{width}" height="{height}" fill="{_PAPER}"/>']
    for number, (item, label) in enumerate(tiles):
        row, column = divmod(number, most)
        x, y = _MARGIN + column * (SIDE + _MARGIN), _MARGIN + row * (SIDE + _LINE + _MARGIN)
        pieces.append(f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" rx="8" fill="{_TILE}"/>')
        pieces.append(_centered(looks[item.name], x, y))
        place = f'x="{x + SIDE / 2:g}" y="{y + SIDE + _LINE / 2 + 5:g}"'
        letters = max(min(_LETTERS, int(SIDE / (0.55 * len(label)))), 7)
        pieces.append(f'<text {place} font-size="{letters}" fill="{_INK}">{escape(label)}</text>')
    return _document(width, height, *pieces)


def _overview(catalogue: ItemCatalogue) -> Iterator[Tile]:
    """Yield the largest item of each kind, in colors that change from kind to kind, and each own item."""
    for kind, color in zip(named(catalogue.record["kinds"]), cycle(catalogue.paints), strict=False):
        yield catalogue.by_name[name_drawn_item(color, kind, len(catalogue.sizes))], spell_out(kind)
    yield from ((catalogue.by_name[name], spell_out(name)) for name in named(catalogue.record.get("items", {})))


def _tiles_of(catalogue: ItemCatalogue, name: str) -> list[Tile]:
    """Return the drawn items of a kind, by size and then by color, or one item."""
    kinds = named(catalogue.record["kinds"])
    if name not in kinds:
        if name not in catalogue.by_name:
            raise UsageError(unknown("kind or item", name, [*kinds, *named(catalogue.record.get("items", {}))]))
        return [(catalogue.by_name[name], spell_out(name))]
    drawn = (item for item in catalogue.items if item.kind == name and not item.picture)
    items = sorted(drawn, key=attrgetter("size"))
    colors = [next(color for color in catalogue.paints if color in item.properties) for item in items]
    words = catalogue.spoken(name)
    return [(item, f"{color} {words} {item.size}") for item, color in zip(items, colors, strict=True)]


def _document(width: int, height: int, *pieces: str) -> str:
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" text-anchor="middle">'
    return "".join((head, *pieces, "</svg>\n"))


def _centered(look: Look, x: float, y: float) -> str:
    """Return one item, centered in a square whose upper left corner is at (x, y)."""
    inner = SIDE * look.scale
    return item_svg(look, x + (SIDE - inner) / 2, y + (SIDE - inner) / 2, inner, finer=1)
