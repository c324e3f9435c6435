"""A domain's vocabulary and the functions its metadata declares, checked against the functions that can be run.

Of a declaration, `name`, `inputs`, `side_inputs` and `output` must be true where they are given; other keys, such as
`terminal`, are ignored. An input may be said to be of several types, as in `Object|Part`, of which ours is one.
Template-only nodes are checked against their grammar (see `composite`), in which descriptions take any attributes in
any order. A function that is declared template-only is none, whatever else is declared of it (CLEVR-Math's metadata do
so); that is warned of.

A function that there is not is no mistake, unless it looks misspelt: other generators have more of them, and most
templates do without. That is warned of too; a template with such a node is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from vqagen.errors import Fault, Problem, unknown, warn
from vqagen.language.composite import COMPOSITE_NAMES, Composite
from vqagen.language.registry import Function, functions_of
from vqagen.plugin import BUILT_IN, ConstraintKind, Declarations, FunctionDeclaration, Origin
from vqagen.world.domain import Domain

PLUGIN_HINT = "a plug-in (--plugin FILE.py) can add functions"
_MISSPELT = 0.85
"""The least similarity of a misspelling to a function's name: same_sise is one of same_size, same_pose is not."""


def name_faults(functions: Sequence[Function], domain: Domain) -> Iterator[Fault]:
    """Yield functions of an attribute whose names are taken, such as filter_count where a type is called Count."""
    taken = list(COMPOSITE_NAMES)
    for function in functions:
        if function.name in taken:
            types = [each.type for each in domain.attributes if function.name.endswith(f"_{each.name}")]
            place = f"types.{max(types, key=len)}" if types else "types"
            yield place, f"its {function.name} would have the name of another function; rename the type"
        taken += [function.name, *function.aliases]


def declaration_faults(
    domain: Domain, functions: Mapping[str, Function], composites: Mapping[str, Composite], types: Sequence[str]
) -> Iterator[Fault]:
    """Yield every mistake in the metadata's `functions`; `types` are all known types."""
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
    return bool(get_close_matches(name.lower(), [each.lower() for each in known], n=1, cutoff=_MISSPELT))


def _candidates(name: str, functions: Iterable[str], domain: Domain) -> list[str]:
    """Return the names that an unknown name may misspell: undeclared functions, and those that differ in case alone.

    A function that the name only adds a word to (my_same_size) is left out. The functions that make a type an
    attribute are included.
    """
    declared = [record["name"] for record in domain.declared]
    makers = [f"{kind}_{each.lower()}" for each in domain.plain_types for kind in ("filter", "query")]
    lengthened = [
        each for each in functions if len(name) > len(each) + 2 and (name.startswith(each) or name.endswith(each))
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
    by_declaration = [(each, list(functions_of(each, domain))) for each in plugins.functions.values()]
    return [
        *_function_name_problems(by_declaration, own),
        *_type_problems(by_declaration, domain),
        *_constraint_name_problems(plugins.constraints),
    ]


def _at(origin: Origin, message: str) -> Problem:
    return Problem(message, origin.source, line=origin.line or None, column=1 if origin.line else None)


ByDeclaration = Sequence[tuple[FunctionDeclaration, Sequence[Function]]]


def _function_name_problems(plugins: ByDeclaration, own: Sequence[Function]) -> Iterator[Problem]:
    taken = {name: f"vqagen's own {function.signature}" for function in own for name in _names(function)}
    taken |= {name: f"the template-only node {name}" for name in COMPOSITE_NAMES}
    for declared, functions in plugins:
        for function in functions:
            for name in _names(function):
                if name in taken:
                    yield _at(declared, f"function {name} has the name of {taken[name]}; choose another")
                where = f" in {declared.source}" if declared.source else ""
                taken.setdefault(name, f"{function.signature}{where}")


def _names(function: Function) -> tuple[str, ...]:
    return (function.name, *function.aliases)


def _type_problems(plugins: ByDeclaration, domain: Domain) -> Iterator[Problem]:
    """Yield unknown types; a type is known if it is the domain's or the output of some plug-in's function."""
    functions = [function for _, found in plugins for function in found]
    known = list(dict.fromkeys((*domain.types, *(function.output for function in functions))))
    taken = {each for function in functions for each in function.inputs}
    for declared, found in plugins:
        for function in found:
            where = f"function {function.name}"
            for each in function.inputs:
                if each not in known:
                    yield _at(declared, f"{where}: {unknown('type', each, known)}")
            for each in function.values:
                if each not in domain.slot_types:
                    yield _at(declared, f"{where}: {unknown('type of values', each, domain.slot_types)}")
            likely = None if function.output in taken else _misspelt(function.output, domain)
            if likely:
                yield _at(declared, f"{where}: unknown type {function.output!r}; did you mean {likely!r}?")


def _misspelt(output: str, domain: Domain) -> str | None:
    """Return the known type that an output misspells, if any."""
    found = [] if output in domain.types else get_close_matches(output, domain.types, n=1, cutoff=0.85)
    return found[0] if found else None


def _constraint_name_problems(added: Mapping[str, ConstraintKind]) -> Iterator[Problem]:
    taken = {name: f"vqagen's own {kind.name}" for kind in BUILT_IN.constraints.values() for name in _known_as(kind)}
    for kind in added.values():
        for name in _known_as(kind):
            if name in taken:
                yield _at(kind, f"constraint {name} has the name of {taken[name]}; choose another")
            taken.setdefault(name, f"{kind.name} in {kind.source}" if kind.source else kind.name)


def _known_as(kind: ConstraintKind) -> tuple[str, ...]:
    return (kind.name, *kind.aliases)
