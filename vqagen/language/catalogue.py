"""The catalogue: every function and constraint of a domain, by name.

`functions.py`, `constraints.py` and plug-ins declare (see `vqagen.plugin`). A domain has every declared function, and
each declared family once for each attribute.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import vqagen.language.constraints
import vqagen.language.functions  # noqa: F401  (importing the modules declares them)
from vqagen.errors import BadInput, Fault, Problem, nearest, unknown, warn
from vqagen.plugin import BUILT_IN, NO_PLUGINS, ConstraintKind, Declarations, FunctionDeclaration, Origin, Run
from vqagen.world.domain import Domain

Value = Any
"""What a step yields: an object set (int mask), an object (its index), an int, a bool, an attribute value (text), or
a tuple of values where the attribute is list-valued. Plug-ins may have types of their own, with any hashable values."""
T = TypeVar("T")


@dataclass(frozen=True)
class Function:
    """One function of a domain: a pure `run(scene, *inputs, *values)` with a signature that type-checks programs."""

    name: str
    inputs: tuple[str, ...]
    values: tuple[str, ...]
    output: str
    run: Run = field(compare=False)
    meaning: str = field(default="", compare=False)
    asks: str = ""
    """The question type of a program that ends here, such as "count"; "" for a function that gives no answer."""
    role: str = ""
    """RELATION, SAMENESS, EQUALITY, FILTER (see `vqagen.plugin`), or "" for none of them."""
    aliases: tuple[str, ...] = ()
    drawn: str = ""
    """The word for its value in the texts of templates that leave the value to be drawn; "" where none may."""
    source: str = field(default="", compare=False)
    """The plug-in that declares it; "" for vqagen's own."""

    @property
    def signature(self) -> str:
        """The signature, such as `filter_color(ObjectSet; Color) -> ObjectSet`."""
        taken = ", ".join(self.inputs) + ("; " + ", ".join(self.values) if self.values else "")
        return f"{self.name}({taken}) -> {self.output}"


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


def functions_of(declared: FunctionDeclaration, domain: Domain) -> Iterator[Function]:
    """The functions that one declaration makes in a domain."""
    if not declared.per_attribute:
        yield _filled(declared, declared.run, domain, {"relation": domain.relation_type})
        return
    for attribute in domain.attributes:
        yield _filled(declared, declared.run(attribute), domain, {"name": attribute.name, "type": attribute.type})


def _filled(declared: FunctionDeclaration, run: Run, domain: Domain, names: Mapping[str, str]) -> Function:
    inputs, values = (
        tuple(type_name.format(**names) for type_name in types) for types in (declared.inputs, declared.values)
    )
    name, output = declared.name.format(**names), declared.output.format(**names)
    answers = ("Bool", "Integer", *(attribute.type for attribute in domain.attributes))
    return Function(
        name,
        inputs,
        values,
        output,
        run,
        declared.meaning,
        (name if output in answers else "") if declared.asks is None else declared.asks,
        declared.role,
        declared.aliases,
        declared.drawn,
        declared.source,
    )


# Template-only nodes ------------------------------------------------------------------------------------------------


_OUTPUT = {"": "ObjectSet", "unique": "Object", "not_unique": "ObjectSet", "count": "Integer", "exist": "Bool"}
"""Functions that may end a chain ("" where filters alone make it), and what they give."""


