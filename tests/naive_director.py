"""The slow twin of the judge of trials: who means which cells, by plain loops over coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Cell = tuple[int, int]
"""(column, row), from the top left in the participant's view."""
Record = Mapping[str, Any]
PHYSICS = frozenset({"hot", "cold", "sharp", "stackable"})
STEPS = {"right_of": (1, 0), "left_of": (-1, 0), "above": (0, -1), "below": (0, 1)}


def cell_named(label: str) -> Cell:
    """Return the cell of a label such as C2."""
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(label[0]), int(label[1:]) - 1


def label_of(cell: Cell) -> str:
    """Return the label of a cell."""
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[cell[0]] + str(cell[1] + 1)


def row_by_row(cells: Iterable[Cell]) -> list[str]:
    """Return labels in reading order."""
    return [label_of(cell) for cell in sorted(cells, key=lambda cell: (cell[1], cell[0]))]


def item_words(catalogue: Record, name: str) -> set[str]:
    """Return all nouns and adjectives that are true of a drawn item such as red_ice_cream_2."""
    color, _, rest = name.partition("_")
    kind = rest.rpartition("_")[0]
    entry = catalogue["kinds"][kind]
    return {color, kind, "item", *entry.get("nouns", ()), *entry.get("properties", ())}


def size_of(name: str) -> int:
    """Return the size level of a drawn item."""
    return int(name.rpartition("_")[2])


def placed(record: Record) -> dict[Cell, str]:
    """Return the items of a grid by their cells."""
    width = record["width"]
    return {(i % width, i // width): name for i, name in enumerate(record["cells"]) if name is not None}


def answers(catalogue: Record, items: Mapping[Cell, str], criteria: Iterable[str], rule: str) -> list[Cell]:
    """Return the cells that a description and a rule pick among the items that somebody sees."""
    wanted = set(criteria)
    found = [cell for cell, name in items.items() if wanted <= item_words(catalogue, name)]
    if rule in STEPS:
        return nearest(items, found, STEPS[rule])
    if rule == "none" or not found:
        return found
    keys = {
        "smallest": lambda cell: size_of(items[cell]),
        "largest": lambda cell: -size_of(items[cell]),
        "topmost": lambda cell: cell[1],
        "bottommost": lambda cell: -cell[1],
        "leftmost": lambda cell: cell[0],
        "rightmost": lambda cell: -cell[0],
    }
    best = min(map(keys[rule], found))
    return [cell for cell in found if keys[rule](cell) == best]


def nearest(items: Mapping[Cell, str], origins: Sequence[Cell], step: Cell) -> list[Cell]:
    """Return the first item on the way from the only origin; no item if there is not exactly one origin."""
    if len(origins) != 1:
        return []
    x, y = origins[0]
    for _ in range(100):
        x, y = x + step[0], y + step[1]
        if (x, y) in items:
            return [(x, y)]
    return []


def both_answers(catalogue: Record, record: Record) -> tuple[list[str], list[str]]:
    """Return the labels of the participant's and the director's answers of a trial."""
    items, criteria = placed(record), [record["noun"], *record["adjectives"]]
    blocked = set(map(cell_named, record["blocked"]))
    seen = {cell: name for cell, name in items.items() if cell not in blocked}
    own = answers(catalogue, items, criteria, record["rule"])
    gold = answers(catalogue, seen, criteria, record["rule"])
    return row_by_row(own), row_by_row(gold)
