"""Records: frozen dataclasses that cost little to declare."""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(Field, field))
def frozen(kind: type[T]) -> type[T]:
    """Make a class a dataclass whose objects stay as they are, in a quarter of the time.

    For each frozen dataclass Python compiles six methods: with fifty of them, that was a sixth of all that `vqagen
    generate` did for one scene. Here `__init__` alone is compiled, and the type checker alone keeps objects frozen.

    >>> @frozen
    ... class Place:
    ...     name: str
    ...     line: int = field(default=0, compare=False)
    >>> Place("a", 1), Place("a", 1) == Place("a", 2), Place("a") == Place("b"), len({Place("a", 1), Place("a", 2)})
    (Place(name='a', line=1), True, False, 1)
    """
    for name, method in (("__eq__", _is_equal), ("__hash__", _hash), ("__repr__", _shown)):
        if name not in vars(kind):
            setattr(kind, name, method)
    return dataclass(eq=False, repr=False)(kind)


def _is_equal(one: Any, other: Any) -> Any:
    if type(one) is not type(other):
        return NotImplemented
    return all(getattr(one, each.name) == getattr(other, each.name) for each in fields(one) if each.compare)


def _hash(one: Any) -> int:
    return hash(tuple([getattr(one, each.name) for each in fields(one) if each.compare and each.hash is not False]))


def _shown(one: Any) -> str:
    shown = ", ".join(f"{each.name}={getattr(one, each.name)!r}" for each in fields(one) if each.repr)
    return f"{type(one).__qualname__}({shown})"
