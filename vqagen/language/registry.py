"""Functions as a domain has them: every declared function, and each declared family once for each attribute.

`functions.py` and plug-ins declare (see `vqagen.plugin`); `Catalogue` (in `catalogue.py`) holds all functions of a
domain by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from vqagen.plugin import FunctionDeclaration, Run
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
    inputs, values = (tuple(each.format(**names) for each in types) for types in (declared.inputs, declared.values))
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
