"""The catalogue: every function and constraint of a domain, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from vqagen.errors import BadInput
from vqagen.language import constraints, functions  # noqa: F401  (importing the modules declares them)
from vqagen.language.catalogue_check import declaration_faults, name_faults, plugin_problems
from vqagen.language.composite import Composite, composites_of
from vqagen.language.registry import ByName, Function, functions_of
from vqagen.plugin import BUILT_IN, NO_PLUGINS, ConstraintKind, Declarations
from vqagen.world.domain import Domain


class Catalogue(Mapping[str, Function]):
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
        self._functions = _by_name(own, added)
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

    def __getitem__(self, name: str) -> Function:
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)


def _by_name(own: list[Function], added: list[Function]) -> ByName[Function]:
    found = [*own, *added]
    aliases = ((alias, replace(function, name=alias)) for function in found for alias in function.aliases)
    return ByName({function.name: function for function in found}, aliases)


def _constraints(domain: Domain, plugins: Declarations) -> ByName[ConstraintKind]:
    """Return all constraints; each type adds two aliases of IN, such as COLOR and COLOR_SET for Color."""
    kinds = {**BUILT_IN.constraints, **plugins.constraints}
    one_of = BUILT_IN.constraints["IN"]
    of_types = [(type_name.upper() + ending, one_of) for type_name in domain.value_types for ending in ("", "_SET")]
    return ByName(kinds, [*of_types, *((alias, kind) for kind in kinds.values() for alias in kind.aliases)])
