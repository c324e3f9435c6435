"""How far a run is, for a progress bar and for its report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class BlockWritten(NamedTuple):
    """A block that is kept, made by this run or by the earlier one that it resumes."""

    first: int
    """Absolute index of its first item."""
    end: int
    """One behind its last item's."""
    records: int
    tally: Mapping[str, Any]
    is_resumed: bool


@dataclass
class Progress:
    """How far a run is, after each block."""

    item: str = "scene"
    """One item, for people."""
    noun: str = "record"
    """One record, for people."""
    expected: int | None = None
    """Items of the whole run, as far as is known by now."""
    items: int = 0
    resumed_items: int = 0
    """Items that an earlier run had finished."""
    new_records: int = 0
    """Records that this run has made."""

    def add(self, block: BlockWritten) -> None:
        """Count a block."""
        items = block.end - block.first
        self.items += items
        if block.is_resumed:
            self.resumed_items += items
        else:
            self.new_records += block.records


OnBlockWritten = Callable[[BlockWritten], object]
"""Called with each block: first with those that an earlier run made, then with new ones."""
OnProgress = Callable[[Progress], object]
