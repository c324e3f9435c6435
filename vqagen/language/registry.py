"""Functions as a domain has them: every declared function, and each declared family once for each attribute.

`functions.py` and plug-ins declare (see `vqagen.plugin`); `Catalogue` (in `catalogue.py`) holds all functions of a
domain by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from vqagen.plugin import FunctionDeclaration, Run
from vqagen.world.domain import Domain

Value = Any
"""What a step yields: an object set (int mask), an object (its index), an int, a bool, an attribute value (text), or
a tuple of values where the attribute is list-valued."""


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
    """RELATION, SAMENESS, EQUALITY (see `vqagen.plugin`), or "" for none of them."""

    @property
    def signature(self) -> str:
        """Such as `filter_color(ObjectSet; Color) -> ObjectSet`."""
        taken = ", ".join(self.inputs) + ("; " + ", ".join(self.values) if self.values else "")
        return f"{self.name}({taken}) -> {self.output}"


def functions_of(declared: FunctionDeclaration, domain: Domain) -> Iterator[Function]:
    """The functions that one declaration makes in a domain."""
    if not declared.per_attribute:
        yield _filled(declared, declared.run, {"relation": domain.relation_type})
        return
    for attribute in domain.attributes:
        yield _filled(declared, declared.run(attribute), {"name": attribute.name, "type": attribute.type})


def _filled(declared: FunctionDeclaration, run: Run, names: Mapping[str, str]) -> Function:
    inputs, values = (tuple(each.format(**names) for each in types) for types in (declared.inputs, declared.values))
    return Function(
        declared.name.format(**names),
        inputs,
        values,
        declared.output.format(**names),
        run,
        declared.meaning,
        declared.asks,
        declared.role,
    )
