"""What plug-ins add, checked against what vqagen and a domain have: free names, and types that there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from vqagen.errors import Problem, unknown
from vqagen.language.composite import COMPOSITE_NAMES
from vqagen.language.registry import Function, functions_of
from vqagen.plugin import BUILT_IN, ConstraintKind, Declarations, FunctionDeclaration, Origin
from vqagen.world.domain import Domain


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
