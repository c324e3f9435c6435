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
    value: int | str
    """The value as chosen, from the left end of the scale to its right end; of kind answer what was answered."""
    second_on_right: bool | None
    toward_second: int | None
    """The value turned so that larger is better for the second text; None for kind answer, as the scale."""
    least: int | None
    largest: int | None
    first_source: str = ""
    first_role: str = ""
    second_source: str = ""
    second_role: str = ""
    """"" where one text is rated."""
    gold_is_second: bool | None = None
    """For attention checks: the second text is the right one."""
    gold_value: int | None = None
    """For instructed trials: the value that was asked for."""
    gold: str | None = None
    """The right answer to a question, where it is known."""
    record: Mapping[str, int | str] = field(default_factory=dict)
    """What a file of predictions says about the question, such as its `question_index`."""
    rt_ms: int = 0
    server_ms: int = 0
    """Milliseconds from showing to storing, by the server's clock; 0 if they are not known."""
    shown_ms: int = 0
    blur: int = 0
    stored: int = 0
    strata: Mapping[str, str | int | float] = field(default_factory=dict)
    weight: float = 1.0
