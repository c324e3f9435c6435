"""Running programs, step by step, on plain sets: the part of the slow twin (see `naive`) that finds answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from oracles.naive_viewpoint import STEPS
from oracles.naive_vocabulary import Record, Undefined as Undefined, World, make_world

Value = bool | int | str | tuple[str, ...] | frozenset[int]
"""A step's output: an object is its index, a set of objects a frozenset, a list-valued answer a tuple."""


def outputs(
    program: Sequence[Record], scene: Record, metadata: Record, start: Sequence[int] | None = None
) -> list[Value]:
    """Output of every step, in order; raises Undefined. Objects are indexes, sets frozensets of indexes."""
    return run(make_world(scene, metadata, start), program)


def answer(program: Sequence[Record], scene: Record, metadata: Record, start: Sequence[int] | None = None) -> Value:
    """Output of the last step; raises Undefined. `start`: the objects `scene` returns instead of all."""
    return outputs(program, scene, metadata, start)[-1]


def run(world: World, program: Sequence[Record], forced: Mapping[int, Value] | None = None) -> list[Value]:
    """Output of every step; those of `forced` are as given, whatever they would be."""
    results: list[Value] = []
    for index, step in enumerate(program):
        inputs = [results[i] for i in step["inputs"]]
        is_forced = forced is not None and index in forced
        results.append(forced[index] if is_forced else run_step(world, step_type(step), inputs, step_values(step)))
    return results


def run_step(world: World, name: str, inputs: Sequence[Any], values: Sequence[str]) -> Value:
    """Output of one function, by its name, on the outputs of earlier steps and its own values."""
    if name in PLAIN:
        return PLAIN[name](world, *inputs, *values)
    family = next(each for each in FAMILIES if name.startswith(f"{each}_"))
    return FAMILIES[family](world, name.removeprefix(f"{family}_"), *inputs, *values)


def step_type(step: Record) -> str:
    """The function's name in either dialect: `type` (the reference's script) or `function` (the released files)."""
    return step["type"] if "type" in step else step["function"]


def step_values(step: Record) -> Sequence[str]:
    """The words of a step of a program (`value_inputs`), or the slots and words of a node of a template."""
    return step["value_inputs"] if "value_inputs" in step else step.get("side_inputs", [])


def is_filter(step: Record) -> bool:
    """Whether the step is one of the primitive filters `filter_x`."""
    return step_type(step).startswith("filter_")


def program_records(program: Sequence[tuple[str, Sequence[int], Sequence[str]]]) -> list[dict[str, Any]]:
    """Steps (type, inputs, values) as they stand in a file: dicts with type, inputs, value_inputs."""
    return [{"type": name, "inputs": [*inputs], "value_inputs": [*values]} for name, inputs, values in program]


# Functions --------------------------------------------------------------------------------------------------------


def _unique(world: World, things: frozenset[int]) -> int:
    if len(things) != 1:
        raise Undefined(f"unique of {len(things)} objects")
    return min(things)


def _not_unique(world: World, things: frozenset[int]) -> frozenset[int]:
    if len(things) < 2:
        raise Undefined(f"not_unique of {len(things)} objects")
    return things


def _subtract(world: World, first: int, second: int) -> int:
    if first < second:
        raise Undefined(f"{first} less {second} is below zero")
    return first - second


def _choose(world: World, things: frozenset[int], number: str) -> int:
    if len(things) < int(number):
        raise Undefined(f"there are no {number} things among {len(things)}")
    return int(number)


def relatives(world: World, thing: int, relation: str) -> frozenset[int]:
    """What stands in the relation to the object."""
    return frozenset(world.scene["relationships"][relation][thing])


def _filter(world: World, attribute: str, things: frozenset[int], word: str) -> frozenset[int]:
    return frozenset(thing for thing in things if word in world.sayable[attribute][thing])


def _query(world: World, attribute: str, thing: int) -> str | tuple[str, ...]:
    value = world.values[attribute][thing]
    if value is None:
        raise Undefined(f"object {thing} has no {attribute}")
    return value


def _same(world: World, attribute: str, thing: int) -> frozenset[int]:
    """The other objects of the whole scene with the same value."""
    value = _query(world, attribute, thing)
    return frozenset(each for each in world.everything - {thing} if world.values[attribute][each] == value)


def _different(world: World, attribute: str, thing: int) -> frozenset[int]:
    """The objects of the whole scene that have a value, and another one."""
    value = _query(world, attribute, thing)
    return frozenset(each for each in world.everything if world.values[attribute][each] not in (None, value))


def _count_different(world: World, attribute: str, things: frozenset[int]) -> int:
    """How many values the objects have between them; groups are no values, members of lists are."""
    found: set[str] = set()
    for thing in things:
        value = world.values[attribute][thing]
        found |= {value} if isinstance(value, str) else set(value or ())
    return len(found)


def _add(world: World, first: int, second: int) -> int:
    return first + second


PLAIN: dict[str, Callable[..., Value]] = {
    "scene": lambda world: world.start,
    "unique": _unique,
    "not_unique": _not_unique,
    "relate": relatives,
    "union": lambda world, first, second: first | second,
    "intersect": lambda world, first, second: first & second,
    "difference": lambda world, first, second: first - second,
    "count": lambda world, things: len(things),
    "exist": lambda world, things: len(things) > 0,
    "point": lambda world, thing: frozenset([thing]),
    "mark": lambda world, things: things,
    "equal_integer": lambda world, first, second: first == second,
    "equal_object": lambda world, first, second: first == second,
    "less_than": lambda world, first, second: first < second,
    "greater_than": lambda world, first, second: first > second,
    "add": _add,
    "addition": _add,
    "choose": _choose,
    "subtract": _subtract,
    "subtraction": _subtract,
    "and": lambda world, first, second: first and second,
    "or": lambda world, first, second: first or second,
    "not": lambda world, only: not only,
    **STEPS,
}
FAMILIES: dict[str, Callable[..., Value]] = {
    "filter": _filter,
    "query": _query,
    "same": _same,
    "different": _different,
    "equal": lambda world, attribute, first, second: first == second,
    "count_different": _count_different,
}
