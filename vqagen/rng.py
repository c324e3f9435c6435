"""Random streams: one per labelled thing, derived from the seed, never global.

A stream depends on `(seed, label, index)` alone, so what is drawn for scene 70,000 does not change when another process
draws scenes 0 to 69,999 (CONTRIBUTING: laws 1 and 2). Only `Random.random()` is used in hot code: its sequence is fixed
across Python versions, which `randrange` and `shuffle` are not promised to be.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def stream(seed: int, label: str, index: int = 0) -> Random:
    """The random stream for one labelled thing, such as `stream(seed, "questions", scene.index)`."""
    digest = hashlib.blake2b(f"{seed}/{label}/{index}".encode(), digest_size=16).digest()
    return Random(int.from_bytes(digest, "big"))


def below(rng: Random, count: int) -> int:
    """A uniform int in 0 .. count - 1. The bias of `int(random() * count)` is below count / 2**53."""
    return int(rng.random() * count)


def pick(rng: Random, items: Sequence[T]) -> T:
    """One of the items, uniformly."""
    return items[int(rng.random() * len(items))]


def take(rng: Random, items: list[T]) -> T:
    """Remove one of the items, uniformly, and return it. The order of the others changes."""
    place = int(rng.random() * len(items))
    items[place], items[-1] = items[-1], items[place]
    return items.pop()


def shuffled(rng: Random, items: Sequence[T]) -> list[T]:
    """A new list of the items in random order (Fisher-Yates)."""
    order, random = list(items), rng.random
    for left in range(len(order), 1, -1):
        other, last = int(random() * left), left - 1
        order[last], order[other] = order[other], order[last]
    return order
