"""Programs and templates for tests, written in a few words.

A program is its steps, divided by commas: "scene, filter_color 0 red, count 1". A step is its function, then numbers,
which are its inputs, and words, which are its values, or a template node's side inputs. A constraint is its type and
its parameters: "NULL <C> <S>", "OUT_LT_CONST 1 3"; a list among them is written as "red|blue".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def program(text: str) -> list[dict[str, Any]]:
    """The steps as records with `type`, `inputs` and `value_inputs`."""
    return [
        {"type": name, "inputs": [int(w) for w in rest if w.isdigit()],
         "value_inputs": [w for w in rest if not w.isdigit()]}
        for name, *rest in map(str.split, text.split(","))
    ]  # fmt: skip


def template(text: str, types: Mapping[str, str], *constraints: str) -> dict[str, Any]:
    """A template record without texts; `types` are those of slots, of which it may use only some."""
    nodes = [{"type": n["type"], "inputs": n["inputs"], "side_inputs": n["value_inputs"]} for n in program(text)]
    return {
        "params": [{"type": kind, "name": slot} for slot, kind in types.items()],
        "nodes": nodes,
        "constraints": [constraint(written) for written in constraints],
    }


def constraint(text: str) -> dict[str, Any]:
    """A constraint record."""
    kind, *params = text.split()
    return {"type": kind, "params": [_parameter(written) for written in params]}


def _parameter(written: str) -> int | str | list[str]:
    if written.isdigit():
        return int(written)
    return written.split("|") if "|" in written else written
