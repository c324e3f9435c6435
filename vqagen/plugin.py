"""Decorators that declare what programs, constraints and scenes are made of beyond data.

vqagen's own functions and constraints are declared by the same decorators as those of a plug-in, a Python file given
with `--plugin`:

    from vqagen.plugin import Undefined, attribute, constraint, function, relation

    @function("Object", output="ObjectSet", asks="")
    def heavier(scene, anchor):            # a step of programs, under its own name
        '''The objects that weigh more than an object.'''

    @attribute("Side", values=["west", "east"])
    def side(thing, scene):                # an attribute that scene records do not hold: record -> value, None for none
        '''Which half of the picture an object is in.'''

    @relation("touching")
    def touching(thing, anchor, scene):    # whether `thing` stands in the relation to `anchor`, as records
        '''Less than a hand's breadth apart.'''

    @constraint("OUT_FAR", NODE, NODE)
    def far_apart(left, right):            # what must hold of slots' words or of nodes' outputs
        '''The two numbers differ by more than one.'''

The first line of a docstring is what `vqagen explain` tells of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Run = Callable[..., Any]
"""A step: (scene, *inputs, *values) -> result. Object sets are int masks, an object is its index (see `bits`)."""
Record = Mapping[str, Any]

RELATION, SAMENESS, EQUALITY = "relation", "sameness", "equality"
"""Roles a function can have in a question. RELATION: from an object to others that stand in some relation to it.
SAMENESS: the same, by likeness, so that the object itself would fit and is left out ("other"). EQUALITY: whether its
two inputs are equal."""

SLOT, SLOTS, NODE, NODES, CONSTANT, CONSTANTS = "slot", "slots", "node", "nodes", "constant", "constants"
"""Kinds of constraint parameters; the plural ones take one or more, and come last."""


class Undefined(Exception):
    """A step has no result in this scene, such as the unique member of a set of two."""


@dataclass(frozen=True)
class FunctionDeclaration:
    """A function, or with `per_attribute` a family of them: `filter_{name}` with `{type}` in its signature."""

    name: str
    inputs: tuple[str, ...]
    values: tuple[str, ...]
    output: str
    run: Callable[..., Any]
    """The step itself; for a family, a function from an attribute to the step."""
    meaning: str = ""
    asks: str = ""
    role: str = ""
    per_attribute: bool = False
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConstraintKind:
    """A constraint by its name in templates; `holds` is given one argument for each parameter.

    `params` are kinds such as SLOT. A slot's argument is its word (None where it is left open), a node's is its
    output, a constant's is what the template says.
    """

    name: str
    params: tuple[str, ...]
    holds: Callable[..., bool]
    meaning: str = ""
    aliases: tuple[str, ...] = ()
    of_openness: bool = False
    """Whether it only asks which slots are left open, not what the others say."""


@dataclass(frozen=True)
class ComputedAttribute:
    """An attribute whose values come from `compute(object record, scene record)`: a value, a list, or None."""

    type: str
    values: tuple[str, ...]
    compute: Callable[[Record, Record], Any]
    meaning: str = ""


@dataclass(frozen=True)
class ComputedRelation:
    """A relation; `holds(thing, anchor, scene)` are records."""

    name: str
    holds: Callable[[Record, Record, Record], bool]
    meaning: str = ""


@dataclass
class Declarations:
    """What one source declares, by name, in order of declaration."""

    functions: dict[str, FunctionDeclaration] = field(default_factory=dict)
    constraints: dict[str, ConstraintKind] = field(default_factory=dict)
    attributes: dict[str, ComputedAttribute] = field(default_factory=dict)
    relations: dict[str, ComputedRelation] = field(default_factory=dict)


BUILT_IN = Declarations()
NO_PLUGINS = Declarations()
_collecting: list[Declarations] = [BUILT_IN]


@contextmanager
def collecting() -> Iterator[Declarations]:
    """While this is open, decorators declare into the yielded collection, and not into the built-in one."""
    _collecting.append(Declarations())
    try:
        yield _collecting[-1]
    finally:
        _collecting.pop()


def function(
    *inputs: str,
    values: Sequence[str] = (),
    output: str,
    asks: str = "",
    role: str = "",
    aliases: Sequence[str] = (),
) -> Callable[[Run], Run]:
    """Declare a function under its Python name.

    `inputs` are types of earlier steps' results, `values` types of side inputs (`{relation}` stands for the domain's
    relation type), `asks` the question type of programs that end here; without it, none can end here.
    """

    def declare(run: Run) -> Run:
        name = run.__name__
        kind = FunctionDeclaration(
            name, inputs, tuple(values), output, run, _meaning(run), asks, role, False, tuple(aliases)
        )
        _declare(_collecting[-1].functions, name, kind)
        return run

    return declare


def attribute_function(
    pattern: str, *inputs: str, values: Sequence[str] = (), output: str, asks: str = "", role: str = ""
) -> Callable[[Callable[..., Run]], Callable[..., Run]]:
    """Declare a family with one function for each attribute; the decorated function makes one member's step."""

    def declare(make: Callable[..., Run]) -> Callable[..., Run]:
        kind = FunctionDeclaration(pattern, inputs, tuple(values), output, make, _meaning(make), asks, role, True)
        _declare(_collecting[-1].functions, pattern, kind)
        return make

    return declare


def constraint(
    name: str, *params: str, aliases: Sequence[str] = (), of_openness: bool = False
) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
    """Declare a constraint under the name it has in templates; `params` are kinds such as SLOT or NODE."""

    def declare(holds: Callable[..., bool]) -> Callable[..., bool]:
        kind = ConstraintKind(name, params, holds, _meaning(holds), tuple(aliases), of_openness)
        _declare(_collecting[-1].constraints, name, kind)
        return holds

    return declare


def attribute(type_name: str, values: Sequence[str]) -> Callable[[Run], Run]:
    """Declare a computed attribute of that type."""

    def declare(compute: Run) -> Run:
        kind = ComputedAttribute(type_name, tuple(values), compute, _meaning(compute))
        _declare(_collecting[-1].attributes, type_name, kind)
        return compute

    return declare


def relation(name: str) -> Callable[[Run], Run]:
    """Declare a computed relation."""

    def declare(holds: Run) -> Run:
        _declare(_collecting[-1].relations, name, ComputedRelation(name, holds, _meaning(holds)))
        return holds

    return declare


def _meaning(documented: Callable[..., Any]) -> str:
    return (documented.__doc__ or "").strip().split("\n")[0]


def _declare(table: dict[str, Any], name: str, kind: object) -> None:
    if name in table:
        raise ValueError(f"{name} is declared twice")
    table[name] = kind
