"""The catalogue: every function and constraint of a domain, by name.

`functions.py`, `constraints.py` and plug-ins declare (see `vqagen.plugin`). A domain has every declared function, and
each declared family once for each attribute.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, TypeVar

import vqagen.language.constraints
import vqagen.language.functions
import vqagen.language.viewpoint  # noqa: F401  (importing the modules declares them)
from vqagen.errors import BadInput, Fault, Problem, nearest, unknown, warn
from vqagen.frozen import frozen
from vqagen.language.synonyms import Synonyms
from vqagen.plugin import (
    BUILT_IN,
    ITS_NAME,
    NO_PLUGINS,
    ConstraintKind,
    Declarations,
    Function as Function,
    Run,
)
from vqagen.world.domain import Domain

Value = Any
"""What a step yields: an object set (int mask), an object (its index), an int, a bool, an attribute value (text), or
a tuple of values where the attribute is list-valued, or of object indexes where places are asked for. Plug-ins may have
types of their own, with any hashable values."""
T = TypeVar("T")


class ByName(Mapping[str, T]):
    """Things by their names, in order. Lookup by an alias works too; aliases are not among the keys."""

    def __init__(self, things: Mapping[str, T], aliases: Iterable[tuple[str, T]]) -> None:
        self._things = dict(things)
        self._known = {**dict(aliases), **self._things}

    def __getitem__(self, name: str) -> T:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)


def functions_of(declared: Function, domain: Domain) -> Iterator[Function]:
    """Yield the functions that one declaration makes in a domain: one, or one for each attribute."""
    answers = ("Bool", "Integer", *(attribute.type for attribute in domain.attributes))
    members: list[tuple[Run, dict[str, str]]] = [(declared.run, {"relation": domain.relation_type})]
    if declared.per_attribute:
        members = [(declared.run(each), {"name": each.name, "type": each.type}) for each in domain.attributes]
    for run, words in members:  # filter_{name}(ObjectSet; {type}) of the color: filter_color(ObjectSet; Color)
        name, output, *types = (
            text.format(**words) for text in (declared.name, declared.output, *declared.inputs, *declared.values)
        )
        yield replace(
            declared,
            name=name,
            inputs=tuple(types[: len(declared.inputs)]),
            values=tuple(types[len(declared.inputs) :]),
            output=output,
            run=run,
            asks=declared.asks if declared.asks != ITS_NAME else name if output in answers else "",
            per_attribute=False,
        )


# Template-only nodes ------------------------------------------------------------------------------------------------


_OUTPUT = {
    "": "ObjectSet",
    "unique": "Object",
    "not_unique": "ObjectSet",
    "count": "Integer",
    "exist": "Bool",
    "mark": "Places",
}
"""Functions that may end a chain ("" where filters alone make it), and what they give."""


@frozen
class Composite:
    """A template-only node: one node in a template that stands for a chain of primitive ones in a program."""

    name: str
    input: str
    """The type it starts from."""
    output: str
    """The type it yields."""
    relates: bool = False
    reducer: str | None = None
    """The function that ends the chain, such as unique; None where filters alone make the chain."""
    filters: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Type that the node describes by -> the function that filters by its values."""


_CHAINS = {
    "_".join(filter(None, ("relate" if relates else "", "filter", reducer))): (relates, reducer)
    for relates in (False, True)
    for reducer in _OUTPUT
}
COMPOSITE_NAMES = tuple(_CHAINS)
"""The names of all template-only nodes: `[relate_]filter[_unique|_not_unique|_count|_exist|_mark]`."""


def composites_of(domain: Domain) -> dict[str, Composite]:
    """The template-only nodes of a domain by name.

    With `relate_` the chain starts from what stands in a relation to an object, otherwise from an object set; then
    comes a filter for each described attribute; then the function named at the end, if any.
    """
    filters = {attribute.type: f"filter_{attribute.name}" for attribute in domain.attributes}
    return {
        name: Composite(name, "Object" if relates else "ObjectSet", _OUTPUT[reducer], relates, reducer or None, filters)
        for name, (relates, reducer) in _CHAINS.items()
    }


# The catalogue ----------------------------------------------------------------------------------------------------


