"""The slow, obvious twin of the question generator: what it may generate, by plain sets and loops over raw JSON.

Nothing is imported from the package and nothing is shared with it but the meaning of the files, so an agreement
between the two says something. An object is its index in the scene, a set of objects a frozenset, an open slot None.
Not covered: attributes with several values or with a hierarchy of values, relations not given as adjacency lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

Record = Mapping[str, Any]
Value = bool | int | str | frozenset[int]
Description = tuple[str | None, ...]

COMPOSITE = re.compile(r"(relate_)?filter(_unique|_count|_exist)?")
MAY_BE_ABSENT = {"filter", "filter_count", "filter_exist"}
POLICIES = {"none", "clevr", "all"}


class Undefined(Exception):
    """The program has no answer on this scene: `unique` of not exactly one object, or a value that is missing."""


class Instantiation(NamedTuple):
    """One way to fill a template: slots sorted by name as (name, value or None), program as (type, inputs, values)."""

    slots: tuple[tuple[str, str | None], ...]
    program: tuple[tuple[str, tuple[int, ...], tuple[str, ...]], ...]
    answer: Value


class Reference(NamedTuple):
    """How one `unique` node finds its object: the chain's source and its filters as (filter type, value)."""

    step: int
    source: str
    filters: tuple[tuple[str, str], ...]
    removable: tuple[tuple[str, str], ...]


class World(NamedTuple):
    """A scene with a vocabulary: `keys[x]` is where an object keeps attribute x, `start` is what `scene` returns."""

    scene: Record
    keys: Mapping[str, str]
    start: frozenset[int]

    def value(self, attribute: str, thing: int) -> str | None:
        """The object's value of the attribute, None where it has none; a key `text.body` looks into `text`."""
        found = self.scene["objects"][thing]
        for part in self.keys[attribute].split("."):
            found = None if found is None else found.get(part)
        return found


# Vocabulary -------------------------------------------------------------------------------------------------------


def values_of(metadata: Record, type_name: str) -> list[str]:
    """Values of a type, in the metadata's order; empty for Object, ObjectSet, Integer, Bool."""
    entry = metadata["types"][type_name]
    return list(entry["values"] if isinstance(entry, dict) else entry or [])


def attribute_types(metadata: Record) -> list[str]:
    """The types whose values an object can have: all types with values but Relation."""
    return [name for name in metadata["types"] if name != "Relation" and values_of(metadata, name)]


def attribute_keys(metadata: Record) -> dict[str, str]:
    """Attribute (lower-cased type name, as in `filter_color`) -> key in an object's record."""
    entries = {name: metadata["types"][name] for name in attribute_types(metadata)}
    given = {name: entry.get("key") if isinstance(entry, dict) else None for name, entry in entries.items()}
    return {name.lower(): key or name.lower() for name, key in given.items()}


def make_world(scene: Record, metadata: Record, start: Sequence[int] | None = None) -> World:
    """The scene with its vocabulary; `start` None means all objects."""
    objects = range(len(scene["objects"])) if start is None else start
    return World(scene, attribute_keys(metadata), frozenset(objects))


# Running programs -------------------------------------------------------------------------------------------------


def _unique(things: frozenset[int]) -> int:
    if len(things) != 1:
        raise Undefined(f"unique of {len(things)} objects")
    return min(things)


def _relate(world: World, thing: int, relation: str) -> frozenset[int]:
    return frozenset(world.scene["relationships"][relation][thing])


def _filter(world: World, attribute: str, things: frozenset[int], value: str) -> frozenset[int]:
    return frozenset(thing for thing in things if world.value(attribute, thing) == value)


def _query(world: World, attribute: str, thing: int) -> str:
    value = world.value(attribute, thing)
    if value is None:
        raise Undefined(f"object {thing} has no {attribute}")
    return value


def _same(world: World, attribute: str, thing: int) -> frozenset[int]:
    """The other objects with the same value, in the whole scene; an object without a value has no peers."""
    value, others = world.value(attribute, thing), set(range(len(world.scene["objects"]))) - {thing}
    return frozenset(other for other in others if value is not None and world.value(attribute, other) == value)


