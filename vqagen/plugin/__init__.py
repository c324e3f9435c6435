"""Decorators that declare what programs, constraints and scenes are made of beyond data.

vqagen's own functions and constraints are declared by the same decorators as those of a plug-in, a Python file given
with `--plugin` (see `plugin.loading`):

    from vqagen.plugin import NODE, Undefined, attribute, constraint, function, relation

    @function("Object", output="ObjectSet")
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

`vqagen explain` shows the first line of a docstring. A type that no domain has, such as `PartSet`, exists if it is some
function's output; its values may be anything hashable. Imported as an ordinary module, for example by its own tests, a
plug-in declares nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from vqagen.errors import BadInput, Problem, unknown
from vqagen.frozen import frozen

Run = Callable[..., Any]
"""A step: (scene, *inputs, *values) -> result. Object sets are int masks, an object is its index (see `bits`)."""
Record = Mapping[str, Any]

RELATION, SAMENESS, EQUALITY, FILTER = "relation", "sameness", "equality", "filter"
"""Roles a function can have in a question. RELATION: from an object to others that stand in some relation to it.
SAMENESS: the same, by likeness, so that the object itself would fit and is left out ("other"). EQUALITY: whether its
two inputs are equal. FILTER: the members of a set of which a value can be said."""

ITS_NAME = "?"
"""The question type of a function is its name, if its output can be an answer."""

SLOT, SLOTS, NODE, NODES, CONSTANT, CONSTANTS = "slot", "slots", "node", "nodes", "constant", "constants"
"""Kinds of constraint parameters; the plural ones take one or more, and come last."""
KINDS = (SLOT, SLOTS, NODE, NODES, CONSTANT, CONSTANTS)
PLURAL_KINDS = (SLOTS, NODES, CONSTANTS)

EQUAL, DIFFERENT, MEMBER = "equal", "different", "member"
"""Roles a constraint can have. EQUAL: its two slots, or nodes, are equal; DIFFERENT: they differ. MEMBER: its slot has
one of its constants."""

TYPES, NUMBERS, VALUES = "types", "numbers", "values"
"""What the parameters of a constraint must be for it to make sense. TYPES: its slots, or nodes, are all of one type.
NUMBERS: its nodes give numbers, and its constants are numbers. VALUES: its constants are values of its slot's type; a
constant may be a list of them."""


class Undefined(Exception):
    """Raised by a step without a result in this scene, such as the unique member of a set of two."""


class PlugInError(BadInput):
    """A plug-in failed; the problem is at the last line of its file that was run."""


@frozen
class Origin:
    """The place of a declaration: the plug-in's file and line, or "" and 0 for vqagen's own."""

    source: str = field(default="", compare=False, kw_only=True)
    line: int = field(default=0, compare=False, kw_only=True)

    def problem(self, message: str) -> Problem:
        """Return a problem at the declaration."""
        return Problem(message, self.source, line=self.line or None, column=1 if self.line else None)


@frozen
class Function(Origin):
    """A function with a signature that type-checks programs: a pure `run(scene, *inputs, *values)`.

    As declared, it may be for any domain: a family with one member `per_attribute`, such as `filter_{name}` with the
    value `{type}`, whose `run` is a function from an attribute to the step. A `Catalogue` has those of its domain:
    `filter_color(ObjectSet; Color) -> ObjectSet`.
    """

    name: str
    inputs: tuple[str, ...]
    values: tuple[str, ...]
    output: str
    run: Run = field(compare=False)
    meaning: str = field(default="", compare=False)
    asks: str = ""
    """The question type of a program that ends here, such as "count"; "" for a function that gives no answer.
    ITS_NAME leaves it to the output (see `function`)."""
    role: str = ""
    """RELATION, SAMENESS, EQUALITY, FILTER, or "" for none of them."""
    per_attribute: bool = False
    aliases: tuple[str, ...] = ()
    drawn: str = ""
    """The word for its value in the texts of templates that leave the value to be drawn; "" where none may."""

    @property
    def signature(self) -> str:
        """The signature, such as `filter_color(ObjectSet; Color) -> ObjectSet`."""
        taken = ", ".join(self.inputs) + ("; " + ", ".join(self.values) if self.values else "")
        return f"{self.name}({taken}) -> {self.output}"


@frozen
class ConstraintKind(Origin):
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
    """True if it only asks which slots are left open, not what the others say."""
    compares: str = ""
    """TYPES, NUMBERS, VALUES, or "" where any parameters do."""
    role: str = ""
    """EQUAL, DIFFERENT, MEMBER, or "" for none of them."""


@frozen
class ComputedAttribute(Origin):
    """An attribute whose values come from `compute(object record, scene record)`: a value, a list, or None."""

    type: str
    values: tuple[str, ...]
    compute: Callable[[Record, Record], Any]
    meaning: str = ""


@frozen
class ComputedRelation(Origin):
    """A relation; `holds(thing, anchor, scene)` are records."""

    name: str
    holds: Callable[[Record, Record, Record], bool]
    meaning: str = ""


@dataclass
class Declarations:
    """What vqagen itself declares, or all plug-ins of a run, by name and in order."""

    functions: dict[str, Function] = field(default_factory=dict)
    constraints: dict[str, ConstraintKind] = field(default_factory=dict)
    attributes: dict[str, ComputedAttribute] = field(default_factory=dict)
    relations: dict[str, ComputedRelation] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    """Plug-in, by the name it was asked for -> `sha256:…` of its file, in the order they were asked for."""

    @property
    def hash(self) -> str:
        """`sha256:…` over all plug-ins, in order; names and places do not count."""
        total = hashlib.sha256("".join(self.hashes.values()).encode())
        return f"sha256:{total.hexdigest()}"


BUILT_IN = Declarations()
NO_PLUGINS = Declarations()
_collecting: list[tuple[Declarations, str]] = []
"""Open collections, innermost last, each with the source that declares into it."""


@contextmanager
def collecting(source: str = "") -> Iterator[Declarations]:
    """Collect the declarations of decorators outside vqagen while this is open; `source` names them."""
    declared = Declarations()
    _collecting.append((declared, source))
    try:
        yield declared
    finally:
        _collecting.pop()


def function(
    *inputs: str,
    values: Sequence[str] = (),
    output: str,
    asks: str | None = None,
    role: str = "",
    name: str = "",
    aliases: Sequence[str] = (),
    drawn: str = "",
) -> Callable[[Run], Run]:
    """Declare a function, under its Python name unless it is given another.

    `inputs` are types of earlier steps' results, `values` types of side inputs (`{relation}` stands for the domain's
    relation type), `asks` the question type of programs that end here. By default that is the function's name where
    the output is a Bool, an Integer or the value of an attribute, and otherwise "": none can end here. A template may
    leave the value of a function with `drawn` to be drawn, and its texts then say `drawn` for it (see
    `language.template_record`).
    """
    others = _texts("aliases", aliases)
    if drawn and len(_texts("values", values)) != 1:
        raise ValueError(f"a function with drawn={drawn!r} has one value, found {len(values)}")
    return _function(name, inputs, values, output, {"relation": ""}, asks=asks, role=role, aliases=others, drawn=drawn)


def attribute_function(
    pattern: str,
    *inputs: str,
    values: Sequence[str] = (),
    output: str,
    asks: str | None = None,
    role: str = "",
) -> Callable[[Callable[..., Run]], Callable[..., Run]]:
    """Declare a family with one function for each attribute; the decorated function makes one member's step."""
    holes = {"name": "", "type": ""}
    return _function(pattern, inputs, values, output, holes, asks=asks, role=role, per_attribute=True)


