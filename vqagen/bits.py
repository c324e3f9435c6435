"""Sets of objects as ints: bit i stands for object i. Algebra is written `a & b`, `a | b`; tricks have names here."""

from __future__ import annotations

from collections.abc import Iterable

Objects = int
"""A set of objects of one scene."""


def union_of(indexes: Iterable[int]) -> Objects:
    """The set of the given object indexes."""
    objects = 0
    for index in indexes:
        objects |= 1 << index
    return objects


def union(sets: Iterable[Objects]) -> Objects:
    """The union of sets."""
    joined = 0
    for each in sets:
        joined |= each
    return joined


def first_n(count: int) -> Objects:
    """The set of objects 0 .. count - 1."""
    return (1 << count) - 1


def is_single(objects: Objects) -> bool:
    """True if the set has exactly one member."""
    return objects != 0 and objects & (objects - 1) == 0


def only(objects: Objects) -> int:
    """The index of the one member of a set that `is_single`."""
    return objects.bit_length() - 1


def indexes(objects: Objects) -> list[int]:
    """The members, ascending."""
    found = []
    while objects:
        lowest = objects & -objects
        found.append(lowest.bit_length() - 1)
        objects ^= lowest
    return found
