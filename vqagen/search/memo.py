"""Memos: dictionaries that compute what they lack, and forget it before memory grows with the number of scenes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

REMEMBERED = 50_000
"""Entries after which a memo starts anew."""


class Memo(dict[K, V]):
    """Key -> what `make` returns for it, made when first asked for."""

    def __init__(self, make: Callable[[K], V], most: int) -> None:
        """`most`: the entries after which the memo starts anew."""
        super().__init__()
        self._make, self._most = make, most

    def __missing__(self, key: K) -> V:
        if len(self) > self._most:
            self.clear()
        value = self[key] = self._make(key)
        return value
