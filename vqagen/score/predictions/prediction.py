"""A prediction: what a model answered to one question, with the id of the question."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answers of a model to one question."""

    id: str
    """The id of the question as text, such as "17"; of a round of a dialog "3/5" (dialog_index/round, from 0)."""
    candidates: tuple[str, ...] = ()
    """The answers, best first, as given. Numbers and truth values are text: "2", "yes"."""
