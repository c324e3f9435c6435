"""Constraints: what must hold of a template's slots or of its nodes' outputs.

To add one: write a function here under `@constraint`, saying whether its parameters are slots or nodes. A slot
constraint is given the slots' words (None where a slot is left open), a node constraint the nodes' outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SLOT, NODE = "slot", "node"


@dataclass(frozen=True)
class ConstraintKind:
    """A constraint by its name in templates; `holds` takes one argument for each parameter."""

    name: str
    of: str
    """What its parameters are: SLOT or NODE."""
    parameters: int
    holds: Callable[..., bool]
    meaning: str


CONSTRAINTS: dict[str, ConstraintKind] = {}


def constraint(name: str, of: str, parameters: int) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
    """Declare a constraint under the name it has in templates."""

    def declare(holds: Callable[..., bool]) -> Callable[..., bool]:
        CONSTRAINTS[name] = ConstraintKind(name, of, parameters, holds, (holds.__doc__ or "").strip())
        return holds

    return declare


@constraint("NULL", SLOT, 1)
def is_open(word: str | None) -> bool:
    """The slot is left open."""
    return word is None


@constraint("NOT_NULL", SLOT, 1)
def is_filled(word: str | None) -> bool:
    """The slot is filled."""
    return word is not None


@constraint("EQ", SLOT, 2)
def same_word(left: str | None, right: str | None) -> bool:
    """Both slots have the same value, or both are left open."""
    return left == right


@constraint("NEQ", SLOT, 2)
def other_word(left: str | None, right: str | None) -> bool:
    """The slots differ. (The reference generator keeps only equal values here; every data set meant "differ".)"""
    return left != right


@constraint("OUT_EQ", NODE, 2)
def same_output(left: Any, right: Any) -> bool:
    """Both nodes have the same output."""
    return bool(left == right)


@constraint("OUT_NEQ", NODE, 2)
def other_output(left: Any, right: Any) -> bool:
    """The nodes' outputs differ."""
    return bool(left != right)
