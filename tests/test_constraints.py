"""Each constraint holds where its one line says, and is found by the names that other generators give it."""

from __future__ import annotations

from typing import Any

import pytest

from vqagen.files.shipped import shipped
from vqagen.language.catalogue import Catalogue
from vqagen.plugin import (
    BUILT_IN,
    CONSTANT,
    CONSTANTS,
    KINDS,
    NODE,
    NUMBERS,
    PLURAL_KINDS,
    SLOT,
    TYPES,
    VALUES,
)
from vqagen.world.domain import load_domain

CONSTRAINTS = BUILT_IN.constraints
CATALOGUE = Catalogue(load_domain(shipped("metadata") / "clevr.json"))

HOLDS: list[tuple[str, tuple[Any, ...], bool]] = [
    ("NULL", (None,), True),
    ("NULL", ("red",), False),
    ("NULL", ("",), False),
    ("NOT_NULL", ("red",), True),
    ("NOT_NULL", (None,), False),
    ("NOT_ALL_NULL", (None, "red"), True),
    ("NOT_ALL_NULL", ("red", "red"), True),
    ("NOT_ALL_NULL", (None, None), False),
    ("ONE_OF", (None, None, None), True),
    ("ONE_OF", (None, "red", None), True),
    ("ONE_OF", ("red", None, "cube"), False),
    ("ONE_OF_FORCE", (None, "red", None), True),
    ("ONE_OF_FORCE", (None, None), False),
    ("ONE_OF_FORCE", ("red", "cube"), False),
    ("NONE_OF", (None, None), True),
    ("NONE_OF", (None, "red"), False),
    ("EQ", ("red", "red"), True),
    ("EQ", ("red", "blue"), False),
    ("EQ", (None, None), True),
    ("EQ", ("red", None), False),
    ("NEQ", ("red", "blue"), True),
    ("NEQ", ("red", "red"), False),
    ("NEQ", (None, "red"), True),
    ("NEQ", (None, None), False),
    ("IN", ("red", "blue", "red"), True),
    ("IN", ("red", ["blue", "red"]), True),
    ("IN", ("red", "reddish"), False),
    ("IN", ("red", ["blue", "reddish"], "green"), False),
    ("IN", (None, "red"), False),
    ("NOT_IN", ("red", "blue"), True),
    ("NOT_IN", ("red", ["blue"], "red"), False),
    ("NOT_IN", (None, "red"), True),
    ("OUT_EQ", (0b101, 0b101), True),
    ("OUT_EQ", (2, 3), False),
    ("OUT_EQ", ("red", "red"), True),
    ("OUT_NEQ", (0, 0), False),
    ("OUT_NEQ", (0, 1), True),
    ("OUT_NEQ", ("red", "blue"), True),
    ("OUT_LT_CONST", (1, 2), True),
    ("OUT_LT_CONST", (2, 2), False),
    ("OUT_LE_CONST", (2, 2), True),
    ("OUT_LE_CONST", (3, 2), False),
    ("OUT_GT_CONST", (3, 2), True),
    ("OUT_GT_CONST", (2, 2), False),
    ("OUT_GE_CONST", (2, 2), True),
    ("OUT_GE_CONST", (1, 2), False),
    ("OUT_EQ_CONST", (2, 2), True),
    ("OUT_EQ_CONST", (1, 2), False),
    ("OUT_NEQ_CONST", (1, 2), True),
    ("OUT_NEQ_CONST", (2, 2), False),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), HOLDS)
def test_constraint(name: str, arguments: tuple[Any, ...], expected: bool) -> None:
    assert CONSTRAINTS[name].holds(*arguments) is expected


def test_every_constraint_has_rows_for_both_outcomes() -> None:
    rows = {(name, expected) for name, _, expected in HOLDS}

    assert [(name, holds) for name in CONSTRAINTS for holds in (True, False) if (name, holds) not in rows] == []


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_constraint_says_what_it_means_and_what_it_takes(name: str) -> None:
    """Plural kinds of parameters come last."""
    kind = CONSTRAINTS[name]
    lengths = {len(arguments) for row, arguments, _ in HOLDS if row == name}

    assert kind.name == name
    assert kind.meaning.endswith((".", ")"))
    assert set(kind.params) <= set(KINDS)
    assert not set(kind.params[:-1]) & set(PLURAL_KINDS)
    assert lengths == {len(kind.params)} or (kind.params[-1] in PLURAL_KINDS and min(lengths) >= len(kind.params))


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_what_is_compared_fits_the_parameters(name: str) -> None:
    """Types are those of two of a kind, numbers those of nodes and constants, values those of a slot."""
    kind = CONSTRAINTS[name]
    fitting = {"": kind.of_openness, TYPES: kind.params in ((SLOT, SLOT), (NODE, NODE)),
               NUMBERS: kind.params == (NODE, CONSTANT), VALUES: kind.params == (SLOT, CONSTANTS)}  # fmt: skip

    assert fitting[kind.compares]


ALIASES = {
    "NOT-NULL": "NOT_NULL",
    "TYPE_NEQ": "NEQ",
    "CONST_TYPE_NEQ": "NOT_IN",
    "CONST_NEQ": "OUT_NEQ_CONST",
    "CONST_GT": "OUT_GE_CONST",
    "CONST_LEQ": "OUT_LE_CONST",
    "COLOR": "IN",
    "SHAPE_SET": "IN",
    "RELATION": "IN",
    "RELATION_SET": "IN",
}


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_alias(alias: str, name: str) -> None:
    """The constraint is known by its proper name then."""
    assert CATALOGUE.constraints[alias] == CONSTRAINTS[name]
    assert alias not in list(CATALOGUE.constraints)


def test_the_names_of_constraints_are_listed_once() -> None:
    assert list(CATALOGUE.constraints) == list(CONSTRAINTS)
