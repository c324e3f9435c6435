"""The catalogue: every function of a domain, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vqagen.errors import BadInput, Problem
from vqagen.language import functions  # noqa: F401  (importing the module declares them)
from vqagen.language.catalogue_check import declaration_faults, name_faults
from vqagen.language.registry import Function, declared_functions
from vqagen.world.domain import Domain


class Catalogue(Mapping[str, Function]):
    """The functions in the order of declaration.

    Raises BadInput where the metadata declares a function that there is not, or not so.
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        found = declared_functions(domain)
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
