"""Texts of grids, for language models: a Markdown table, a drawing in ASCII, or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from vqagen.pictures.canvas import BLOCKED as BLOCKED, CLOSED, GridStyle, cell_label, shown_cells
from vqagen.pictures.sprites import Look

NAMES, PROPERTIES = DETAILS = "names", "properties"
"""What a text says of an item. names: its words and size. properties: the other nouns and adjectives that are true of
it as well."""
MATERIAL, SYMBOL = "material", "symbol"
BLOCKS = (BLOCKED, MATERIAL, SYMBOL)
"""How a blocked cell is shown. blocked: by this word. material: each cell's back is named. symbol: by a `#`."""
EMPTY = "empty"
SIGN = "#"
LEGEND = f"{SIGN}: {BLOCKED}"
CLEAR = ("glass", "clear plastic", "none")
OPAQUE = ("plywood", "steel", "cardboard")
LONGEST_LINE = 18
"""Of the text in a box; a longer word stays whole."""
CellText = dict[str, Any]
"""What a text says of one cell, as JSON has it: {"cell": "A1", "item": "red apple", "size": "3 of 4", "blocked": true}.
A blocked cell that the director looks at is {"cell": "B1", "closed": true}."""


class GridWriter:
    """Writes grids of one style as text. Labels and their places are those of the picture."""

    def __init__(self, looks: Mapping[str, Look], style: GridStyle, details: str = NAMES, block: str = BLOCKED) -> None:
        assert details in DETAILS and block in BLOCKS, (details, block)
        self._looks, self._style, self._details, self._block = looks, style, details, block

    def markdown(self, cells: Sequence[str | None], blocked: Sequence[bool]) -> str:
        """Return a table with a row for each row of cells, which are given row by row as the participant sees them."""
        rows = self._rows(cells, blocked)
        lines = [
            ("", *self._style.column_labels),
            ("---",) * (self._style.width + 1),
            *((label, *map(self._in_one_line, row)) for label, row in zip(self._style.row_labels, rows, strict=True)),
        ]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines) + self._legend

    def ascii(self, cells: Sequence[str | None], blocked: Sequence[bool]) -> str:
        """Return a drawing of the grid whose cells are boxes with text."""
        return "".join(f"{line.rstrip()}\n" for line in self._drawing(self._rows(cells, blocked))) + self._legend

    def json(self, cells: Sequence[str | None], blocked: Sequence[bool]) -> str:
        """Return an object with the labels and a list of all cells in reading order."""
        head: dict[str, object] = {"columns": self._style.column_labels, "rows": self._style.row_labels}
        if self._block == SYMBOL:
            head["legend"] = {SIGN: BLOCKED}
        shown = (cell for row in self._rows(cells, blocked) for cell in row)
        listed = ",\n  ".join(json.dumps(record, ensure_ascii=False) for record in shown)
        return f'{json.dumps(head)[:-1]}, "cells": [\n  {listed}\n]}}\n'

    @property
    def _legend(self) -> str:
        return f"\n{LEGEND}\n" if self._block == SYMBOL else ""

    def _rows(self, cells: Sequence[str | None], blocked: Sequence[bool]) -> list[list[CellText]]:
        """Return the cells as they are shown, row by row."""
        shown = enumerate(shown_cells(self._style, cells, blocked))
        texts, width = [self._cell(number, name, back) for number, (name, back) in shown], self._style.width
        rows = [texts[begin : begin + width] for begin in range(0, len(texts), width)]
        return [row[::-1] for row in rows] if self._style.is_mirrored else rows

    def _cell(self, number: int, name: str | None, back: str) -> CellText:
        row, column = divmod(number, self._style.width)
        look = self._looks[name] if name else None
        record: CellText = {"cell": cell_label(column, row)}
        record |= {CLOSED: True} if back == CLOSED else {"item": look.words if look else None}
        if look and look.sizes > 1:
            record["size"] = f"{look.size} of {look.sizes}"
        if look and look.properties and self._details == PROPERTIES:
            record["properties"] = look.properties
        if self._block == MATERIAL:  # that of a place is always the same, so that it says nothing else
            materials = OPAQUE if back in (BLOCKED, CLOSED) else CLEAR
            record["back"] = materials[(row + 2 * column) % len(materials)]
        elif back != CLOSED:
            is_blocked = back == BLOCKED
            record |= {"back": SIGN * is_blocked} if self._block == SYMBOL else {BLOCKED: is_blocked}
        return record

    def _back(self, cell: CellText) -> str:
        """Return the words for a cell's back; "" if they add nothing."""
        if self._block == MATERIAL:
            return f"back: {cell['back']}"
        return BLOCKED if cell.get(BLOCKED) else str(cell.get("back", ""))

    def _in_one_line(self, cell: CellText) -> str:
        words, back = ", ".join(_parts(cell)).replace("|", "\\|"), self._back(cell)
        return f"{words} ({back})" if back else words

    def _drawing(self, rows: Sequence[Sequence[CellText]]) -> Iterator[str]:
        inside = [[self._lines(cell) for cell in row] for row in rows]
        wide = (self._block == SYMBOL) + max(len(line) for row in inside for lines in row for line in lines)
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
        parts = _parts(cell) if self._block == SYMBOL else [*_parts(cell), self._back(cell)]
        return [line for part in parts for line in wrap(part, LONGEST_LINE, break_long_words=False)]

    def _box(self, cell: CellText, lines: Sequence[str], wide: int, high: int) -> list[str]:
        """Return the inside of a box, all of whose lines are equally long."""
        texts = [*lines, *[""] * (high - len(lines))]
        if self._block == SYMBOL and (CLOSED in cell or cell["back"]):
            return [(f"{SIGN} {text} " if text else SIGN).ljust(wide + 2, SIGN) for text in texts]
        return [f" {text.ljust(wide)} " for text in texts]


def _parts(cell: CellText) -> list[str]:
    """Return the item and its details, such as `red apple`, `size 3 of 4` and `sweet, edible`."""
    if not cell.get("item"):
        return [CLOSED if CLOSED in cell else EMPTY]
    size = [f"size {cell['size']}"] if "size" in cell else []
    return [cell["item"], *size, *([", ".join(cell["properties"])] if "properties" in cell else [])]
