"""Texts of grids, for language models: a Markdown table, a drawing in ASCII, or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from vqagen.pictures.canvas import GridStyle, cell_label
from vqagen.pictures.looks import Look
from vqagen.pictures.shelf import Back, shown_cells

NAMES, PROPERTIES = DETAILS = "names", "properties"
BLOCKED, MATERIAL, SYMBOL = BLOCKS = "blocked", "material", "symbol"
EMPTY = "empty"
HIDDEN = "closed"
"""A blocked cell as the director sees it."""
SIGN = "#"
LEGEND = f"{SIGN}: {BLOCKED}"
CLEAR = ("glass", "clear plastic", "none")
OPAQUE = ("plywood", "steel", "cardboard")
LONGEST_LINE = 18
"""Of the text in a box; a longer word stays whole."""


@dataclass(frozen=True)
class TextStyle:
    """What a text says of cells."""

    details: str = NAMES
    """names: the item's words and size. properties: the other nouns and adjectives that are true of it as well."""
    block: str = BLOCKED
    """How a blocked cell is shown. blocked: by this word. material: each cell's back is named. symbol: by a `#`."""

    def __post_init__(self) -> None:
        assert self.details in DETAILS, self.details
        assert self.block in BLOCKS, self.block


@dataclass(frozen=True)
class CellText:
    """What a text says of one cell."""

    label: str
    item: str = ""
    """"" for an empty cell, and for one that is not seen into."""
    size: str = ""
    """Such as `3 of 4`; "" if there is one size of its kind."""
    properties: tuple[str, ...] = ()
    is_blocked: bool = False
    is_hidden: bool = False
    """True if the cell is not seen into."""
    material: str = ""
    """Of its back, in texts that name it."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The item and its details, such as `red apple`, `size 3 of 4` and `sweet, edible`."""
        if not self.item:
            return (HIDDEN if self.is_hidden else EMPTY,)
        size = (f"size {self.size}",) if self.size else ()
        return (self.item, *size, *filter(None, [", ".join(self.properties)]))

    @property
    def back(self) -> str:
        """The words for its back; "" if they add nothing."""
        if self.material:
            return f"back: {self.material}"
        return BLOCKED if self.is_blocked and not self.is_hidden else ""


