"""Run the cells of docs/notebook.ipynb, and store what they show."""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"
KINDS = {"_repr_png_": "image/png", "_repr_html_": "text/html"}
"""Method of a value -> the kind of what it shows, as notebooks look for it."""

Record = dict[str, Any]


def with_outputs(notebook: Record, folder: Path) -> Record:
    """Return a notebook with the outputs of its cells, which run after each other in a folder."""
    names: Record = {"__name__": "__main__"}
    cells, number = list[Record](), 0
    with contextlib.chdir(folder):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                number += 1
                outputs = run_cell("".join(cell["source"]), names, number)
                cell = {**cell, "execution_count": number, "outputs": outputs}
            cells.append(cell)
    return {**notebook, "cells": cells}


def run_cell(source: str, names: Record, number: int) -> list[Record]:
    """Run the code of a cell, and return its outputs: what it prints, and the value of its last line."""
    tree, value, printed = ast.parse(source), None, io.StringIO()
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    outputs: list[Record] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        outputs.append(
            {"data": shown(value), "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        )
    return outputs


def shown(value: Any) -> Record:
    """Return what a notebook shows of a value, in each kind that the value has."""
    found: Record = {"text/plain": lines(repr(value))}
    if hasattr(value, "_repr_png_"):
        found = {"text/plain": [type(value).__name__]}  # the text of a picture has its address
    for method, kind in KINDS.items():
        if hasattr(value, method):
            content = getattr(value, method)()
            found[kind] = base64.b64encode(content).decode() if isinstance(content, bytes) else lines(content)
    return found


def lines(text: str) -> list[str]:
    """Return the lines of a text, with their ends."""
    return text.splitlines(keepends=True)


def main() -> None:
    """Run the notebook in a folder of its own."""
    with TemporaryDirectory() as folder:
        made = with_outputs(json.loads(NOTEBOOK.read_text("utf-8")), Path(folder))
    NOTEBOOK.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
