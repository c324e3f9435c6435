"""The meaning of a program: a term in which differences of form, such as the order of filters, are gone.

A set of objects is a frozenset of conjuncts; an object is in the set if it fulfils all of them. All objects are the
empty frozenset, `filter_color(red)` adds ("filter_color", "red"), and an intersection joins two frozensets. So one set
lies within another if it has all the conjuncts of the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Set = frozenset[Any]
EVERYTHING: Set = frozenset()
LOGIC = frozenset({"not", "and", "or"})
SYMMETRIC = frozenset({"and", "or", "equal_integer", "equal_object", "union", "add"})


class Term(NamedTuple):
    """A function, its arguments (sets and terms), and its values."""

    function: str
    arguments: tuple[Any, ...] = ()
    values: tuple[str, ...] = ()


class Meaning(NamedTuple):
    """The meaning of a question."""

    root: Term
    """The term whose value is the answer."""
    unique: tuple[Set, ...]
    """The sets that the question presupposes to hold one object."""
    several: tuple[Set, ...]
    """The sets that it presupposes to hold more than one object."""


def meaning_of(program: Sequence[Mapping[str, Any]]) -> Meaning | None:
    """Return the meaning of a program in its JSON form; None for one that is malformed or gives no answer."""
    try:
        return _read(program)
    except (IndexError, TypeError):  # too few inputs, or a number where a set must stand
        return None


def _read(program: Sequence[Mapping[str, Any]]) -> Meaning | None:
    made: list[Any] = []
    unique: list[Set] = []
    several: list[Set] = []
    for node in program:
        function = str(node.get("type") or node.get("function"))
        values = tuple(map(str, node.get("value_inputs") or node.get("side_inputs") or ()))
        inputs = [made[i] for i in node.get("inputs") or ()]
        if not inputs and function != "scene":
            return None
        if function == "unique":
            unique.append(inputs[0])
        elif function == "not_unique":
            several.append(inputs[0])
        made.append(_made(function, inputs, values))
    root = made[-1] if made else None
    return Meaning(root, tuple(unique), tuple(several)) if isinstance(root, Term) else None


def _made(function: str, inputs: Sequence[Any], values: tuple[str, ...]) -> Any:
    """Return the set or the term that a step makes. An object is the set that holds it alone."""
    if function == "scene":
        return EVERYTHING
    if function in ("unique", "not_unique"):
        return inputs[0]
    if function.startswith("filter_"):
        return inputs[0] | {(function, *values)}
    if function == "intersect":
        return inputs[0] | inputs[1]
    if function == "difference":
        return inputs[0] | {("not", inputs[1])}
    if function == "union":
        return frozenset({("union", frozenset(inputs))})
    if function == "relate" or function.startswith(("same_", "different_")):
        return frozenset({(function, *values, inputs[0])})
    if function in LOGIC and not all(isinstance(each, Term) for each in inputs):
        raise TypeError(f"{function} of a set")
    if function in ("exist", "count") or function.startswith("query_"):
        inputs = [inputs[0] | EVERYTHING]
    return _ordered(Term(function, tuple(inputs), values))


def _ordered(term: Term) -> Term:
    """Return a term of a symmetric function with its arguments in one order, and `greater_than` as `less_than`."""
    if term.function == "greater_than":
        return Term("less_than", term.arguments[::-1], term.values)
    if term.function in SYMMETRIC or term.function.startswith("equal_"):
        return term._replace(arguments=tuple(sorted(term.arguments, key=sort_key)))
    return term


def sort_key(part: Any) -> str:
    """Return a text that is the same for equal sets and terms in every process."""
    if isinstance(part, frozenset):
        return "{" + ",".join(sorted(map(sort_key, part))) + "}"
    if isinstance(part, tuple):
        return "(" + ",".join(map(sort_key, part)) + ")"
    return repr(part)
