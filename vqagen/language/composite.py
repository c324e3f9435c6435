"""Template-only nodes: one node in a template that stands for a chain of primitive ones in a program.

The name of vqagen's own says what it does: `[relate_]filter[_unique|_not_unique|_count|_exist]`. With `relate_` the
chain starts from what stands in a relation to an object, otherwise from an object set; then comes a filter for each
described attribute; then the function named at the end, if any.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

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


def _made(name: str, filters: Mapping[str, str]) -> Composite:
    match = _NAME.fullmatch(name)
    assert match is not None
    relates, reducer = match["relate"] is not None, match["reducer"]
    output = _OUTPUT[reducer] if reducer else "ObjectSet"
    return Composite(name, "Object" if relates else "ObjectSet", output, relates, reducer, filters)


COMPOSITE_NAMES = tuple(
    f"{relate}filter{reducer}" for relate in ("", "relate_") for reducer in ("", *(f"_{name}" for name in _OUTPUT))
)
"""The names of all template-only nodes."""


def composites_of(domain: Domain) -> dict[str, Composite]:
    """The template-only nodes of a domain by name."""
    filters = {attribute.type: f"filter_{attribute.name}" for attribute in domain.attributes}
    return {name: _made(name, filters) for name in COMPOSITE_NAMES}
