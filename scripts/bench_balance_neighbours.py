"""The section of `bench balance` about neighbours: what the other questions about an image tell of an answer."""

from __future__ import annotations

from collections.abc import Mapping

from bench_balance_data import Asked


def neighbour_figures(learned: Asked, tested: Asked) -> Mapping[str, float]:
    """Return what the other questions about an image tell of an answer."""
    return {}
