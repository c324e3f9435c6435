"""How many examples of a rule a run tries: `scripts/test --all` every one, the quick run an evenly spread share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
SHARE = 0.1
is_quick = False
"""`conftest.py` sets it before the first test file is imported."""


def fewer(count: int, least: int = 1) -> int:
    """Return `count` of a run of all tests; of the quick run a tenth of it, and not under `least`."""
    return min(count, max(least, round(SHARE * count))) if is_quick else count


def some(items: Sequence[T], least: int = 1) -> list[T]:
    """Return all items, or the evenly spread `fewer(len(items))` of them."""
    count = fewer(len(items), least)
    return [items[number * len(items) // count] for number in range(count)]
