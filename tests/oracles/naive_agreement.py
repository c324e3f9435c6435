"""Krippendorff's alpha by its definition: mean squared differences within items over those of all pairs of answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any


def naive_alpha(items: Sequence[Sequence[Any]], metric: str) -> float | None:
    """Return alpha; None where it is not defined."""
    paired = [values for values in items if len(values) > 1]
    pooled = [value for values in paired for value in values]
    if len(set(pooled)) < 2:
        return None

    def apart(one: Any, other: Any) -> float:
        if metric == "nominal":
            return float(one != other)
        if metric == "interval":
            return (one - other) ** 2
        low, high = min(one, other), max(one, other)
        between = sum(low <= value <= high for value in pooled)
        return (between - (pooled.count(one) + pooled.count(other)) / 2) ** 2 if low != high else 0.0

    within = sum(
        sum(apart(one, other) for one, other in permutations(values, 2)) / (len(values) - 1) for values in paired
    )
    everywhere = sum(apart(one, other) for one, other in permutations(pooled, 2)) / (len(pooled) - 1)
    return 1 - within / everywhere
