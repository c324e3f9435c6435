"""Template-only nodes: one node in a template that stands for a chain of primitive ones in a program.

The name of vqagen's own says what it does: `[relate_]filter[_unique|_not_unique|_count|_exist]`. With `relate_` the
chain starts from what stands in a relation to an object, otherwise from an object set; then comes a filter for each
described attribute; then the function named at the end, if any. Plug-ins declare nodes that filter sets of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from vqagen.language.registry import Function
from vqagen.plugin import FILTER, CompositeDeclaration
from vqagen.world.domain import Domain

_OUTPUT = {"unique": "Object", "not_unique": "ObjectSet", "count": "Integer", "exist": "Bool"}
"""Functions that may end a chain, and what they give."""
_NAME = re.compile(rf"(?P<relate>relate_)?filter(?:_(?P<reducer>{'|'.join(_OUTPUT)}))?")


@dataclass(frozen=True)
class Composite:
    """A template-only node."""

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
    declared: CompositeDeclaration | None = None
    """The plug-in's declaration; None for vqagen's own."""


def _own(name: str, filters: Mapping[str, str]) -> Composite:
    match = _NAME.fullmatch(name)
    assert match is not None
    relates, reducer = match["relate"] is not None, match["reducer"]
    output = _OUTPUT[reducer] if reducer else "ObjectSet"
    return Composite(name, "Object" if relates else "ObjectSet", output, relates, reducer, filters)


COMPOSITE_NAMES = tuple(
    f"{relate}filter{reducer}" for relate in ("", "relate_") for reducer in ("", *(f"_{name}" for name in _OUTPUT))
)
"""The names of vqagen's own."""


def composites_of(
    domain: Domain, functions: Mapping[str, Function], declared: Iterable[CompositeDeclaration] = ()
) -> dict[str, Composite]:
    """The template-only nodes of a domain by name, vqagen's own first."""
    own = {attribute.type: f"filter_{attribute.name}" for attribute in domain.attributes}
    found = {name: _own(name, own) for name in COMPOSITE_NAMES}
    for each in declared:
        reducer = functions.get(each.reducer)
        filters = {function.values[0]: function.name for function in filters_of(each.input, functions)}
        output = reducer.output if reducer else each.input
        made = Composite(each.name, each.input, output, False, each.reducer or None, filters, each)
        found.setdefault(each.name, made)
    return found


def filters_of(set_type: str, functions: Mapping[str, Function]) -> Iterator[Function]:
    """The functions that filter sets of a type."""
    return (each for each in functions.values() if each.role == FILTER and each.inputs == (set_type,))
