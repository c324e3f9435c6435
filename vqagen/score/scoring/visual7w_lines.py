"""The lines that Visual7W's toolkit logs, without their times: accuracies with three decimals, and counts by type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from vqagen.records.visual7w import QUESTION_TYPES


class TypeCount(NamedTuple):
    """The questions of one type."""

    type: str
    correct: int
    total: int


def visual7w_lines(top_k: int, types: Iterable[TypeCount]) -> Iterator[str]:
    """Yield the lines for questions that were judged by the first `top_k` candidates."""
    counts = sorted(types, key=lambda each: (_place(each.type), each.type))
    correct, total = sum(each.correct for each in counts), sum(each.total for each in counts)
    yield f"Evaluated on {total:,} QA pairs with top-{top_k} predictions."
    yield f"Overall accuracy = {correct / total if total else 0:.3f}"
    for each in counts:
        share = each.correct / each.total
        yield f'Question type "{each.type}" accuracy = {share:.3f} ({each.correct} / {each.total})'


def _place(name: str) -> int:
    return QUESTION_TYPES.index(name) if name in QUESTION_TYPES else len(QUESTION_TYPES)
