"""Fields of a question by which results are grouped: those that its program decides, and the name of its family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import vqagen.language.functions  # noqa: F401  (importing the module declares them)
from vqagen.plugin import BUILT_IN
from vqagen.score.items.builder import FieldFault, FieldRows

CHAIN, TREE = "chain", "tree"


class ProgramFacts(NamedTuple):
    """The facts of a program that depend on its functions and inputs only."""

    function: str
    """The last function."""
    program_length: int
    """The number of nodes."""
    depth: int
    """The number of nodes on the longest path."""
    topology: str
    """CHAIN if no node has two inputs, else TREE."""
    relates: int
    """Nodes that move to related objects."""
    sames: int
    """Nodes that move to objects with the same value."""
    filters: int
    attributes: str
    """The attributes of its filters: "color, shape"."""


_NO_PROGRAM = "expected a list of nodes with a function and a list of inputs"


class ProgramReader:
    """Finds the facts of programs among rows. Programs of equal functions and inputs share one row."""

    def __init__(self, rows: FieldRows) -> None:
        self._rows = rows
        self._known: dict[tuple[Any, ...], tuple[int, str]] = {}

    def find(self, program: Sequence[Mapping[str, Any]]) -> tuple[int, str]:
        """Return the number of the row, and the last function, of raw nodes in either dialect.

        FieldFault for what is no program.

        As each function has a fixed number of inputs, the key says which node has which. (A loop takes 1.9 µs for a
        program of 9 nodes, `map` and `chain` 3.1: `bench evaluate`.)
        """
        key: list[Any] = []
        try:
            name = "function" if "function" in program[0] else "type"
            for node in program:
                key.append(node[name])
                key += node["inputs"]
            known = self._known.get(tuple(key))
        except (AttributeError, KeyError, TypeError):
            raise FieldFault("program", _NO_PROGRAM) from None
        if known is None:
            facts = _facts([str(node[name]) for node in program], [node["inputs"] for node in program])
            known = self._known[tuple(key)] = self._rows[facts], facts.function
        return known


def _facts(names: Sequence[str], inputs: Sequence[Sequence[int]]) -> ProgramFacts:
    """Return the facts of a program. FieldFault for an input that is no earlier node."""
    depths: list[int] = []
    for number, listed in enumerate(inputs):
        if any(type(each) is not int or not 0 <= each < number for each in listed):
            raise FieldFault("program", f"node {number}: expected inputs that are earlier nodes, found {list(listed)}")
        depths.append(1 + max((depths[each] for each in listed), default=0))
    filtered = [name.removeprefix("filter_") for name in names if name.startswith("filter_")]
    return ProgramFacts(
        names[-1],
        len(names),
        depths[-1],
        CHAIN if all(len(listed) < 2 for listed in inputs) else TREE,
        names.count("relate"),
        sum(name.startswith("same_") for name in names),
        len(filtered),
        ", ".join(sorted(set(filtered))),
    )


@lru_cache
def question_type(function: str) -> str:
    """Return the question type of programs that end in a function, in a domain that need not be known.

    >>> question_type("query_color"), question_type("equal_season"), question_type("less_than")
    ('query', 'compare_attribute', 'compare_integer')
    """
    declared = BUILT_IN.functions.values()
    own = [each for each in declared if function in (each.name, *each.aliases)]
    # `query_{name}` stands for query_color, query_shape, …
    families = [each for each in declared if each.per_attribute and function.startswith(each.name.partition("{")[0])]
    found = next(iter(own or families), None)
    return (found.asks if found else None) or function


class FamilyNames(dict[tuple[Any, Any], str | None]):
    """(template file, family index) of a record -> the name of its family: `one_hop.json#count` if the info lists ids.

    A family is a template file with an index inside it, or (in released files) an index alone.
    """

    def __init__(self, info: Mapping[str, Any]) -> None:
        ids = list(family_ids(info))
        self.update((("", index), each) for index, each in enumerate(ids))
        for file, listed in groupby(ids, key=lambda each: each.partition("#")[0]):
            self.update(((file, index), each) for index, each in enumerate(listed))

    def __missing__(self, key: tuple[Any, Any]) -> str | None:
        file, index = key
        if index is None:
            name = None if file is None else str(file)
        elif file:
            name = f"{file}#{index}"
        else:  # any other way to name no file
            name = self.get(("", index), f"#{index}")
        self[key] = name
        return name


def family_ids(info: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ids of all families, in order; nothing if the info does not number all of them."""
    match info:
        case {"generator": {"name": "vqagen", "settings": dict(settings), "families": list(ids)}}:
            if not any(settings.get(name) for name in ("only", "skip_bad_templates")):
                yield from map(str, ids)