class GridWriter:
    """Writes grids of one style as text. Labels and their places are those of the picture."""

    def __init__(self, looks: Mapping[str, Look], style: GridStyle, text: TextStyle | None = None) -> None:
        self._looks, self._style, self._text = looks, style, text or TextStyle()

    def markdown(self, cells: Sequence[str | None], blocked: Sequence[bool]) -> str:
        """Return a table with a row for each row of cells, which are given row by row as the participant sees them."""
        rows = self._rows(cells, blocked)
        lines = [
            ("", *self._style.column_labels),
            ("---",) * (self._style.width + 1),
            *((label, *map(self._in_one_line, row)) for label, row in zip(self._style.row_labels, rows, strict=True)),
        ]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines) + (f"\n{LEGEND}\n" if self._has_signs else "")

    def ascii(self, cells: Sequence[str | None], blocked: Sequence[bool]) -> str:
        """Return a drawing of the grid whose cells are boxes with text."""
        drawing = "".join(f"{line.rstrip()}\n" for line in self._drawing(self._rows(cells, blocked)))
        return drawing + (f"\n{LEGEND}\n" if self._has_signs else "")

    def json(self, cells: Sequence[str | None], blocked: Sequence[bool]) -> str:
        """Return an object with the labels and a list of all cells in reading order."""
        head: dict[str, object] = {"columns": self._style.column_labels, "rows": self._style.row_labels}
        if self._has_signs:
            head["legend"] = {SIGN: BLOCKED}
        shown = (self._record(cell) for row in self._rows(cells, blocked) for cell in row)
        listed = ",\n  ".join(json.dumps(record, ensure_ascii=False) for record in shown)
        return f'{json.dumps(head)[:-1]}, "cells": [\n  {listed}\n]}}\n'

    @property
    def _has_signs(self) -> bool:
        return self._text.block == SYMBOL

    def _rows(self, cells: Sequence[str | None], blocked: Sequence[bool]) -> list[list[CellText]]:
        """Return the cells as they are shown, row by row."""
        width = self._style.width
        texts = [
            self._cell(number, name, back)
            for number, (name, back) in enumerate(shown_cells(self._style, cells, blocked))
        ]
        rows = [texts[begin : begin + width] for begin in range(0, len(texts), width)]
        return [row[::-1] for row in rows] if self._style.is_mirrored else rows

    def _cell(self, number: int, name: str | None, back: Back) -> CellText:
        row, column = divmod(number, self._style.width)
        shown = CellText(
            cell_label(column, row),
            is_blocked=not back.is_open,
            is_hidden=back is Back.CLOSED,
            material=_material(row, column, back) if self._text.block == MATERIAL else "",
        )
        if name is None:
            return shown
        look = self._looks[name]
        size = f"{look.size} of {look.sizes}" if look.sizes > 1 else ""
        properties = look.properties if self._text.details == PROPERTIES else ()
        return replace(shown, item=look.words, size=size, properties=properties)

    def _in_one_line(self, cell: CellText) -> str:
        words = ", ".join(cell.parts).replace("|", "\\|")
        back = SIGN if self._has_signs and cell.back else cell.back
        return f"{words} ({back})" if back else words

    def _record(self, cell: CellText) -> dict[str, object]:
        record: dict[str, object] = {"cell": cell.label}
        if cell.is_hidden:
            record[HIDDEN] = True
        else:
            record["item"] = cell.item or None
        if cell.size:
            record["size"] = cell.size
        if cell.properties:
            record["properties"] = cell.properties
        if cell.material:
            record["back"] = cell.material
        elif not cell.is_hidden:
            record |= {"back": SIGN if cell.is_blocked else ""} if self._has_signs else {BLOCKED: cell.is_blocked}
        return record

    def _drawing(self, rows: Sequence[Sequence[CellText]]) -> Iterator[str]:
        inside = [[self._lines(cell) for cell in row] for row in rows]
        wide = self._has_signs + max(len(line) for row in inside for lines in row for line in lines)
        margin = " " * (len(str(self._style.height)) + 1)
        border = margin + "+" + "+".join("-" * (wide + 2) for _ in range(self._style.width)) + "+"
        yield margin + " " + " ".join(label.center(wide + 2) for label in self._style.column_labels)
        for label, row, boxes in zip(self._style.row_labels, rows, inside, strict=True):
            yield border
            high = max(map(len, boxes))
            filled = [self._box(cell, lines, wide, high) for cell, lines in zip(row, boxes, strict=True)]
            for at, texts in enumerate(zip(*filled, strict=True)):
                yield f"{(label if at == 0 else '').ljust(len(margin))}|{'|'.join(texts)}|"
        yield border

    def _lines(self, cell: CellText) -> list[str]:
        """Return a cell's text as lines: the item, its size, its properties, and the back."""
        parts = cell.parts if self._has_signs else (*cell.parts, cell.back)
        return [line for part in parts for line in wrap(part, LONGEST_LINE, break_long_words=False)]

    def _box(self, cell: CellText, lines: Sequence[str], wide: int, high: int) -> list[str]:
        """Return the inside of a box, all of whose lines are equally long."""
        texts = [*lines, *[""] * (high - len(lines))]
        if self._has_signs and cell.is_blocked:
            return [(f"{SIGN} {text} " if text else SIGN).ljust(wide + 2, SIGN) for text in texts]
        return [f" {text.ljust(wide)} " for text in texts]


def _material(row: int, column: int, back: Back) -> str:
    """Return the material of a back; that of a place is always the same, so that it says nothing else."""
    materials = CLEAR if back.is_open else OPAQUE
    return materials[(row + 2 * column) % len(materials)]
