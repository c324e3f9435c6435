"""Template-only nodes: one node in a template that stands for a chain of primitive ones in a program.

The name says what it does: `[relate_]filter[_unique|_not_unique|_count|_exist]`. With `relate_` the chain starts from
what stands in a relation to an object, otherwise from an object set; then comes a filter for each described attribute;
then the function named at the end, if any.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_OUTPUT = {"unique": "Object", "not_unique": "ObjectSet", "count": "Integer", "exist": "Bool"}
"""Functions that may end a chain, and what they give."""
_NAME = re.compile(rf"(?P<relate>relate_)?filter(?:_(?P<reducer>{'|'.join(_OUTPUT)}))?")


@dataclass(frozen=True)
class Composite:
    """A template-only node, by its name."""

    name: str
    relates: bool
    reducer: str | None
    """The function that ends the chain: unique, not_unique, count, exist, or None."""

    @property
    def input(self) -> str:
        """The type it starts from."""
        return "Object" if self.relates else "ObjectSet"

    @property
    def output(self) -> str:
        """The type it yields."""
        return _OUTPUT[self.reducer] if self.reducer else "ObjectSet"


def find_composite(name: str) -> Composite | None:
    """The template-only node of that name, if it is one."""
    match = _NAME.fullmatch(name)
    return Composite(name, match["relate"] is not None, match["reducer"]) if match else None


COMPOSITE_NAMES = tuple(
    f"{relate}filter{reducer}" for relate in ("", "relate_") for reducer in ("", *(f"_{name}" for name in _OUTPUT))
)
