"""Constraints: what must hold of a template's slots or of its nodes' outputs.

To add one: write a function here under `@constraint`, with the kinds of its parameters. A slot's argument is its word
(None where the slot is left open), a node's its output, a constant's what the template says.

Aliases are the names that other generators use. Besides these, each type of a domain makes two for IN: `COLOR` and
`COLOR_SET` for a type Color (see `catalogue`).
"""

from __future__ import annotations

from typing import Any

from vqagen.plugin import (
    CONSTANT,
    CONSTANTS,
    DIFFERENT,
    EQUAL,
    MEMBER,
    NODE,
    NUMBERS,
    SLOT,
    SLOTS,
    TYPES,
    VALUES,
    constraint,
)

# Which slots are left open ------------------------------------------------------------------------------------------


@constraint("NULL", SLOT, of_openness=True)
def is_open(word: str | None) -> bool:
    """The slot is left open."""
    return word is None


@constraint("NOT_NULL", SLOT, of_openness=True, aliases=("NOT-NULL",))
def is_filled(word: str | None) -> bool:
    """The slot is filled."""
    return word is not None


@constraint("NOT_ALL_NULL", SLOTS, of_openness=True)
def not_all_open(*words: str | None) -> bool:
    """At least one of the slots is filled."""
    return _filled(words) >= 1


@constraint("ONE_OF", SLOTS, of_openness=True)
def at_most_one_filled(*words: str | None) -> bool:
    """At most one of the slots is filled."""
    return _filled(words) <= 1


@constraint("ONE_OF_FORCE", SLOTS, of_openness=True)
def exactly_one_filled(*words: str | None) -> bool:
    """Exactly one of the slots is filled."""
    return _filled(words) == 1


@constraint("NONE_OF", SLOTS, of_openness=True)
def all_open(*words: str | None) -> bool:
    """All of the slots are left open."""
    return _filled(words) == 0


def _filled(words: tuple[str | None, ...]) -> int:
    return sum(word is not None for word in words)


# What slots say -----------------------------------------------------------------------------------------------------


@constraint("EQ", SLOT, SLOT, compares=TYPES, role=EQUAL)
def same_word(left: str | None, right: str | None) -> bool:
    """Both slots have the same value, or both are left open."""
    return left == right


@constraint("NEQ", SLOT, SLOT, compares=TYPES, role=DIFFERENT, aliases=("TYPE_NEQ",))
def other_word(left: str | None, right: str | None) -> bool:
    """The slots differ.

    The reference generator keeps only equal values here; every data set meant "differ".
    """
    return left != right


@constraint("IN", SLOT, CONSTANTS, compares=VALUES, role=MEMBER)
def one_of_values(word: str | None, *values: Any) -> bool:
    """The slot has one of the values; never where it is left open."""
    return any(word in value if isinstance(value, list) else word == value for value in values)


@constraint("NOT_IN", SLOT, CONSTANTS, compares=VALUES, aliases=("CONST_TYPE_NEQ",))
def none_of_values(word: str | None, *values: Any) -> bool:
    """The slot has none of the values; always where it is left open."""
    return not one_of_values(word, *values)


# What nodes give ----------------------------------------------------------------------------------------------------


@constraint("OUT_EQ", NODE, NODE, compares=TYPES, role=EQUAL)
def same_output(left: Any, right: Any) -> bool:
    """Both nodes have the same output."""
    return bool(left == right)


@constraint("OUT_NEQ", NODE, NODE, compares=TYPES, role=DIFFERENT)
def other_output(left: Any, right: Any) -> bool:
    """The nodes' outputs differ."""
    return bool(left != right)


@constraint("OUT_LT_CONST", NODE, CONSTANT, compares=NUMBERS, aliases=("CONST_LT",))
def below(output: int, bound: float) -> bool:
    """The node's number is smaller than the constant."""
    return output < bound


@constraint("OUT_LE_CONST", NODE, CONSTANT, compares=NUMBERS, aliases=("CONST_LE", "CONST_LEQ"))
def at_most(output: int, bound: float) -> bool:
    """The node's number is the constant or smaller."""
    return output <= bound


@constraint("OUT_GT_CONST", NODE, CONSTANT, compares=NUMBERS)
def above(output: int, bound: float) -> bool:
    """The node's number is larger than the constant."""
    return output > bound


@constraint("OUT_GE_CONST", NODE, CONSTANT, compares=NUMBERS, aliases=("CONST_GE", "CONST_GEQ", "CONST_GT"))
def at_least(output: int, bound: float) -> bool:
    """The node's number is the constant or larger.

    CONST_GT is CLEVR-Math's name, whose generator keeps equals.
    """
    return output >= bound


@constraint("OUT_EQ_CONST", NODE, CONSTANT, compares=NUMBERS, aliases=("CONST_EQ",))
def exactly(output: int, number: float) -> bool:
    """The node's number is the constant."""
    return output == number


@constraint("OUT_NEQ_CONST", NODE, CONSTANT, compares=NUMBERS, aliases=("CONST_NEQ",))
def any_but(output: int, number: float) -> bool:
    """The node's number is not the constant."""
    return output != number
