"""Composite nodes of templates: the descriptions that one may say, for the slow twin (see `naive`).

A composite node `[relate_]filter[_unique|_not_unique|_count|_exist]` describes objects by the attributes that its own
side inputs have the types of, in their order. Each side input is open (None) or says one thing of the object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from oracles.naive_programs import relatives, step_type, step_values
from oracles.naive_vocabulary import Record, World, attribute_types, relation_type, values_of

Description = tuple[str | None, ...]

COMPOSITE = re.compile(r"(?P<relate>relate_)?filter(?:_(?P<ending>unique|not_unique|count|exist))?")
MAY_BE_ABSENT = {"filter", "filter_count", "filter_exist"}


class Search(NamedTuple):
    """What stays the same while one template is filled; the two switches are those of `each_instantiation`."""

    template: Record
    world: World
    metadata: Record
    trivial: bool
    absent: bool


class Option(NamedTuple):
    """One way to fill a node: what its slots become, and the steps (type, values) it turns into."""

    bound: Mapping[str, str | None]
    steps: Sequence[tuple[str, tuple[str, ...]]]


class Composite(NamedTuple):
    """A composite node; `described` holds (side input, attribute), `fitting` all objects of the scene that fit."""

    relates: bool
    ending: str | None
    relation_side: str  # "" if the node does not relate
    described: Sequence[tuple[str, str]]
    fitting: Mapping[Description, frozenset[int]]


def is_composite(node: Record) -> bool:
    """Whether the node of a template stands for several steps of a program."""
    return COMPOSITE.fullmatch(step_type(node)) is not None


def is_slot(side_input: str) -> bool:
    """Whether the side input is to be filled; otherwise it is a word already."""
    return side_input.startswith("<")


def domain_of(search: Search, side: str) -> list[str]:
    """The words that a side input may become: all of the slot's type, or the literal alone."""
    if not is_slot(side):
        return [side]
    type_name = _slot_type(search.template, side)
    return [str(number) for number in range(1, 11)] if type_name == "Integer" else values_of(search.metadata, type_name)


def make_composite(search: Search, node: Record) -> Composite:
    """What a composite node may say, whatever it is applied to."""
    name = COMPOSITE.fullmatch(step_type(node))
    assert name is not None
    typed = [(side, _side_type(search, side)) for side in step_values(node)]
    relation = relation_type(search.metadata)
    relation_side = next((side for side, type_name in typed if type_name == relation), "")
    described = [(side, type_name.lower()) for side, type_name in typed if type_name != relation]
    words = _present_descriptions(search, described)
    if search.absent and step_type(node) in MAY_BE_ABSENT:
        words += _absent_descriptions(search, described)
    fitting = {description: _fitting(search.world, described, description) for description in words}
    return Composite(name["relate"] is not None, name["ending"], relation_side, described, fitting)


def _slot_type(template: Record, slot: str) -> str:
    return next(param["type"] for param in template["params"] if param["name"] == slot)


def _side_type(search: Search, side: str) -> str:
    """Type of a slot as declared, of a literal the first type that has this value."""
    if is_slot(side):
        return _slot_type(search.template, side)
    types = [*attribute_types(search.metadata), relation_type(search.metadata)]
    return next(name for name in types if side in values_of(search.metadata, name))


def _present_descriptions(search: Search, described: Sequence[tuple[str, str]]) -> list[Description]:
    """All that can be said of every object, each side input open or one thing; a literal is always said. Each once."""
    found: dict[Description, None] = {}
    for thing in sorted(search.world.everything):
        sayable = [(side, search.world.sayable[attribute][thing]) for side, attribute in described]
        words = [[None, *said] if is_slot(side) else [side] if side in said else [] for side, said in sayable]
        found.update(dict.fromkeys(product(*words)))
    return list(found)


def _absent_descriptions(search: Search, described: Sequence[tuple[str, str]]) -> list[Description]:
    """All descriptions in the vocabulary's words that fit no object of the scene."""
    words = [[None, *domain_of(search, side)] if is_slot(side) else [side] for side, _ in described]
    return [description for description in product(*words) if not _fitting(search.world, described, description)]


def _fitting(world: World, described: Sequence[tuple[str, str]], description: Description) -> frozenset[int]:
    """All objects of the scene of which everything can be said that the description says."""
    wanted = [(name, word) for (_, name), word in zip(described, description, strict=True) if word is not None]
    return frozenset(
        each for each in world.everything if all(word in world.sayable[name][each] for name, word in wanted)
    )


# Options ----------------------------------------------------------------------------------------------------------


def composite_options(search: Search, composite: Composite, value: Any) -> Iterator[Option]:
    """Relations (if the node relates) times descriptions that leave as many objects as its kind wants."""
    for relation, near in neighborhoods(search, composite, value):
        for description, fitting in composite.fitting.items():
            is_trivial = relation is not None and near & fitting == fitting
            if wants(composite, description, near & fitting) and (search.trivial or not is_trivial):
                yield option_of(composite, relation, description)


def neighborhoods(search: Search, composite: Composite, value: Any) -> list[tuple[str | None, frozenset[int]]]:
    """The sets a description is applied to: (None, the input set), or for an anchor (relation, its relatives)."""
    if not composite.relates:
        return [(None, value)]
    relations = domain_of(search, composite.relation_side)
    return [(relation, relatives(search.world, value, relation)) for relation in relations]


def wants(composite: Composite, description: Description, chosen: frozenset[int]) -> bool:
    """Whether a composite node of this kind may choose these objects by this description."""
    if composite.ending == "unique":
        return len(chosen) == 1
    if composite.ending == "not_unique":
        return len(chosen) > 1
    if composite.ending is not None:
        return True
    return len(chosen) >= 1 if composite.relates else any(word is not None for word in description)


def option_of(composite: Composite, relation: str | None, description: Description) -> Option:
    """Steps: relate, a filter per attribute that is set in the side inputs' order, then unique, count, …"""
    words = list(zip(composite.described, description, strict=True))
    steps = [] if relation is None else [("relate", (relation,))]
    steps += [(f"filter_{attribute}", (word,)) for (_, attribute), word in words if word is not None]
    steps += [] if composite.ending is None else [(composite.ending, ())]
    filled = [(composite.relation_side, relation), *((side, word) for (side, _), word in words)]
    return Option({side: word for side, word in filled if is_slot(side)}, steps)
