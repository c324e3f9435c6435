"""Fields of a question by which results are grouped: those that its program decides, and the name of its family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, NamedTuple

from vqagen.score.gold.item import FieldValue
from vqagen.score.gold.question_facts import question_type

CHAIN, TREE = "chain", "tree"
_TYPE, _FUNCTION, _INPUTS = itemgetter("type"), itemgetter("function"), itemgetter("inputs")


class ProgramFacts(NamedTuple):
    """The facts of a program that depend on its functions and inputs only."""

    category: str
    """The question type of its last function: count, exist, query, compare_integer, compare_attribute, …"""
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


NO_PROGRAM: Mapping[str, FieldValue] = dict.fromkeys(ProgramFacts._fields)


class ProgramReader:
    """Returns the fields of programs. Programs of equal functions and inputs share one result.

    As each function has a fixed number of inputs, the inputs of all nodes in one row say which node has which.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Mapping[str, FieldValue]] = {}

    def fields(self, program: Sequence[Mapping[str, Any]]) -> Mapping[str, FieldValue]:
        """Return the fields of raw nodes in either dialect. ValueError for what is no program."""
        try:
            name = _FUNCTION if "function" in program[0] else _TYPE
            key = (*map(name, program), *chain.from_iterable(map(_INPUTS, program)))
            known = self._known.get(key)
        except (AttributeError, KeyError, TypeError):
            raise ValueError("expected a list of nodes with a function and a list of inputs") from None
        if known is None:
            steps = [_Step(str(name(node)), _INPUTS(node)) for node in program]
            known = self._known[key] = program_facts(steps)._asdict()
        return known


class _Step(NamedTuple):
    function: str
    inputs: Sequence[int]


def program_facts(steps: Sequence[_Step]) -> ProgramFacts:
    """Return the facts of a program. ValueError for an input that is no earlier step."""
    if not steps:
        raise ValueError("expected at least one node")
    depths: list[int] = []
    for number, step in enumerate(steps):
        if any(type(each) is not int or not 0 <= each < number for each in step.inputs):
            raise ValueError(f"node {number}: expected inputs that are earlier nodes, found {list(step.inputs)}")
        depths.append(1 + max((depths[each] for each in step.inputs), default=0))
    names = [step.function for step in steps]
    filtered = sorted({name.removeprefix("filter_") for name in names if name.startswith("filter_")})
    return ProgramFacts(
        question_type(names[-1]),
        names[-1],
        len(steps),
        depths[-1],
        CHAIN if all(len(step.inputs) < 2 for step in steps) else TREE,
        names.count("relate"),
        sum(name.startswith("same_") for name in names),
        sum(name.startswith("filter_") for name in names),
        ", ".join(filtered),
    )


class FamilyNames:
    """The names of template families: ids such as `one_hop.json#count` if the file's info lists them.

    A family is a template file with an index inside it, or (in released files) an index alone.
    """

    def __init__(self, info: Mapping[str, Any]) -> None:
        ids = list(_family_ids(info))
        self._of_index = dict(enumerate(ids))
        self._of_place = {
            (file, index): each
            for file, listed in groupby(ids, key=lambda each: each.partition("#")[0])
            for index, each in enumerate(listed)
        }
        self._known: dict[tuple[Any, Any], str | None] = {}

    def name(self, record: Mapping[str, Any]) -> str | None:
        """Return the name of a question's family; None if the record names none."""
        key = record.get("template_filename"), record.get("question_family_index")
        try:
            return self._known[key]
        except KeyError:
            name = self._known[key] = self._name(*key)
            return name
        except TypeError:
            return None

    def _name(self, file: Any, index: Any) -> str | None:
        if index is None:
            return None if file is None else str(file)
        if file:
            return self._of_place.get((file, index), f"{file}#{index}")
        return self._of_index.get(index, f"#{index}")


def _family_ids(info: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ids of all families, in order; nothing if the info does not number all of them."""
    match info:
        case {"generator": {"name": "vqagen", "settings": dict(settings), "families": list(ids)}}:
            if not any(settings.get(name) for name in ("only", "skip_bad_templates")):
                yield from map(str, ids)
