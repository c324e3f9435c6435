"""How far a run is: for a bar, and for what is said at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class BlockWritten(NamedTuple):
    """A block that is kept: made by this run, or by an earlier one that it goes on with."""

    first: int
    """Absolute index of its first item."""
    end: int
    """One behind its last item's."""
    records: int
    tally: Mapping[str, Any]
    is_resumed: bool


@dataclass
class Progress:
    """Told after each block."""

    expected: int | None = None
    """Items (scenes) of the whole run, as far as can be told by now."""
    items: int = 0
    resumed_items: int = 0
    """How many of the items an earlier run had done."""
    new_records: int = 0
    """BlockWritten by this run."""

    def add(self, made: BlockWritten) -> None:
        """Count a block."""
        items = made.end - made.first
        self.items += items
        if made.is_resumed:
            self.resumed_items += items
        else:
            self.new_records += made.records


OnBlockWritten = Callable[[BlockWritten], object]
"""Told of each block: first of those that an earlier run made, then of new ones."""
OnProgress = Callable[[Progress], object]
