"""A gold item: one question with its right answers, and the fields by which results are grouped."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from vqagen.score.answers.kinds import Answer

FieldValue = str | int | None


class GoldItem(NamedTuple):
    """One question, dialog round or trial. (A frozen dataclass takes 3.7 µs to make, this 0.7: `bench evaluate`.)"""

    id: str
    """As the file numbers its items: `17`; of a round, the dialog's number and the round's from 0 on: `3/5`."""
    kind: str
    """The kind of its answer; see `judge.answers.kinds`."""
    answers: tuple[Answer, ...]
    """The accepted answers; the first is canonical."""
    image: str
    """The image that it is about. Items about one image form a cluster."""
    fields: Mapping[str, FieldValue] = MappingProxyType({})
    """Name -> value to group by; None for an item that the field does not concern. Items may share one mapping."""
    options: tuple[str, ...] = ()
    """The options of multiple choice, the right one among them; of pointing, the ids of the boxes."""
    question: str = ""
    weights: tuple[int, ...] = ()
    """The number of annotators of each of the `answers` (VQAv2); empty if all are equally right."""
    right: int | None = None
    """The index of the right option, counted from 0."""
    pair: int | str | None = None
    """The number that it shares with the other question of its pair."""
    block: int | str | None = None
    """The name that it shares with the questions of its block, which exchange their options."""
    has_letters: bool = True
    """False if a letter cannot name an option, because the file does not record the order that a model saw."""