class Catalogue(ByName[Function]):
    """The functions in the order of declaration, vqagen's own first.

    An alias finds its function too, under the name of the alias, so that a program keeps the names it was written
    with; it is not among the keys.

    Raises BadInput where the metadata declares a function that there is not, or not so, and where a plug-in takes a
    name that is taken or a type that there is not.
    """

    def __init__(self, domain: Domain, plugins: Declarations = NO_PLUGINS) -> None:
        self.domain, self.plugins = domain, plugins
        built_in, added = (
            [function for declared in declarations.functions.values() for function in functions_of(declared, domain)]
            for declarations in (BUILT_IN, plugins)
        )
        functions = [*built_in, *added]
        aliases = ((alias, replace(function, name=alias)) for function in functions for alias in function.aliases)
        super().__init__({function.name: function for function in functions}, aliases)
        self.sound_nodes: dict[tuple[str, tuple[str | None, ...], tuple[str, ...]], str] = {}
        """The function, types of inputs and values of program nodes that were found to fit -> the type of the output,
        as ("filter_color", ("ObjectSet",), ("red",)) -> "ObjectSet"; `read_nodes` notes them here."""
        self.constraints: Mapping[str, ConstraintKind] = _constraints(domain, plugins)
        """By name and by alias, where an alias gives the constraint under its proper name; the keys are names only."""
        self.composites: Mapping[str, Composite] = composites_of(domain)
        """The template-only nodes."""
        faults = [*name_faults(built_in, domain), *declaration_faults(domain, self, self.composites)]
        self.synonyms: Synonyms | None = None
        """The ways to say the values of its domain, once they are loaded."""
        self.reload: tuple[Callable[..., Catalogue], tuple[object, ...]] | None = None
        """The call that loads an equal catalogue in another process. Only a catalogue that was loaded from files has
        it, and can be pickled."""
        problems = [domain.problem(path, message) for path, message in faults]
        problems += plugin_problems(added, plugins.constraints.values(), domain, built_in)
        if problems:
            raise BadInput(problems)

    def __reduce__(self) -> tuple[Callable[..., Catalogue], tuple[object, ...]]:
        if self.reload is None:
            raise TypeError("only a catalogue that was loaded from files can be pickled; see vqagen.load_domain_files")
        return self.reload


def _constraints(domain: Domain, plugins: Declarations) -> ByName[ConstraintKind]:
    """Return all constraints; each type adds two aliases of IN, such as COLOR and COLOR_SET for Color."""
    kinds = {**BUILT_IN.constraints, **plugins.constraints}
    one_of = BUILT_IN.constraints["IN"]
    of_types = [(type_name.upper() + ending, one_of) for type_name in domain.value_types for ending in ("", "_SET")]
    return ByName(kinds, [*of_types, *((alias, kind) for kind in kinds.values() for alias in kind.aliases)])


# Declarations -------------------------------------------------------------------------------------------------------


PLUGIN_HINT = "a plug-in (--plugin FILE.py) can add functions"


def name_faults(functions: Sequence[Function], domain: Domain) -> Iterator[Fault]:
    """Yield functions of an attribute whose names are taken, such as filter_count where a type is called Count."""
    taken = list(COMPOSITE_NAMES)
    for function in functions:
        if function.name in taken:
            types = [attribute.type for attribute in domain.attributes if function.name.endswith(f"_{attribute.name}")]
            path = f"types.{max(types, key=len)}" if types else "types"
            yield path, f"its {function.name} would have the name of another function; rename the type"
        taken += [function.name, *function.aliases]


def declaration_faults(
    domain: Domain, functions: Mapping[str, Function], composites: Mapping[str, Composite]
) -> Iterator[Fault]:
    """Yield every mistake in the metadata's `functions`.

    Of a declaration, `name`, `inputs`, `side_inputs` and `output` must be true where they are given. A function that is
    declared template-only is none, whatever else is declared of it (CLEVR-Math's metadata do so); that is warned of.
    So is a function that there is not, unless it looks misspelt: other generators have more of them, and most templates
    do without. A template with such a node is refused.
    """
    strange: dict[str, str] = {}
    for i, declared in enumerate(domain.declared):
        name, path, is_node = declared["name"], f"functions[{i}]", bool(declared.get("template_only"))
        if name in composites:
            yield from _node_faults(declared, composites[name], domain, path)
        elif name in functions and is_node:
            said = f"{name} is no template-only node but a function, {functions[name].signature}; this entry is ignored"
            warn(domain.problem(path, said))
        elif name in functions:
            ours = functions[name]
            yield from _signature_faults(declared, path, ours.output, inputs=ours.inputs, side_inputs=ours.values)
        elif is_misspelt(name, known := _candidates(name, composites if is_node else functions, domain)):
            kind = "template-only node" if is_node else "function"
            yield f"{path}.name", f"{unknown(kind, name, known)} ({PLUGIN_HINT})"
        else:
            strange[f"{path}.name"] = name
    if strange:
        message = f"unknown functions, which no template can use: {', '.join(strange.values())} ({PLUGIN_HINT})"
        warn(domain.problem(next(iter(strange)), message))


