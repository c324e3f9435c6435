"""How far a run is: for a bar, and for what is said at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vqagen.run.journal import Entry
from vqagen.run.runner import Made


@dataclass
class Progress:
    """Told after each block."""

    expected: int | None = None
    """Items (scenes) of the whole run, as far as can be told by now."""
    items: int = 0
    resumed_items: int = 0
    """How many of the items an earlier run had done."""
    new_records: int = 0
    """Made by this run."""

    def add(self, made: Made) -> None:
        """Count a block."""
        items = made.end - made.first
        self.items += items
        if isinstance(made, Entry):
            self.resumed_items += items
        else:
            self.new_records += made.records


OnProgress = Callable[[Progress], object]
