"""SVG of grids: the same places and drawings as in pictures, each item once as a symbol."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from io import BytesIO

from vqagen.pictures.canvas import FONT_SIZE, HALO_WIDTH, Canvas
from vqagen.pictures.figure import director_figure
from vqagen.pictures.looks import Look, item_square
from vqagen.pictures.shelf import HALO, HALOED, INK, ROOM, Back, Surface, boards, cell_surfaces, shown_cells
from vqagen.pictures.sprites import picture_sprite, svg_of

FINER = 2
"""Pictures of users are stored so many times finer than they are shown."""


class GridSvg:
    """Writes grids of one style as SVG."""

    def __init__(self, looks: Mapping[str, Look], canvas: Canvas) -> None:
        self._looks, self._canvas = looks, canvas
        self._symbols: dict[str, str] = {}

    def draw(self, cells: Sequence[str | None], blocked: Sequence[bool]) -> str:
        """Return the document of a grid whose cells are given row by row as the participant sees them."""
        shown = list(shown_cells(self._canvas.style, cells, blocked))
        names = list(dict.fromkeys(name for name, _ in shown if name))
        numbers = {name: number for number, name in enumerate(names, 1)}
        symbols = [f'<g id="item{number}">{self._item(name)}</g>' for name, number in numbers.items()]
        placed = [self._cell(at, back, numbers.get(name or "")) for at, (name, back) in enumerate(shown)]
        return "\n".join([*self._head, *symbols, "</defs>", *self._around, *placed, "</svg>", ""])

    def _cell(self, number: int, back: Back, item: int | None) -> str:
        left, top = self._canvas.corner(number)
        cell = f'<use href="#{back.value}" x="{left}" y="{top}"/>'
        if back is Back.FIGURE:
            cell += self._seen_through(number)
        if item is None:
            return cell
        halo = ' filter="url(#halo)"' if back in HALOED else ""
        return f'{cell}<use href="#item{item}" x="{left}" y="{top}"{halo}/>'

    def _seen_through(self, number: int) -> str:
        """Return the part of the director that an open cell shows. An inner `svg` shows nothing outside of itself."""
        seen = self._canvas.back(number)
        sides = f"{seen.left} {seen.top} {seen.width} {seen.height}"
        place = 'x="{}" y="{}" width="{}" height="{}"'.format(*sides.split())
        return f'<svg {place} viewBox="{sides}"><use href="#director"/></svg>'

    def _item(self, name: str) -> str:
        found = self._symbols.get(name)
        if found is None:
            found = self._symbols[name] = _draw_item(self._looks[name])
        return found

    @cached_property
    def _head(self) -> tuple[str, ...]:
        width, height = self._canvas.size
        size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        backs = (f'<g id="{back.value}">{_polygons(cell_surfaces(back))}</g>' for back in Back)
        box = self._canvas.figure
        parts = [svg_of(*part, box.left, box.top, box.width) for part in director_figure()] if box else []
        figure = [f'<g id="director">{"".join(parts)}</g>'] if box else []
        return (f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', "<defs>", _halo(), *backs, *figure)

    @cached_property
    def _around(self) -> tuple[str, ...]:
        width, height = self._canvas.size
        room = f'<rect width="{width}" height="{height}" fill="{ROOM}"/>'
        figure = ['<use href="#director"/>'] if self._canvas.figure else []
        return (
            room,
            *figure,
            _polygons((box.corners, color) for box, color in boards(self._canvas)),
            _labels(self._canvas),
        )


def _draw_item(look: Look) -> str:
    square = item_square(look)
    if look.drawing is not None:
        return svg_of(look.drawing, look.paint, square.left, square.top, square.width)
    assert look.picture is not None, look.name
    place = f'x="{square.left}" y="{square.top}" width="{square.width}" height="{square.width}"'
    stored = BytesIO()
    picture_sprite(look.picture, square.width * FINER).save(stored, "PNG")
    return f'<image {place} href="data:image/png;base64,{base64.b64encode(stored.getvalue()).decode()}"/>'


def _polygons(surfaces: Iterable[Surface]) -> str:
    texts = ((" ".join(f"{x},{y}" for x, y in points), color) for points, color in surfaces)
    return "".join(f'<polygon points="{text}" fill="{color}"/>' for text, color in texts)


def _labels(canvas: Canvas) -> str:
    look = f'font-family="sans-serif" font-size="{FONT_SIZE}" text-anchor="middle" fill="{INK}"'
    texts = (f'<text x="{label.x:g}" y="{label.y:g}" dy="0.35em">{label.text}</text>' for label in canvas.labels())
    return f"<g {look}>{''.join(texts)}</g>"


def _halo() -> str:
    return (
        '<filter id="halo" x="-0.1" y="-0.1" width="1.2" height="1.2">'
        f'<feMorphology in="SourceAlpha" operator="dilate" radius="{HALO_WIDTH}" result="rim"/>'
        f'<feFlood flood-color="{HALO}"/><feComposite in2="rim" operator="in"/>'
        '<feMerge><feMergeNode/><feMergeNode in="SourceGraphic"/></feMerge></filter>'
    )