PLAIN: dict[str, Callable[..., Value]] = {
    "scene": lambda world: world.start,
    "unique": lambda world, things: _unique(things),
    "relate": _relate,
    "union": lambda world, first, second: first | second,
    "intersect": lambda world, first, second: first & second,
    "count": lambda world, things: len(things),
    "exist": lambda world, things: len(things) > 0,
    "equal_integer": lambda world, first, second: first == second,
    "equal_object": lambda world, first, second: first == second,
    "less_than": lambda world, first, second: first < second,
    "greater_than": lambda world, first, second: first > second,
}
FAMILIES: dict[str, Callable[..., Value]] = {
    "filter": _filter,
    "query": _query,
    "same": _same,
    "equal": lambda world, attribute, first, second: first == second,
}


def run_step(world: World, name: str, inputs: Sequence[Value], values: Sequence[str]) -> Value:
    """Output of one function, by its name, on the outputs of earlier steps and its own values."""
    if name in PLAIN:
        return PLAIN[name](world, *inputs, *values)
    family, _, attribute = name.partition("_")
    return FAMILIES[family](world, attribute, *inputs, *values)


def step_type(step: Record) -> str:
    """The function's name in either dialect: `type` (the reference's script) or `function` (the released files)."""
    return step["type"] if "type" in step else step["function"]


def _run(world: World, program: Sequence[Record], forced: Mapping[int, Value]) -> list[Value]:
    results: list[Value] = []
    for index, step in enumerate(program):
        inputs = [results[i] for i in step["inputs"]]
        values = step.get("value_inputs", [])
        results.append(forced[index] if index in forced else run_step(world, step_type(step), inputs, values))
    return results


def outputs(
    program: Sequence[Record], scene: Record, metadata: Record, start: Sequence[int] | None = None
) -> list[Value]:
    """Output of every step, in order; raises Undefined. Objects are indexes, sets frozensets of indexes."""
    return _run(make_world(scene, metadata, start), program, {})


def answer(program: Sequence[Record], scene: Record, metadata: Record, start: Sequence[int] | None = None) -> Value:
    """Output of the last step; raises Undefined. `start`: the objects `scene` returns instead of all."""
    return outputs(program, scene, metadata, start)[-1]


# Degenerate questions, "other", needless words ---------------------------------------------------------------------


def is_degenerate(
    program: Sequence[Record], scene: Record, metadata: Record, policy: str, template_has_raw_relate: bool
) -> bool:
    """Whether some relation could be left out without effect.

    none: never. clevr: only for templates with a raw `relate` node; a `relate` is replaced by the whole scene and the
    answer stays. all: a `relate` or `same_x` is replaced by all objects but its anchor, and what decides stays: for
    compared values the inputs of the last step, else the answer; programs that end in exist, or in a comparison of
    numbers, are never degenerate. A program that becomes undefined is not degenerate.
    """
    if policy not in POLICIES:
        raise ValueError(f"no degeneracy policy {policy!r}")
    if policy == "none" or (policy == "clevr" and not template_has_raw_relate):
        return False
    if policy == "all" and step_type(program[-1]) in ("exist", "equal_integer", "less_than", "greater_than"):
        return False
    world = make_world(scene, metadata)
    unchanged = _run(world, program, {})
    test = _is_idle_everywhere if policy == "all" else _is_idle_as_scene
    return any(test(world, program, unchanged, index) for index in range(len(program)))


def _is_idle_as_scene(world: World, program: Sequence[Record], unchanged: list[Value], index: int) -> bool:
    if step_type(program[index]) != "relate":
        return False
    changed = _run_or_none(world, program, {index: world.start})
    return changed is not None and changed[-1] == unchanged[-1]


def _is_idle_everywhere(world: World, program: Sequence[Record], unchanged: list[Value], index: int) -> bool:
    if step_type(program[index]) != "relate" and not step_type(program[index]).startswith("same_"):
        return False
    anchor = unchanged[program[index]["inputs"][0]]
    changed = _run_or_none(world, program, {index: world.start - {anchor}})
    if changed is None:
        return False
    deciding = program[-1]["inputs"] if isinstance(unchanged[-1], bool) else [-1]
    return all(changed[i] == unchanged[i] for i in deciding)


def _run_or_none(world: World, program: Sequence[Record], forced: Mapping[int, Value]) -> list[Value] | None:
    try:
        return _run(world, program, forced)
    except Undefined:
        return None


