"""Constraints: what must hold of a template's slots or of its nodes' outputs.

To add one: write a function here under `@constraint`, with the kinds of its parameters. A slot's argument is its word
(None where the slot is left open), a node's its output.
"""

from __future__ import annotations

from typing import Any

from vqagen.plugin import NODE, SLOT, constraint


@constraint("NULL", SLOT, of_openness=True)
def is_open(word: str | None) -> bool:
    """The slot is left open."""
    return word is None


@constraint("NOT_NULL", SLOT, of_openness=True)
def is_filled(word: str | None) -> bool:
    """The slot is filled."""
    return word is not None


@constraint("EQ", SLOT, SLOT)
def same_word(left: str | None, right: str | None) -> bool:
    """Both slots have the same value, or both are left open."""
    return left == right


@constraint("NEQ", SLOT, SLOT)
def other_word(left: str | None, right: str | None) -> bool:
    """The slots differ. (The reference generator keeps only equal values here; every data set meant "differ".)"""
    return left != right


@constraint("OUT_EQ", NODE, NODE)
def same_output(left: Any, right: Any) -> bool:
    """Both nodes have the same output."""
    return bool(left == right)


@constraint("OUT_NEQ", NODE, NODE)
def other_output(left: Any, right: Any) -> bool:
    """The nodes' outputs differ."""
    return bool(left != right)
