"""Vectors of the world: three coordinates as a tuple, so that results are the same to the last bit everywhere."""

from __future__ import annotations

import math

Vector = tuple[float, float, float]

PARALLEL = 1e-9
"""Sine of the angle below which two directions count as parallel."""


def minus(a: Vector, b: Vector) -> Vector:
    """Return the vector from b to a."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def dot(a: Vector, b: Vector) -> float:
    """Return the scalar product, summed from x to z."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return the vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def unit(a: Vector) -> Vector:
    """Return `a` scaled to length 1. Raises ValueError for a vector without direction."""
    length = math.sqrt(dot(a, a))
    if length < PARALLEL:
        raise ValueError(f"no direction in {a}")
    return a[0] / length, a[1] / length, a[2] / length
