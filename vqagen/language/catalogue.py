"""The catalogue: every function of a domain, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vqagen.errors import BadInput, Problem
from vqagen.language import constraints, functions  # noqa: F401  (importing the modules declares them)
from vqagen.language.catalogue_check import declaration_faults, name_faults
from vqagen.language.registry import Function, functions_of
from vqagen.plugin import BUILT_IN, NO_PLUGINS, ConstraintKind, Declarations
from vqagen.world.domain import Domain


class Catalogue(Mapping[str, Function]):
    """The functions in the order of declaration.

    Raises BadInput where the metadata declares a function that there is not, or not so.
    """

    def __init__(self, domain: Domain, plugins: Declarations = NO_PLUGINS) -> None:
        self.domain = domain
        self.constraints: Mapping[str, ConstraintKind] = {**BUILT_IN.constraints, **plugins.constraints}
        declared = [*BUILT_IN.functions.values(), *plugins.functions.values()]
        found = [function for each in declared for function in functions_of(each, domain)]
        self._functions = {function.name: function for function in found}
        faults = [*name_faults(found), *declaration_faults(domain, self._functions)]
        if faults:
            raise BadInput(Problem(message, domain.source or "metadata", path) for path, message in faults)

    def __getitem__(self, name: str) -> Function:
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)
