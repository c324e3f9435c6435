"""Counts of (right answer, given answer): all that the blocks on single answers need to know of a scoring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

AnswerCounts = Mapping[tuple[str, str], int]
"""(right answer, given answer) -> questions; a question without an answer was given NO_ANSWER."""
NO_ANSWER = ""


def total(counts: AnswerCounts, holds: Callable[[str, str], bool] = lambda right, given: True) -> int:
    """Return the number of questions whose answers fulfil a condition."""
    return sum(number for (right, given), number in counts.items() if holds(right, given))


def rights(counts: AnswerCounts) -> Counter[str]:
    """Return right answer -> questions, the most frequent first, ties by name."""
    found: Counter[str] = Counter()
    for (right, _), number in counts.items():
        found[right] += number
    return Counter(dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))))


def givens(counts: AnswerCounts) -> Counter[str]:
    """Return given answer -> questions."""
    found: Counter[str] = Counter()
    for (_, given), number in counts.items():
        found[given] += number
    return found


def share(part: float, whole: float) -> float | None:
    """Return a share; None of nothing."""
    return part / whole if whole else None
