"""The registry of functions that programs are made of.

A function is declared once, in `functions.py`, with its signature: input types (from earlier steps), value types (from
slots) and output type. `@function` declares one function; `@attribute_function` declares a family, one for each
attribute of a domain: `filter_{name}` becomes filter_color, filter_size, …, with `{type}` replaced in its signature.
`Catalogue` (in `catalogue.py`) holds all functions of a domain by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from vqagen.world.domain import Attribute, Domain

Run = Callable[..., Any]
Value = Any
"""What a step yields: an object set (int mask), an object (its index), an int, a bool, or an attribute value."""


class Undefined(Exception):
    """A step has no result in this scene, such as the unique member of a set of two."""


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

    @property
    def signature(self) -> str:
        """Such as `filter_color(ObjectSet; Color) -> ObjectSet`."""
        taken = ", ".join(self.inputs) + ("; " + ", ".join(self.values) if self.values else "")
        return f"{self.name}({taken}) -> {self.output}"


@dataclass(frozen=True)
class _Declared:
    name: str
    inputs: tuple[str, ...]
    values: tuple[str, ...]
    output: str
    make: Callable[[Attribute | None], Run]
    meaning: str
    asks: str
    per_attribute: bool

    def functions(self, domain: Domain) -> Iterator[Function]:
        if not self.per_attribute:
            yield self._for(None, {"relation": domain.relation_type})
            return
        for attribute in domain.attributes:
            yield self._for(attribute, {"name": attribute.name, "type": attribute.type})

    def _for(self, attribute: Attribute | None, names: Mapping[str, str]) -> Function:
        def filled(types: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(each.format(**names) for each in types)

        output = self.output.format(**names)
        name = self.name.format(**names)
        return Function(
            name, filled(self.inputs), filled(self.values), output, self.make(attribute), self.meaning, self.asks
        )


_DECLARED: dict[str, _Declared] = {}


def function(*inputs: str, values: tuple[str, ...] = (), output: str, asks: str = "") -> Callable[[Run], Run]:
    """Declare one function under its Python name. `{relation}` stands for the domain's relation type."""

    def declare(run: Run) -> Run:
        _declare(run.__name__, _Declared(run.__name__, inputs, values, output, lambda _: run, *_told(run, asks), False))
        return run

    return declare


def attribute_function(
    pattern: str, *inputs: str, values: tuple[str, ...] = (), output: str, asks: str = ""
) -> Callable[[Callable[[Attribute], Run]], Callable[[Attribute], Run]]:
    """Declare a family with one function for each attribute; the decorated function makes the `run` of one member."""

    def declare(make: Callable[[Attribute], Run]) -> Callable[[Attribute], Run]:
        def make_one(attribute: Attribute | None) -> Run:
            assert attribute is not None
            return make(attribute)

        _declare(pattern, _Declared(pattern, inputs, values, output, make_one, *_told(make, asks), True))
        return make

    return declare


def _told(documented: Callable[..., Any], asks: str) -> tuple[str, str]:
    return (documented.__doc__ or "").strip().split("\n")[0], asks


def _declare(name: str, declared: _Declared) -> None:
    assert name not in _DECLARED, f"function {name} is declared twice"
    _DECLARED[name] = declared


def declared_functions(domain: Domain) -> list[Function]:
    """Every function declared so far, for one domain, in the order of declaration."""
    return [function for declared in _DECLARED.values() for function in declared.functions(domain)]