def is_filter(step: Record) -> bool:
    """Whether the step is one of the primitive filters `filter_x`."""
    return step_type(step).startswith("filter_")


def needs_other(program: Sequence[Record], scene: Record, metadata: Record) -> bool | None:
    """Whether an anchor of a `same_x` itself fits the filters that directly follow, so that the text must say "other".

    None when no `same_x` is followed by a filter. With several such chains: whether any of them needs it.
    """
    world, results = make_world(scene, metadata), outputs(program, scene, metadata)
    fits = []
    for index, step in enumerate(program):
        chain = _filters_after(program, index) if step_type(step).startswith("same_") else []
        if chain:
            anchor = frozenset([results[step["inputs"][0]]])
            fits.append(_filtered(world, anchor, chain) == anchor)
    return any(fits) if fits else None


def _filters_after(program: Sequence[Record], index: int) -> list[Record]:
    """The chain of filters that starts at the step's output; of two chains that start there, the first."""
    chain = []
    for later, step in enumerate(program):
        if is_filter(step) and step["inputs"] == [index]:
            chain.append(step)
            index = later
    return chain


def _filtered(world: World, things: frozenset[int], chain: Sequence[Record]) -> frozenset[int]:
    for step in chain:
        things = run_step(world, step_type(step), [things], step["value_inputs"])
    return things


def references(program: Sequence[Record], scene: Record, metadata: Record) -> list[Reference]:
    """For each `unique`, in program order: its chain, and the filters any one of which could go (same object)."""
    world, results = make_world(scene, metadata), outputs(program, scene, metadata)
    uniques = [index for index, step in enumerate(program) if step_type(step) == "unique"]
    return [_reference(world, program, results, index) for index in uniques]


def _reference(world: World, program: Sequence[Record], results: list[Value], unique: int) -> Reference:
    source, chain = _filters_before(program, program[unique]["inputs"][0])
    named = [(step_type(step), step["value_inputs"][0]) for step in chain]
    removable = []
    for index, name in enumerate(named):
        rest = chain[:index] + chain[index + 1 :]
        if _filtered(world, results[source], rest) == frozenset([results[unique]]):
            removable.append(name)
    return Reference(unique, step_type(program[source]), tuple(named), tuple(removable))


def _filters_before(program: Sequence[Record], index: int) -> tuple[int, list[Record]]:
    """The step that feeds the chain of filters ending at `index`, and the chain in program order."""
    chain: list[Record] = []
    while is_filter(program[index]):
        chain.insert(0, program[index])
        index = program[index]["inputs"][0]
    return index, chain


# Filling templates ------------------------------------------------------------------------------------------------


class Filling(NamedTuple):
    """A template filled up to some node; `places[i]` is the step that holds the output of template node i."""

    bound: Mapping[str, str | None]
    program: tuple[tuple[str, tuple[int, ...], tuple[str, ...]], ...]
    results: tuple[Value, ...]
    places: tuple[int, ...]


class Option(NamedTuple):
    """One way to fill a node: what its slots become, and the steps (type, values) it turns into."""

    bound: Mapping[str, str | None]
    steps: Sequence[tuple[str, tuple[str, ...]]]


class Search(NamedTuple):
    """What stays the same while one template is filled; the two switches are those of `each_instantiation`."""

    template: Record
    world: World
    metadata: Record
    trivial: bool
    absent: bool


class Composite(NamedTuple):
    """A composite node; `described` holds (side input, attribute), `fitting` all objects of the scene that fit."""

    kind: str
    relation_side: str  # "" if the node does not relate
    described: Sequence[tuple[str, str]]
    fitting: Mapping[Description, frozenset[int]]


