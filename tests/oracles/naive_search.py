"""Filling templates node by node, first node slowest: the part of the slow twin (see `naive`) that generates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from oracles.naive_constraints import is_allowed
from oracles.naive_descriptions import (
    Option,
    Search,
    composite_options,
    domain_of,
    is_composite,
    is_slot,
    make_composite,
)
from oracles.naive_programs import Undefined, Value, program_records, run_step, step_type, step_values
from oracles.naive_relevance import has_idle_relation
from oracles.naive_vocabulary import Record, World, make_world
from oracles.naive_words import facts_of, is_trivial

Steps = tuple[tuple[str, tuple[int, ...], tuple[str, ...]], ...]


class Instantiation(NamedTuple):
    """One way to fill a template: slots sorted by name as (name, value or None), program as (type, inputs, values)."""

    slots: tuple[tuple[str, str | None], ...]
    program: Steps
    answer: Value


class Filling(NamedTuple):
    """A template filled up to some node; `places[i]` is the step that holds the output of template node i."""

    bound: Mapping[str, str | None]
    program: Steps
    results: tuple[Value, ...]
    places: tuple[int, ...]


def instantiations(template: Record, scene: Record, metadata: Record, degeneracy: str = "none") -> set[Instantiation]:
    """Every way to fill the template on this scene; the arguments are those of `each_instantiation`."""
    return set(each_instantiation(template, scene, metadata, degeneracy=degeneracy))


def each_instantiation(
    template: Record,
    scene: Record,
    metadata: Record,
    trivial: bool = True,
    degeneracy: str = "none",
    absent: bool = False,
    given: Mapping[str, str | None] | None = None,
) -> Iterator[Instantiation]:
    """Yield every way to fill the template, node by node, first node slowest; each once.

    Only two things cut the search short: a step that is undefined, and a constraint all of whose slots or nodes are
    known. All is lazy, so the first ones come at once even where there are millions (two or more related phrases of
    four attributes): there, take a slice by `given` or a smaller question by `narrowed`.

    trivial: keep relations that add nothing, because everything that fits the description stands in the relation.
    degeneracy: policy of `is_degenerate`; "all" also leaves out what is trivial (see `naive_words`).
    absent: add the descriptions that fit no object of the scene where the generator may draw one at random (filter,
    filter_count, filter_exist).
    given: slots whose values are fixed, for a slice of a large set or to ask whether one filling is in it.
    """
    search = Search(template, make_world(scene, metadata), metadata, trivial, absent)
    fillings: Iterator[Filling] = iter([Filling(dict(given or {}), (), (), ())])
    for node in template["nodes"]:
        fillings = _with_node(search, fillings, node)
    has_raw_relate = any(step_type(node) == "relate" for node in template["nodes"])
    facts = facts_of(metadata)
    for filling in fillings:
        program = program_records(filling.program)
        is_told = degeneracy == "all" and is_trivial(facts, program, filling.results)
        if not is_told and not has_idle_relation(search.world, program, degeneracy, has_raw_relate):
            yield Instantiation(tuple(sorted(filling.bound.items())), filling.program, filling.results[-1])


def narrowed(template: Record, open_types: Sequence[str]) -> dict[str, Any]:
    """The template with all slots of these types left open in composite nodes: a far smaller set of the same shape.

    Done by NULL constraints, so that any engine that knows them finds the same set.
    """
    types = {param["name"]: param["type"] for param in template["params"]}
    sides = [side for node in template["nodes"] if is_composite(node) for side in step_values(node)]
    extra = [{"type": "NULL", "params": [side]} for side in sides if types.get(side) in open_types]
    return {**template, "constraints": [*(template.get("constraints") or []), *extra]}


def _with_node(search: Search, fillings: Iterator[Filling], node: Record) -> Iterator[Filling]:
    """Each filling, extended by the node in each way that agrees with it, is defined and breaks no constraint."""
    composite = make_composite(search, node) if is_composite(node) else None
    for filling in fillings:
        inputs = [filling.results[filling.places[i]] for i in node["inputs"]]
        options = composite_options(search, composite, inputs[0]) if composite else plain_options(search, node)
        for option in options:
            longer = with_option(search, filling, node, option)
            if longer is not None:
                yield longer


def with_option(search: Search, filling: Filling, node: Record, option: Option) -> Filling | None:
    """The filling, extended by the node in one way; None where that breaks something or is undefined."""
    bound = {**filling.bound, **option.bound}
    if not _agrees(filling.bound, option.bound) or not is_allowed(search.template, bound):
        return None
    longer = _extended(search.world, filling, node, option)
    return longer if longer is not None and is_allowed(search.template, _node_outputs(longer)) else None


def plain_options(search: Search, node: Record) -> Iterator[Option]:
    """A primitive node: every value of the declared type for a slot, the value itself for a literal."""
    sides = step_values(node)
    for values in product(*[domain_of(search, side) for side in sides]):
        bound = {side: value for side, value in zip(sides, values, strict=True) if is_slot(side)}
        yield Option(bound, [(step_type(node), values)])


def _agrees(bound: Mapping[str, str | None], new: Mapping[str, str | None]) -> bool:
    """A slot that is bound already keeps its value (or stays open)."""
    return all(bound[slot] == value for slot, value in new.items() if slot in bound)


def _extended(world: World, filling: Filling, node: Record, option: Option) -> Filling | None:
    """The filling with the option's steps, each fed by the one before; None where a step is undefined."""
    program, results = list(filling.program), list(filling.results)
    inputs = tuple(filling.places[i] for i in node["inputs"])
    for name, values in option.steps:
        try:
            results.append(run_step(world, name, [results[i] for i in inputs], values))
        except Undefined:
            return None
        program.append((name, inputs, values))
        inputs = (len(program) - 1,)
    bound = {**filling.bound, **option.bound}
    return Filling(bound, tuple(program), tuple(results), (*filling.places, len(program) - 1))


def _node_outputs(filling: Filling) -> dict[int, Value]:
    """Template node -> its output; of a composite node the output of its last step."""
    return {node: filling.results[place] for node, place in enumerate(filling.places)}
