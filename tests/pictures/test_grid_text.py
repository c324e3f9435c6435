"""Texts of grids: what each form, view and option says of a cell."""

from __future__ import annotations

import json
from itertools import product

import pytest
from grids import random_grid, shipped_looks

from vqagen.pictures.canvas import BLOCKED, DIRECTOR, GRID_VIEWS, GridStyle
from vqagen.pictures.grid_text import BLOCKS, DETAILS, NAMES, GridWriter
from vqagen.pictures.sprites import Look

LOOKS = {
    "red_apple_3": Look("red_apple_3", "red apple", properties=("piece of fruit", "sweet"), size=3, sizes=4),
    "our_mug": Look("our_mug", "blue | white mug", properties=("hot",)),
}
CELLS = ["red_apple_3", None, "our_mug", "our_mug", None, "red_apple_3"]
HIDES = [True, True, False, True, False, False]
STYLE = GridStyle(3, 2)
VIEW = GridStyle(3, 2, view=DIRECTOR)


def written(form: str, style: GridStyle, details: str = NAMES, block: str = BLOCKED) -> str:
    return str(getattr(GridWriter(LOOKS, style, details, block), form)(CELLS, HIDES))


def test_a_table_in_markdown_names_items_sizes_and_blocked_cells() -> None:
    """A size is named where there are several of its kind. The words cannot break the table."""
    assert written("markdown", STYLE) == (
        "|  | A | B | C |\n"
        "| --- | --- | --- | --- |\n"
        "| 1 | red apple, size 3 of 4 (blocked) | empty (blocked) | blue \\| white mug |\n"
        "| 2 | blue \\| white mug (blocked) | empty | red apple, size 3 of 4 |\n"
    )


def test_a_drawing_in_ascii_has_a_box_for_each_cell() -> None:
    assert written("ascii", STYLE) == (
        "           A                  B                  C\n"
        "  +------------------+------------------+------------------+\n"
        "1 | red apple        | empty            | blue | white mug |\n"
        "  | size 3 of 4      | blocked          |                  |\n"
        "  | blocked          |                  |                  |\n"
        "  +------------------+------------------+------------------+\n"
        "2 | blue | white mug | empty            | red apple        |\n"
        "  | blocked          |                  | size 3 of 4      |\n"
        "  +------------------+------------------+------------------+\n"
    )


def test_json_lists_the_cells_in_reading_order() -> None:
    assert json.loads(written("json", STYLE)) == {
        "columns": ["A", "B", "C"],
        "rows": ["1", "2"],
        "cells": [
            {"cell": "A1", "item": "red apple", "size": "3 of 4", "blocked": True},
            {"cell": "B1", "item": None, "blocked": True},
            {"cell": "C1", "item": "blue | white mug", "blocked": False},
            {"cell": "A2", "item": "blue | white mug", "blocked": True},
            {"cell": "B2", "item": None, "blocked": False},
            {"cell": "C2", "item": "red apple", "size": "3 of 4", "blocked": False},
        ],
    }


def test_the_director_sees_the_columns_mirrored_and_blocked_cells_closed() -> None:
    """The labels are the participant's."""
    assert written("markdown", VIEW) == (
        "|  | C | B | A |\n"
        "| --- | --- | --- | --- |\n"
        "| 1 | blue \\| white mug | closed | closed |\n"
        "| 2 | red apple, size 3 of 4 | empty | closed |\n"
    )
    assert json.loads(written("json", VIEW))["cells"][:3] == [
        {"cell": "C1", "item": "blue | white mug", "blocked": False},
        {"cell": "B1", "closed": True},
        {"cell": "A1", "closed": True},
    ]
    assert "apple" in written("ascii", VIEW).partition("2 |")[2]


def test_properties_are_the_other_nouns_and_adjectives() -> None:
    assert "red apple, size 3 of 4, piece of fruit, sweet (blocked)" in written("markdown", STYLE, details="properties")
    assert "| piece of fruit,  |" in written("ascii", STYLE, details="properties")
    assert json.loads(written("json", STYLE, details="properties"))["cells"][0]["properties"] == [
        "piece of fruit",
        "sweet",
    ]


def test_materials_name_each_back() -> None:
    """Opaque ones are those of blocked cells; a place has the same two materials in every grid."""
    cells = json.loads(written("json", STYLE, block="material"))["cells"]
    seen = {cell["cell"]: cell["back"] for cell in cells}

    assert {label for label, back in seen.items() if back in ("plywood", "steel", "cardboard")} == {"A1", "B1", "A2"}
    assert {label for label, back in seen.items() if back in ("glass", "clear plastic", "none")} == {"C1", "B2", "C2"}
    mirrored = json.loads(written("json", VIEW, block="material"))["cells"]
    assert {cell["cell"]: cell["back"] for cell in mirrored} == seen
    assert "empty (back: cardboard)" in written("markdown", STYLE, block="material")


def test_a_symbol_is_explained_where_it_is_used() -> None:
    assert "empty (#) |" in written("markdown", STYLE, block="symbol")
    assert written("markdown", STYLE, block="symbol").endswith("\n#: blocked\n")
    assert "|# red apple #######|# empty ###########| blue | white mug  |\n" in written("ascii", STYLE, block="symbol")
    assert json.loads(written("json", STYLE, block="symbol"))["legend"] == {"#": "blocked"}


@pytest.mark.parametrize("form", ["markdown", "ascii", "json"])
def test_every_grid_and_style_is_written_with_each_item_where_it_is_seen(form: str) -> None:
    """For all sizes of grids, and however items are called in the catalogue."""
    for seed, (width, height, view, details, block) in enumerate(product((2, 8), (5,), GRID_VIEWS, DETAILS, BLOCKS)):
        cells, blocked = random_grid(seed, width, height)
        style = GridStyle(width, height, view=view)
        writer = GridWriter(shipped_looks(), style, details, block)
        text = getattr(writer, form)(cells, blocked)
        hides = blocked if view == DIRECTOR else [False] * len(blocked)
        seen = [shipped_looks()[name].words for name, closed in zip(cells, hides, strict=True) if name and not closed]

        assert text == getattr(writer, form)(cells, blocked)
        assert text.endswith("\n") and "_" not in text
        if form == "json":
            assert sorted(cell["item"] for cell in json.loads(text)["cells"] if cell.get("item")) == sorted(seen)
        if form == "markdown":
            assert all(text.count(words) >= seen.count(words) for words in seen)
        if form == "ascii":
            lines = [line for line in text.splitlines() if line[2:3] in ("|", "+")]
            assert len({len(line) for line in lines}) == 1
