"""The notebook runs, and shows what is stored in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import notebook
import pytest

STORED: Any = json.loads(notebook.NOTEBOOK.read_text("utf-8"))
MOST_CELLS = 15


@pytest.mark.slow
def test_the_notebook_prints_what_is_stored_in_it(tmp_path: Path) -> None:
    """From an empty folder to the scores; pictures are compared by their presence."""
    pytest.importorskip("PIL", reason="the extra `draw` makes pictures")
    pytest.importorskip("sklearn", reason="the extra `stats` has it")
    assert texts(notebook.with_outputs(STORED, tmp_path)) == texts(STORED)


def test_the_notebook_is_short() -> None:
    assert len(STORED["cells"]) <= MOST_CELLS


def test_a_cell_shows_what_it_prints_and_its_last_value() -> None:
    """As a notebook does; names are kept for later cells."""
    names: dict[str, Any] = {}

    assert notebook.run_cell("x = 3", names, 1) == []
    assert texts({"cells": [{"outputs": notebook.run_cell("print(x)\nx + 1", names, 2)}]}) == ["3\n", "4"]


def texts(made: Any) -> list[str]:
    """Return the texts of the outputs."""
    outputs = [each for cell in made["cells"] for each in cell.get("outputs", [])]
    return ["".join(each["text"] if "text" in each else each["data"]["text/plain"]) for each in outputs]