@dataclass(frozen=True)
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
"""The names of all template-only nodes: `[relate_]filter[_unique|_not_unique|_count|_exist]`."""


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
        self.domain = domain
        own = [function for declared in BUILT_IN.functions.values() for function in functions_of(declared, domain)]
        added = [function for declared in plugins.functions.values() for function in functions_of(declared, domain)]
        found = [*own, *added]
        aliases = ((alias, replace(function, name=alias)) for function in found for alias in function.aliases)
        super().__init__({function.name: function for function in found}, aliases)
        self.sound_nodes: dict[tuple[str, tuple[str | None, ...], tuple[str, ...]], str] = {}
        """The function, types of inputs and values of program nodes that were found to fit -> the type of the output;
        `Program` notes them here."""
        self.constraints: Mapping[str, ConstraintKind] = _constraints(domain, plugins)
        """By name and by alias, where an alias gives the constraint under its proper name; the keys are names only."""
        self.types = tuple(dict.fromkeys((*domain.types, *(function.output for function in added))))
        """Every type there is; plug-ins' functions may have outputs of new ones."""
        self.composites: Mapping[str, Composite] = composites_of(domain)
        """The template-only nodes."""
        faults = [*name_faults(own, domain), *declaration_faults(domain, self, self.composites, self.types)]
        self.reload: tuple[Callable[..., Catalogue], tuple[object, ...]] | None = None
        """The call that loads an equal catalogue in another process. Only a catalogue that was loaded from files has
        it, and can be pickled."""
        problems = [domain.problem(path, message) for path, message in faults]
        problems += plugin_problems(plugins, domain, own)
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
            place = f"types.{max(types, key=len)}" if types else "types"
            yield place, f"its {function.name} would have the name of another function; rename the type"
        taken += [function.name, *function.aliases]


def declaration_faults(
    domain: Domain, functions: Mapping[str, Function], composites: Mapping[str, Composite], types: Sequence[str]
) -> Iterator[Fault]:
    """Yield every mistake in the metadata's `functions`; `types` are all known types.

    Of a declaration, `name`, `inputs`, `side_inputs` and `output` must be true where they are given. An input may be
    said to be of several types, as in `Object|Part`, of which ours is one. Template-only nodes describe by any
    attributes in any order. A function that is declared template-only is none, whatever else is declared of it
    (CLEVR-Math's metadata do so); that is warned of. So is a function that there is not, unless it looks misspelt:
    other generators have more of them, and most templates do without. A template with such a node is refused.
    """
    strange: dict[str, str] = {}
    for i, declared in enumerate(domain.declared):
        name, path, is_node = declared["name"], f"functions[{i}]", bool(declared.get("template_only"))
        if name in composites:
            yield from _composite_faults(declared, composites[name], domain, types, path)
        elif name in functions and is_node:
            said = f"{name} is no template-only node but a function, {functions[name].signature}; this entry is ignored"
            warn(domain.problem(path, said))
        elif name in functions:
            for key, wanted in (("inputs", functions[name].inputs), ("side_inputs", functions[name].values)):
                yield from _list_faults(declared, key, wanted, types, path)
            yield from _output_faults(declared, functions[name].output, types, path)
        elif is_misspelt(name, known := _candidates(name, composites if is_node else functions, domain)):
            kind = "template-only node" if is_node else "function"
            yield f"{path}.name", f"{unknown(kind, name, known)} ({PLUGIN_HINT})"
        else:
            strange[f"{path}.name"] = name
    if strange:
        names = ", ".join(strange.values())
        warn(
            domain.problem(
                next(iter(strange)), f"unknown functions, which no template can use: {names} ({PLUGIN_HINT})"
            )
        )


def is_misspelt(name: str, known: Iterable[str]) -> bool:
    """True if a function's name is so close to a known one that it must be a misspelling of it."""
    return nearest(name, known) is not None


def _candidates(name: str, functions: Iterable[str], domain: Domain) -> list[str]:
    """Return the names that an unknown name may misspell: undeclared functions, and those that differ in case alone.

    A function that the name only adds a word to (my_same_size) is left out. The functions that make a type an
    attribute are included.
    """
    declared = [record["name"] for record in domain.declared]
    makers = [f"{kind}_{type_name.lower()}" for type_name in domain.plain_types for kind in ("filter", "query")]
    lengthened = [
        function
        for function in functions
        if len(name) > len(function) + 2 and (name.startswith(function) or name.endswith(function))
    ]
    undeclared = [each for each in (*functions, *makers) if each not in (*declared, *lengthened)]
    return [*undeclared, *(each for each in functions if each.lower() == name.lower())]


def _composite_faults(
    declared: Mapping[str, Any], composite: Composite, domain: Domain, types: Sequence[str], path: str
) -> Iterator[Fault]:
    yield from _list_faults(declared, "inputs", (composite.input,), types, path)
    yield from _description_faults(declared, composite, domain, f"{path}.side_inputs")
    yield from _output_faults(declared, composite.output, types, path)