def _function(
    name: str, inputs: tuple[str, ...], values: Sequence[str], output: str, holes: Mapping[str, str], **more: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a function whose names and types may have these `holes`, with `more` fields of its declaration."""
    side_inputs = _texts("values", values)
    for text in _texts("names and types", (name, *inputs, *side_inputs, output)):
        text.format(**holes)  # an unknown hole is a KeyError
    _check_known("role", more["role"], ("", RELATION, SAMENESS, EQUALITY, FILTER))
    asks = ITS_NAME if more["asks"] is None else more["asks"]
    made = partial(Function, inputs=inputs, values=side_inputs, output=output, **{**more, "asks": asks})
    return _declaring("functions", name, "run", made)


def constraint(
    name: str,
    *params: str,
    aliases: Sequence[str] = (),
    of_openness: bool = False,
    compares: str = "",
    role: str = "",
) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
    """Declare a constraint under the name it has in templates; `params` are kinds such as SLOT or NODE."""
    others = _texts("aliases", aliases)
    _check_known("comparison", compares, ("", TYPES, NUMBERS, VALUES))
    _check_known("role", role, ("", EQUAL, DIFFERENT, MEMBER))
    if not params:
        raise ValueError(f"takes no parameters; give their kinds: {', '.join(KINDS)}")
    for number, kind in enumerate(params, 1):
        _check_known("kind of parameter", kind, KINDS)
        if kind in PLURAL_KINDS and number < len(params):
            raise ValueError(f"{kind} take one or more, so they come last")

    made = partial(ConstraintKind, params=params, aliases=others, of_openness=of_openness, compares=compares, role=role)
    return _declaring("constraints", name, "holds", made)


def attribute(type_name: str, values: Sequence[str] = ()) -> Callable[[Run], Run]:
    """Declare a computed attribute of that type; `values` may be left to the metadata."""
    made = partial(ComputedAttribute, values=_texts("values", values))
    return _declaring("attributes", type_name, "compute", made)


def relation(name: str) -> Callable[[Run], Run]:
    """Declare a computed relation."""
    return _declaring("relations", name, "holds", ComputedRelation)


def _declaring(table: str, name: str, key: str, make: Callable[..., Origin]) -> Callable[[Run], Run]:
    """Return a decorator that adds to a table what `make` makes of a function's name, meaning and origin.

    `key` is the field for the function itself; without a `name`, its Python name counts. In line 12 of a plug-in,
    `@relation("near")` adds `ComputedRelation("near", holds=…, meaning="…", source="mine.py", line=12)` to `relations`.
    """

    def declare(declared: Run) -> Run:
        declared_name, declarations, source, line = name or declared.__name__, Declarations(), "", 0
        if declared.__module__.partition(".")[0] == "vqagen":  # it may first be imported while a plug-in is read
            declarations = BUILT_IN
        elif _collecting:
            declarations, source = _collecting[-1]
            code = getattr(declared, "__code__", None)
            line = code.co_firstlineno if code is not None and code.co_filename == source else 0
        known = getattr(declarations, table)
        if declared_name in known:
            raise ValueError(f"{declared_name} is declared twice")
        meaning = (declared.__doc__ or "").strip().split("\n")[0]
        known[declared_name] = make(declared_name, **{key: declared}, meaning=meaning, source=source, line=line)
        return declared

    return declare


# What is wrong with a call of a decorator -----------------------------------------------------------------------------


def _texts(what: str, given: Sequence[str]) -> tuple[str, ...]:
    """Return the list as a tuple; raise TypeError for a text, which would pass as a list of its letters."""
    if isinstance(given, str):
        raise TypeError(f"{what} takes a list, found the text {given!r}")
    for text in given:
        if not isinstance(text, str):
            raise TypeError(f"{what} are text, found {text!r}")
    return tuple(given)


def _check_known(what: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        raise ValueError(unknown(what, given, [name for name in known if name]))
