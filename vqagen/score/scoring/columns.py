"""Columns of an evaluation: the values of each field, as numbers that stand for them."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from vqagen.score.gold.item import FieldValue

Codes = npt.NDArray[np.int32]
NONE = -1
"""The code of None."""
SHARED = 1 << 15
"""Mappings of fields that are remembered."""


class Coding:
    """One column that grows: values become codes, in the order of their first appearance."""

    def __init__(self, length: int = 0) -> None:
        """Begin with `length` times None."""
        self._code_of: dict[FieldValue, int] = {None: NONE}
        self._codes = array("i", [NONE]) * length
        self.append = self._codes.append
        """Adds the code of the next item."""

    def code(self, value: FieldValue) -> int:
        """Return the code of a value."""
        return self._code_of.setdefault(value, len(self._code_of) - 1)

    def add(self, value: FieldValue) -> None:
        """Add the value of the next item."""
        self.append(self._code_of.setdefault(value, len(self._code_of) - 1))

    @property
    def codes(self) -> Codes:
        """The code of each item."""
        return np.frombuffer(self._codes, dtype=np.int32) if self._codes else np.empty(0, np.int32)

    @property
    def values(self) -> tuple[str | int, ...]:
        """The value of each code."""
        return tuple(value for value in self._code_of if value is not None)


class FieldColumns:
    """The columns of all fields. A field that an item lacks is None there."""

    def __init__(self) -> None:
        self.columns: dict[str, Coding] = {}
        self._length = 0
        self._known: dict[int, tuple[Mapping[str, FieldValue], list[int]]] = {}
        """Identity of a mapping that items share -> the mapping, which keeps its identity so, and its codes."""

    def add(self, fields: Mapping[str, FieldValue]) -> None:
        """Add the fields of the next item."""
        known = self._known.get(id(fields))
        codes = self._codes(fields) if known is None else known[1]
        for column, code in zip(self.columns.values(), codes, strict=True):
            column.append(code)
        self._length += 1

    def _codes(self, fields: Mapping[str, FieldValue]) -> list[int]:
        columns = self.columns
        if not fields.keys() <= columns.keys():
            self._known.clear()
            for name in fields:
                if name not in columns:
                    columns[name] = Coding(self._length)
        if len(self._known) >= SHARED:
            self._known.clear()
        codes = [column.code(_plain(fields.get(name))) for name, column in columns.items()]
        self._known[id(fields)] = fields, codes
        return codes


def _plain(value: Any) -> FieldValue:
    """Return a value that can be a group; what a file of another tool may hold in its place as text."""
    return value if value is None or type(value) in (str, int) else str(value)


class Ids(Sequence[str]):
    """The ids of items. Ids that are written as numbers are held as numbers."""

    def __init__(self) -> None:
        self._numbers: array[int] | None = array("q")
        self._texts: list[str] = []

    def append(self, key: int | str) -> None:
        """Add the key of an id; see `joining.key_of`."""
        if self._numbers is not None:
            if isinstance(key, int):
                self._numbers.append(key)
                return
            self._texts, self._numbers = list(map(str, self._numbers)), None
        self._texts.append(str(key))

    def __len__(self) -> int:
        return len(self._texts if self._numbers is None else self._numbers)

    def __getitem__(self, place: Any) -> Any:
        """Return the id of an item, or a list of ids."""
        found = (self._texts if self._numbers is None else self._numbers)[place]
        return list(map(str, found)) if isinstance(place, slice) else str(found)


def crossed(columns: Sequence[Codes]) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Return a code for each combination of several columns, and the first item that has it.

    The code is NONE where any of the columns is.
    """
    joined = np.zeros(len(columns[0]), dtype=np.int64)
    is_none = np.zeros(len(columns[0]), dtype=bool)
    for codes in columns:
        _, dense = np.unique(joined * (int(codes.max(initial=0)) + 2) + codes + 1, return_inverse=True)
        joined = dense.astype(np.int64)
        is_none |= codes == NONE
    combinations = np.full(len(joined), NONE, dtype=np.int32)
    _, first, inverse = np.unique(joined[~is_none], return_index=True, return_inverse=True)
    combinations[~is_none] = inverse
    return combinations, np.flatnonzero(~is_none)[first]