def is_misspelt(name: str, known: Iterable[str]) -> bool:
    """True if a function's name is so close to a known one that it must be a misspelling of it."""
    return nearest(name, known) is not None


def _candidates(name: str, functions: Iterable[str], domain: Domain) -> list[str]:
    """Return the names that an unknown name may misspell: undeclared functions, and those that differ in case alone.

    The functions that make a type an attribute are included.
    """
    declared = [record["name"] for record in domain.declared]
    makers = [f"{kind}_{type_name.lower()}" for type_name in domain.plain_types for kind in ("filter", "query")]
    undeclared = [function for function in (*functions, *makers) if function not in declared]
    return [*undeclared, *(function for function in functions if function.lower() == name.lower())]


def _signature_faults(declared: Mapping[str, Any], path: str, output: str, **wanted: Sequence[str]) -> Iterator[Fault]:
    """Yield what differs from our signature. An input may be of several types, as in `Object|Part`, and ours is one."""
    for key, types in wanted.items():
        given = declared.get(key, types)
        if len(given) != len(types) or not all(map(_names_type, given, types)):
            yield f"{path}.{key}", f"{declared['name']} takes {json.dumps(types)}, found {json.dumps(given)}"
    given = declared.get("output", output)
    if given != output:
        yield f"{path}.output", f"{declared['name']} gives {output}, found {given}"


def _names_type(given: str, ours: str) -> bool:
    return ours in given.split("|")


def _node_faults(declared: Mapping[str, Any], composite: Composite, domain: Domain, path: str) -> Iterator[Fault]:
    """Yield what differs from a template-only node, which describes by any attributes in any order."""
    yield from _signature_faults(declared, path, composite.output, inputs=(composite.input,))
    given, relation = declared.get("side_inputs"), domain.relation_type
    if given is not None and (not set(given).issubset(domain.value_types) or (relation in given) != composite.relates):
        takes = f"a {relation}" if composite.relates else f"no {relation}"
        yield f"{path}.side_inputs", f"{composite.name} takes {takes} and any attributes, found {json.dumps(given)}"


# Plug-ins -----------------------------------------------------------------------------------------------------------


def plugin_problems(
    functions: Sequence[Function], constraints: Iterable[ConstraintKind], domain: Domain, built_in: Sequence[Function]
) -> list[Problem]:
    """Return every conflict of plug-ins, which declare `functions` and `constraints`, with this domain."""
    taken = {name: f"vqagen's own {function.signature}" for function in built_in for name in _names(function)}
    taken |= {name: f"the template-only node {name}" for name in COMPOSITE_NAMES}
    of_kinds = {name: f"vqagen's own {kind.name}" for kind in BUILT_IN.constraints.values() for name in _names(kind)}
    return [
        *_name_problems("function", functions, taken),
        *_type_problems(functions, domain),
        *_name_problems("constraint", constraints, of_kinds),
    ]


def _names(declared: Function | ConstraintKind) -> tuple[str, ...]:
    return (declared.name, *declared.aliases)


def _name_problems(
    kind: str, declared: Iterable[Function | ConstraintKind], taken: dict[str, str]
) -> Iterator[Problem]:
    """Yield the declared names that are `taken`, by whom; those of each declaration are taken for the next ones."""
    for each in declared:
        owner = f"{each.signature if isinstance(each, Function) else each.name} in {each.source}"
        for name in _names(each):
            if name in taken:
                yield each.problem(f"{kind} {name} has the name of {taken[name]}; choose another")
            taken.setdefault(name, owner)


def _type_problems(functions: Sequence[Function], domain: Domain) -> Iterator[Problem]:
    """Yield unknown types; a type is known if it is the domain's or the output of some plug-in's function."""
    known = list(dict.fromkeys((*domain.types, *(function.output for function in functions))))
    taken = {type_name for function in functions for type_name in function.inputs}
    for function in functions:
        unknown_types = [unknown("type", each, known) for each in function.inputs if each not in known]
        slot_types = domain.slot_types
        unknown_types += [
            unknown("type of values", each, slot_types) for each in function.values if each not in slot_types
        ]
        if function.output not in (*domain.types, *taken) and is_misspelt(function.output, domain.types):
            unknown_types.append(unknown("type", function.output, domain.types))
        yield from (function.problem(f"function {function.name}: {message}") for message in unknown_types)
