"""Answers with all that scoring needs: one row for each, read from a store or from an export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An answer, and what it was about."""

    assignment: str
    rater: str
    task: str
    slot: int
    state: str
    """State of the assignment: claimed, complete, expired or withdrawn."""
    trial: int
    """Its number in the order that the rater saw, from 1."""
    item: str
    image: str
    kind: str
    use: str
    dimension: str
    value: int
    """The value as chosen, from the left end of the scale to its right end."""
    second_on_right: bool
    toward_second: int
    """The value turned so that larger is better for the second text."""
    least: int
    largest: int
    first_source: str
    first_role: str
    second_source: str = ""
    second_role: str = ""
    """"" where one text is rated."""
    gold_is_second: bool | None = None
    """For attention checks: the second text is the right one."""
    gold_value: int | None = None
    """For instructed trials: the value that was asked for."""
    rt_ms: int = 0
    shown_ms: int = 0
    blur: int = 0
    stored: int = 0
    strata: Mapping[str, str | int | float] = field(default_factory=dict)
    weight: float = 1.0
