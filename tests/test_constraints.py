"""Each constraint holds where its one line says."""

from __future__ import annotations

from typing import Any

import pytest

import vqagen.language.constraints  # noqa: F401  (importing the module declares them)
from vqagen.plugin import BUILT_IN

CONSTRAINTS = BUILT_IN.constraints

HOLDS: list[tuple[str, tuple[Any, ...], bool]] = [
    ("NULL", (None,), True),
    ("NULL", ("red",), False),
    ("NULL", ("",), False),
    ("NOT_NULL", ("red",), True),
    ("NOT_NULL", (None,), False),
    ("EQ", ("red", "red"), True),
    ("EQ", ("red", "blue"), False),
    ("EQ", (None, None), True),
    ("EQ", ("red", None), False),
    ("NEQ", ("red", "blue"), True),
    ("NEQ", ("red", "red"), False),
    ("NEQ", (None, "red"), True),
    ("NEQ", (None, None), False),
    ("OUT_EQ", (0b101, 0b101), True),
    ("OUT_EQ", (2, 3), False),
    ("OUT_EQ", ("red", "red"), True),
    ("OUT_NEQ", (0, 0), False),
    ("OUT_NEQ", (0, 1), True),
    ("OUT_NEQ", ("red", "blue"), True),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), HOLDS)
def test_constraint(name: str, arguments: tuple[Any, ...], expected: bool) -> None:
    assert CONSTRAINTS[name].holds(*arguments) is expected


def test_every_constraint_has_rows_for_both_outcomes() -> None:
    rows = {(name, expected) for name, _, expected in HOLDS}

    assert [(name, holds) for name in CONSTRAINTS for holds in (True, False) if (name, holds) not in rows] == []


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_constraint_says_what_it_means_and_what_it_takes(name: str) -> None:
    kind = CONSTRAINTS[name]

    assert kind.name == name
    assert kind.meaning.endswith((".", ")"))
    assert {len(arguments) for row, arguments, _ in HOLDS if row == name} == {len(kind.params)}
