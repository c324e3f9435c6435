"""Coverage: which questions have a prediction, and what is wrong with predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

EXAMPLES = 3
"""Ids that are kept as examples of each fault."""
FAULTS = ("missing", "duplicate", "unknown", "not_an_option", "ambiguous", "refused")


@dataclass(frozen=True)
class Coverage:
    """Counts of questions and predictions."""

    questions: int
    predictions: int
    """Predictions in the file, duplicates among them."""
    answered: int
    """Questions with a prediction."""
    missing: int
    """Questions without one."""
    duplicate: int
    """Further predictions for a question that has one already. They change nothing if they are equal to the first;
    a question with different predictions is answered wrong."""
    unknown: int
    """Predictions for questions that the gold file does not have; each id counts once."""
    parsed: int
    """Questions whose prediction was understood."""
    ambiguous: int
    """Questions whose prediction names several answers, or which have different predictions."""
    refused: int
    """Questions whose prediction holds no answer."""
    not_an_option: int
    """Questions whose prediction names none of the options."""
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Fault -> the first ids that have it, in the order of questions; of unknown and duplicate ids, the lowest."""

    def first_ids(self) -> str:
        """Return the first ids of each fault as text; "" without faults.

        >>> Coverage(9, 4, 4, 5, 0, 1, 4, 0, 0, 0, {"missing": ("0", "2", "3"), "unknown": ("12",)}).first_ids()
        'missing 0, 2, 3, …; unknown 12'
        """
        parts = []
        for fault in FAULTS:
            ids = self.examples.get(fault, ())
            more = ", …" if getattr(self, fault) > len(ids) else ""
            parts += [f"{fault.replace('_', ' ')} {', '.join(ids)}{more}"] if ids else []
        return "; ".join(parts)

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        counts = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "examples"}
        return {**counts, "examples": {name: list(ids) for name, ids in self.examples.items()}}


class Examples:
    """The first ids of each fault."""

    def __init__(self) -> None:
        self._ids: dict[str, list[str]] = {}

    def add(self, fault: str, id: str) -> None:
        """Add an id, unless there are enough."""
        listed = self._ids.setdefault(fault, [])
        if len(listed) < EXAMPLES:
            listed.append(id)

    def of_all(self) -> dict[str, tuple[str, ...]]:
        """Return fault -> ids."""
        return {fault: tuple(ids) for fault, ids in sorted(self._ids.items())}
