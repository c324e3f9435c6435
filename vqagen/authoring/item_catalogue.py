"""A catalogue of the director task as its author needs it: copied to be changed, checked, and shown as SVG.

Errors are mistakes that make other commands fail. Warnings are accepted but probably unintended.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import cycle
from operator import attrgetter
from pathlib import Path
from typing import Any

from vqagen.authoring.check.check_report import CheckReport
from vqagen.authoring.check.recognition import DIRECTOR
from vqagen.errors import BadInput, Fault, UsageError, unknown
from vqagen.files.locations import shipped
from vqagen.files.output import atomic_output, check_output, linked
from vqagen.files.parsing import laid_out, read_text
from vqagen.files.schema import problem_in
from vqagen.pictures.sprites import Look, item_svg, picture_sprite
from vqagen.tasks.director.catalogue import (
    COMMENT,
    SHIPPED_CATALOGUE,
    GridItem,
    ItemCatalogue,
    load_catalogue_file,
    name_drawn_item,
    named,
    spell_out,
)
from vqagen.tasks.director.pictures import looks_of


def copy_catalogue(target: str, source: Path | str | None = None, force: bool = False) -> Path:
    """Write a copy of a catalogue, by default of the shipped one. Pictures keep their places by the path to them."""
    given, path = load_catalogue_file(source), Path(target)
    check_output(target, force, [source] if source else [])
    with atomic_output(target) as file:
        file.write(laid_out(_moved(given.record, given.folder, path.parent)).encode())
    return path


def _moved(document: Mapping[str, Any], old: Path, new: Path) -> dict[str, Any]:
    """Return a document whose pictures are found from another folder, and which names no schema beside it."""
    moved = {key: value for key, value in document.items() if key != "$schema"}
    if items := moved.get("items"):
        moved["items"] = {name: items[name] if name == COMMENT else _repointed(items[name], old, new) for name in items}
    return moved


def _repointed(entry: Mapping[str, Any], old: Path, new: Path) -> dict[str, Any]:
    picture = os.path.relpath(linked(old / entry["image_path"]), linked(new))
    return {**entry, "image_path": Path(picture).as_posix()}


# Checks ------------------------------------------------------------------------------------------------------------


def check_catalogue(path: Path | str | None = None) -> CheckReport:
    """Return a report of every error and warning of a catalogue, by default the shipped one."""
    report = CheckReport()
    add_catalogue_findings(path or shipped(SHIPPED_CATALOGUE), report)
    return report.finished()


def add_catalogue_findings(path: Path | str, report: CheckReport) -> None:
    """Add every error and warning of a catalogue to a report."""
    found = report.of(path)
    found.kind = DIRECTOR
    catalogue = report.read(path, "not-json", lambda: load_catalogue_file(path))
    if catalogue is None:
        found.not_checked.append("doubtful words and pictures, until the mistakes are corrected")
        return
    text = read_text(Path(path))
    for inside, message in _picture_faults(catalogue):
        found.error(problem_in(str(path), inside, message, text))
    for code, inside, message in _doubts(catalogue):
        found.warn(code, problem_in(str(path), inside, message, text))


def _picture_faults(catalogue: ItemCatalogue) -> Iterator[Fault]:
    """Yield the (JSON path, message) of each own picture that cannot be read."""
    for item in catalogue.items:
        try:
            if item.picture:
                picture_sprite(catalogue.folder / item.picture, 1)
        except BadInput as error:
            yield f"items.{item.name}.image_path", error.problems[0].message


def _doubts(catalogue: ItemCatalogue) -> Iterator[tuple[str, str, str]]:
    """Yield the code, JSON path and message of what is doubtful in the words of a catalogue without mistakes."""
    values = enumerate(catalogue.record["adjectives"])
    place_of = {name: f"adjectives[{number}].values.{name}" for number, each in values for name in each["values"]}
    for name in catalogue.classes:
        if not any(name in item.properties for item in catalogue.items):
            yield "unused-adjective", place_of[name], f"no item is {name!r}; no question can use it"
        elif all(name in item.properties or name in item.unclear for item in catalogue.items):
            yield "idle-adjective", place_of[name], f"no item is clearly not {name!r}; no question can use it"


# Pictures: one item alone, or a contact sheet ------------------------------------------------------------------------

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