def instantiations(
    template: Record,
    scene: Record,
    metadata: Record,
    trivial: bool = True,
    degeneracy: str = "none",
    absent: bool = False,
    given: Mapping[str, str | None] | None = None,
) -> set[Instantiation]:
    """Every way to fill the template on this scene; the arguments are those of `each_instantiation`."""
    return set(each_instantiation(template, scene, metadata, trivial, degeneracy, absent, given))


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
    degeneracy: policy of `is_degenerate`. absent: add the descriptions that fit no object of the scene where
    the generator may draw one at random (filter, filter_count, filter_exist).
    given: slots whose values are fixed, for a slice of a large set or to ask whether one filling is in it.
    """
    search = Search(template, make_world(scene, metadata), metadata, trivial, absent)
    fillings: Iterator[Filling] = iter([Filling(dict(given or {}), (), (), ())])
    for node in template["nodes"]:
        fillings = _with_node(search, fillings, node)
    has_raw_relate = any(node["type"] == "relate" for node in template["nodes"])
    for filling in fillings:
        if not is_degenerate(program_records(filling.program), scene, metadata, degeneracy, has_raw_relate):
            yield Instantiation(tuple(sorted(filling.bound.items())), filling.program, filling.results[-1])


def program_records(program: Sequence[tuple[str, Sequence[int], Sequence[str]]]) -> list[dict[str, Any]]:
    """An instantiation's program as it stands in a file: dicts with type, inputs, value_inputs."""
    return [{"type": name, "inputs": [*inputs], "value_inputs": [*values]} for name, inputs, values in program]


def narrowed(template: Record, open_types: Sequence[str]) -> dict[str, Any]:
    """The template with all slots of these types left open in composite nodes: a far smaller set of the same shape.

    Done by NULL constraints, so that any engine that knows them finds the same set.
    """
    types = {param["name"]: param["type"] for param in template["params"]}
    sides = [side for node in template["nodes"] if COMPOSITE.fullmatch(node["type"]) for side in node["side_inputs"]]
    extra = [{"type": "NULL", "params": [side]} for side in sides if types.get(side) in open_types]
    return {**template, "constraints": [*(template.get("constraints") or []), *extra]}


def _with_node(search: Search, fillings: Iterator[Filling], node: Record) -> Iterator[Filling]:
    """Each filling, extended by the node in each way that agrees with it, is defined and breaks no constraint."""
    composite = _composite(search, node) if COMPOSITE.fullmatch(node["type"]) else None
    for filling in fillings:
        inputs = [filling.results[filling.places[i]] for i in node["inputs"]]
        options = _composite_options(search, composite, inputs[0]) if composite else _plain_options(search, node)
        for option in options:
            bound = {**filling.bound, **option.bound}
            if _agrees(filling.bound, option.bound) and _is_allowed(search.template, bound):
                longer = _extended(search.world, filling, node, option)
                if longer is not None and _is_allowed(search.template, _node_outputs(longer)):
                    yield longer


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


def _is_slot(side_input: str) -> bool:
    return side_input.startswith("<")


def _slot_type(template: Record, slot: str) -> str:
    return next(param["type"] for param in template["params"] if param["name"] == slot)


def _plain_options(search: Search, node: Record) -> Iterator[Option]:
    """A primitive node: every value of the declared type for a slot, the value itself for a literal."""
    sides = node.get("side_inputs", [])
    for values in product(*[_domain(search, side) for side in sides]):
        bound = {side: value for side, value in zip(sides, values, strict=True) if _is_slot(side)}
        yield Option(bound, [(node["type"], values)])


def _domain(search: Search, side: str) -> list[str]:
    return values_of(search.metadata, _slot_type(search.template, side)) if _is_slot(side) else [side]


def _composite(search: Search, node: Record) -> Composite:
    """What a composite node may say, whatever it is applied to."""
    typed = [(side, _side_type(search, side)) for side in node["side_inputs"]]
    relation_side = next((side for side, type_name in typed if type_name == "Relation"), "")
    described = [(side, type_name.lower()) for side, type_name in typed if type_name != "Relation"]
    words = _present_descriptions(search, described)
    if search.absent and node["type"] in MAY_BE_ABSENT:
        words += _absent_descriptions(search, described)
    attributes = [attribute for _, attribute in described]
    fitting = {description: _fitting(search.world, attributes, description) for description in words}
    return Composite(node["type"], relation_side, described, fitting)


def _side_type(search: Search, side: str) -> str:
    """Type of a slot as declared, of a literal the first type that has this value."""
    if _is_slot(side):
        return _slot_type(search.template, side)
    return next(name for name in search.metadata["types"] if side in values_of(search.metadata, name))


