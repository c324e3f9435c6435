"""The lines that Visual7W's toolkit logs, without their times: accuracies with three decimals, and counts by type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

TYPES = ("what", "who", "when", "how", "where", "why", "which")
"""Question types in the order in which the toolkit lists them."""


class TypeCount(NamedTuple):
    """The questions of one type."""

    type: str
    correct: int
    total: int


def visual7w_lines(top_k: int, types: Iterable[TypeCount]) -> Iterator[str]:
    """Yield the lines for questions that were judged by the first `top_k` candidates."""
    counts = sorted(types, key=lambda each: (TYPES.index(each.type) if each.type in TYPES else len(TYPES), each.type))
    correct, total = sum(each.correct for each in counts), sum(each.total for each in counts)
    yield f"Evaluated on {total:,} QA pairs with top-{top_k} predictions."
    yield f"Overall accuracy = {correct / total if total else 0:.3f}"
    for each in counts:
        share = each.correct / each.total
        yield f'Question type "{each.type}" accuracy = {share:.3f} ({each.correct} / {each.total})'
