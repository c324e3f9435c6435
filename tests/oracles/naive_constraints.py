"""What the constraints of templates mean, for the slow twin (see `naive`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from oracles.naive_vocabulary import Record

ALL = None


class Constraint(NamedTuple):
    """`holds` is given the words of slots (None where open) or the outputs of nodes, then constants as written."""

    holds: Callable[..., bool]
    variables: int | None = ALL
    """How many of its parameters are slots or nodes; constants follow."""


def is_allowed(template: Record, known: Mapping[Any, Any]) -> bool:
    """Whether no constraint is broken of those on slots (texts) or nodes (numbers) that are all known."""
    return all(_holds(constraint, known) for constraint in template.get("constraints") or [])


def _holds(constraint: Record, known: Mapping[Any, Any]) -> bool:
    meant, params = CONSTRAINTS[constraint["type"]], constraint["params"]
    variables, constants = params[: meant.variables], params[len(params[: meant.variables]) :]
    if not all(name in known for name in variables):
        return True
    return meant.holds(*[known[name] for name in variables], *constants)


def _filled(words: tuple[str | None, ...]) -> int:
    return sum(1 for word in words if word is not None)


def _listed(constants: tuple[Any, ...]) -> list[Any]:
    """Constants, of which any may be a list of them."""
    return [each for given in constants for each in (given if isinstance(given, list) else [given])]


CONSTRAINTS = {
    "NULL": Constraint(lambda *words: _filled(words) == 0),
    "NONE_OF": Constraint(lambda *words: _filled(words) == 0),
    "NOT_NULL": Constraint(lambda *words: _filled(words) == len(words)),
    "NOT_ALL_NULL": Constraint(lambda *words: _filled(words) > 0),
    "ONE_OF": Constraint(lambda *words: _filled(words) <= 1),
    "ONE_OF_FORCE": Constraint(lambda *words: _filled(words) == 1),
    "EQ": Constraint(lambda first, second: first == second),
    "NEQ": Constraint(lambda first, second: first != second),
    "IN": Constraint(lambda word, *constants: word in _listed(constants), variables=1),
    "NOT_IN": Constraint(lambda word, *constants: word not in _listed(constants), variables=1),
    "OUT_EQ": Constraint(lambda first, second: first == second),
    "OUT_NEQ": Constraint(lambda first, second: first != second),
    "OUT_LT_CONST": Constraint(lambda output, constant: output < constant, variables=1),
    "OUT_LE_CONST": Constraint(lambda output, constant: output <= constant, variables=1),
    "OUT_GT_CONST": Constraint(lambda output, constant: output > constant, variables=1),
    "OUT_GE_CONST": Constraint(lambda output, constant: output >= constant, variables=1),
    "OUT_EQ_CONST": Constraint(lambda output, constant: output == constant, variables=1),
    "OUT_NEQ_CONST": Constraint(lambda output, constant: output != constant, variables=1),
}