def _list_faults(
    declared: Mapping[str, Any], key: str, wanted: Sequence[str], types: Sequence[str], path: str
) -> Iterator[Fault]:
    given, place = declared.get(key, [*wanted]), f"{path}.{key}"
    if len(given) == len(wanted):  # one of several types may be wanted, as in Object|Part
        given = [want if want in each.split("|") else each for each, want in zip(given, wanted, strict=True)]
    faults = list(_type_faults(given, types, place))
    yield from faults
    if not faults and given != [*wanted]:
        yield place, f"{declared['name']} takes {json.dumps(wanted)}, found {json.dumps(given)}"


def _description_faults(
    declared: Mapping[str, Any], composite: Composite, domain: Domain, place: str
) -> Iterator[Fault]:
    given = declared.get("side_inputs")
    if given is None:
        return
    faults = list(_type_faults(given, domain.value_types, place))
    yield from faults
    if not faults and (domain.relation_type in given) != composite.relates:
        takes = f"a {domain.relation_type}" if composite.relates else f"no {domain.relation_type}"
        yield place, f"{composite.name} takes {takes}, found {json.dumps(given)}"


def _type_faults(given: Sequence[str], known: Sequence[str], place: str) -> Iterator[Fault]:
    for k, each in enumerate(given):
        if each not in known:
            yield f"{place}[{k}]", unknown("type", each, known)


def _output_faults(declared: Mapping[str, Any], wanted: str, types: Sequence[str], path: str) -> Iterator[Fault]:
    given = declared.get("output", wanted)
    if given not in types:
        yield f"{path}.output", unknown("type", given, types)
    elif given != wanted:
        yield f"{path}.output", f"{declared['name']} gives {wanted}, found {given}"


# Plug-ins -----------------------------------------------------------------------------------------------------------


def plugin_problems(plugins: Declarations, domain: Domain, own: Sequence[Function]) -> list[Problem]:
    """Return every conflict of plug-ins with this domain; `own` are vqagen's functions in it."""
    made = [(each, function) for each in plugins.functions.values() for function in functions_of(each, domain)]
    taken = {name: f"vqagen's own {function.signature}" for function in own for name in _names(function)}
    taken |= {name: f"the template-only node {name}" for name in COMPOSITE_NAMES}
    of_kinds = {name: f"vqagen's own {kind.name}" for kind in BUILT_IN.constraints.values() for name in _names(kind)}
    functions = [(each, _names(function), function.signature) for each, function in made]
    constraints = [(constraint, _names(constraint), constraint.name) for constraint in plugins.constraints.values()]
    return [
        *_name_problems("function", functions, taken),
        *_type_problems(made, domain),
        *_name_problems("constraint", constraints, of_kinds),
    ]


def _names(named: Function | ConstraintKind) -> tuple[str, ...]:
    return (named.name, *named.aliases)


def _name_problems(
    kind: str, declared: Iterable[tuple[Origin, tuple[str, ...], str]], taken: dict[str, str]
) -> Iterator[Problem]:
    """Yield the declared names that are `taken`, by whom; those of each declaration are taken for the next ones."""
    for origin, names, what in declared:
        for name in names:
            if name in taken:
                yield origin.problem(f"{kind} {name} has the name of {taken[name]}; choose another")
            taken.setdefault(name, f"{what} in {origin.source}" if origin.source else what)


def _type_problems(made: Sequence[tuple[Origin, Function]], domain: Domain) -> Iterator[Problem]:
    """Yield unknown types; a type is known if it is the domain's or the output of some plug-in's function."""
    known = list(dict.fromkeys((*domain.types, *(function.output for _, function in made))))
    taken = {each for _, function in made for each in function.inputs}
    for declared, function in made:
        where = f"function {function.name}"
        for each in function.inputs:
            if each not in known:
                yield declared.problem(f"{where}: {unknown('type', each, known)}")
        for each in function.values:
            if each not in domain.slot_types:
                yield declared.problem(f"{where}: {unknown('type of values', each, domain.slot_types)}")
        if function.output not in (*domain.types, *taken) and is_misspelt(function.output, domain.types):
            yield declared.problem(f"{where}: {unknown('type', function.output, domain.types)}")