def _present_descriptions(search: Search, described: Sequence[tuple[str, str]]) -> list[Description]:
    """All subsets of the described values of every object; a literal is never left out. Each once."""
    found: dict[Description, None] = {}
    for thing in range(len(search.world.scene["objects"])):
        values = [(side, search.world.value(attribute, thing)) for side, attribute in described]
        words = [{None: 0, value: 0} if _is_slot(side) else {side: 0} for side, value in values]
        if all(_is_slot(side) or side == value for side, value in values):
            found.update(dict.fromkeys(product(*words)))
    return list(found)


def _absent_descriptions(search: Search, described: Sequence[tuple[str, str]]) -> list[Description]:
    """All descriptions in the vocabulary's words that fit no object of the scene."""
    words = [[None, *_domain(search, side)] if _is_slot(side) else [side] for side, _ in described]
    attributes = [attribute for _, attribute in described]
    return [description for description in product(*words) if not _fitting(search.world, attributes, description)]


def _fitting(world: World, attributes: Sequence[str], description: Description) -> frozenset[int]:
    """All objects of the scene that have every value of the description that is set."""
    wanted = [(name, word) for name, word in zip(attributes, description, strict=True) if word is not None]
    things = range(len(world.scene["objects"]))
    return frozenset(thing for thing in things if all(world.value(name, thing) == word for name, word in wanted))


def _composite_options(search: Search, composite: Composite, value: Any) -> Iterator[Option]:
    """Relations (if the node relates) times descriptions that leave as many objects as its kind wants."""
    for relation, near in _neighbourhoods(search, composite, value):
        for description, fitting in composite.fitting.items():
            is_trivial = relation is not None and near & fitting == fitting
            if _wants(composite.kind, description, near & fitting) and (search.trivial or not is_trivial):
                yield _composite_option(composite, relation, description)


def _neighbourhoods(search: Search, composite: Composite, value: Any) -> list[tuple[str | None, frozenset[int]]]:
    """The sets a description is applied to: (None, the input set), or for an anchor (relation, its relatives)."""
    if not composite.relation_side:
        return [(None, value)]
    relations = _domain(search, composite.relation_side)
    return [(relation, _relate(search.world, value, relation)) for relation in relations]


def _wants(kind: str, description: Description, chosen: frozenset[int]) -> bool:
    """Whether a composite node of this kind may choose these objects by this description."""
    if kind.endswith("_unique"):
        return len(chosen) == 1
    if kind == "filter":
        return any(word is not None for word in description)
    return len(chosen) >= 1 if kind == "relate_filter" else True


def _composite_option(composite: Composite, relation: str | None, description: Description) -> Option:
    """Steps: relate, a filter per attribute that is set in the side inputs' order, then unique, count or exist."""
    words = list(zip(composite.described, description, strict=True))
    ending = composite.kind.rpartition("_")[2]
    steps = [] if relation is None else [("relate", (relation,))]
    steps += [(f"filter_{attribute}", (word,)) for (_, attribute), word in words if word is not None]
    steps += [(ending, ())] if ending in {"unique", "count", "exist"} else []
    filled = [(composite.relation_side, relation), *((side, word) for (side, _), word in words)]
    return Option({side: word for side, word in filled if _is_slot(side)}, steps)


def _node_outputs(filling: Filling) -> dict[int, Value]:
    """Template node -> its output; of a composite node the output of its last step."""
    return {node: filling.results[place] for node, place in enumerate(filling.places)}


def _is_allowed(template: Record, known: Mapping[Any, Value | None]) -> bool:
    """Whether no constraint is broken of those on slots (texts) or nodes (numbers) that are all known."""
    constraints = template.get("constraints") or []
    decided = [constraint for constraint in constraints if all(param in known for param in constraint["params"])]
    return all(CONSTRAINTS[c["type"]](*[known[param] for param in c["params"]]) for c in decided)


CONSTRAINTS: dict[str, Callable[..., bool]] = {
    "NULL": lambda *words: all(word is None for word in words),
    "NOT_NULL": lambda *words: all(word is not None for word in words),
    "EQ": lambda first, second: first == second,
    "NEQ": lambda first, second: first != second,
    "OUT_EQ": lambda first, second: first == second,
    "OUT_NEQ": lambda first, second: first != second,
}
