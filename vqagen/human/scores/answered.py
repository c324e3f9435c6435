"""Answers to questions about images: how many are right, how far raters agree, and which questions are ambiguous."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from vqagen.human.answers import AnswerRow
from vqagen.human.scores.samples import by_item, grouped, is_right, said, sample_of, two_way_interval
from vqagen.human.settings import INTERVAL, NOMINAL, ORDINAL
from vqagen.report.table import COUNT, DECIMAL, SHARE, TEXT, Cell, Table, columns
from vqagen.rng import stream
from vqagen.score.intervals import LEVEL, Numbers

FEWEST = 3
"""Answers to a question below which differences between them are no sign of anything."""
AGREED = 2 / 3
"""Share of equal answers below which a question is ambiguous."""
_SHARES = columns(accuracy=SHARE, low=SHARE, high=SHARE, agreed=SHARE)
_ALPHA = columns(alpha=DECIMAL, alpha_low=DECIMAL, alpha_high=DECIMAL, note=TEXT)
_QUESTION = columns(dimension=TEXT, question=TEXT, image=TEXT, right=TEXT, answers=COUNT, accuracy=SHARE, agreed=SHARE)


def answer_tables(rows: Sequence[AnswerRow]) -> Iterator[Table]:
    """Yield the tables: accuracy and agreement in each dimension, ambiguous questions, and all questions."""
    notes = (
        "accuracy: where the right answer is known, with the interval of two-way clusters",
        "agreed: share of answers equal to the commonest one to their question; alpha: Krippendorff's, nominal",
    )
    by_dimension = sorted(grouped(rows, lambda row: row.dimension).items())
    cells = tuple((name, *_summary(of_dimension)) for name, of_dimension in by_dimension)
    shown = (*columns(dimension=TEXT, questions=COUNT, answers=COUNT, raters=COUNT), *_SHARES, *_ALPHA)
    yield Table("human_accuracy", "Human accuracy", shown, cells, notes)
    questions = sorted(map(_question, grouped(rows, lambda row: row.item).values()))
    ambiguous = tuple(row for _, is_ambiguous, row in questions if is_ambiguous)
    rule = f"fewer than two thirds of at least {FEWEST} answers are equal, or the commonest one is not the right one"
    shown = (*_QUESTION, *columns(commonest=TEXT, given=TEXT))
    yield Table("ambiguous", "Ambiguous questions, worst first", shown, ambiguous, (rule,))
    yield Table("questions", "Questions, worst first", shown, tuple(row for *_, row in questions), is_detail=True)


def _summary(rows: Sequence[AnswerRow]) -> tuple[Cell, ...]:
    """Return the row of a dimension: numbers, accuracy with its interval, agreement, and a note."""
    items = by_item(rows, lambda row: said(row.value))
    known = [row for row in rows if row.gold is not None]
    right = two_way_interval(sample_of(known, is_right)) if known else None
    shares = (right.mean, right.low, right.high) if right else (None, None, None)
    accuracy = [None if share is None else min(max(share, 0.0), 1.0) for share in shares]
    agreed = sum(max(Counter(answers).values()) for answers in items) / len(rows)
    *_, figure, low, high, why = alpha(items, NOMINAL)
    notes = filter(None, (right.why if right else "no right answer is known", why))
    return (
        len(items),
        len(rows),
        len({row.rater for row in rows}),
        *accuracy,
        agreed,
        figure,
        low,
        high,
        "; ".join(notes),
    )


def _question(rows: Sequence[AnswerRow]) -> tuple[tuple[float, int, str], bool, tuple[Cell, ...]]:
    """Return the place of a question among the worst, whether it is ambiguous, and its row.

    It is known by its numbers in a file of predictions, or else by its id.
    """
    first, given = rows[0], Counter(said(row.value) for row in rows)
    gold = "" if first.gold is None else said(first.gold)
    ordered = sorted(given, key=lambda answer: (-given[answer], answer != gold, answer))
    agreed, right = given[ordered[0]] / len(rows), given[gold] / len(rows) if gold else None
    name = ", ".join(f"{key} {value}" for key, value in first.record.items()) or first.item
    is_ambiguous = (len(rows) >= FEWEST and agreed < AGREED) or bool(gold and ordered[0] != gold)
    all_given = ", ".join(f"{answer} {given[answer]}" for answer in ordered)
    row = (first.dimension, name, first.image, gold, len(rows), right, agreed, ordered[0], all_given)
    return (agreed if right is None else right, -len(rows), first.item), is_ambiguous, row


# Agreement -----------------------------------------------------------------------------------------------------------
#
# Krippendorff's alpha (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability): 1 is perfect agreement, 0 what
# chance gives, below 0 is systematic disagreement. Items with one value say nothing. The interval is the middle 95 % of
# resamples of items. Raters are not drawn: one who is drawn twice agrees with himself.

Alpha = tuple[str, int, int, float | None, float | None, float | None, str]
"""Metric, items with two values or more and the values of these, alpha, low, high, and why there is none of them."""


def alpha(items: Iterable[Sequence[float] | Sequence[str]], metric: str = INTERVAL, resamples: int = 2000) -> Alpha:
    """Return alpha of one metric, by the values of each item."""
    paired = [values for values in items if len(values) > 1]
    numbers = len(paired), sum(map(len, paired))
    levels = np.unique([value for values in paired for value in values])
    if len(levels) < 2:
        return metric, *numbers, None, None, None, "all answers are equal" if paired else "no item has two answers"
    counts = np.array([np.bincount(np.searchsorted(levels, values), minlength=len(levels)) for values in paired])
    figure = _alpha(counts, levels, metric)
    if len(paired) == 1:
        return metric, *numbers, figure, None, None, "one item only"
    rng = np.random.default_rng(stream(0, "human/agreement").getrandbits(128))
    drawn = [_alpha(counts[rng.integers(len(counts), size=len(counts))], levels, metric) for _ in range(resamples)]
    low, high = np.nanquantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return metric, *numbers, figure, float(low), float(high), ""


def _alpha(counts: Numbers, levels: Numbers, metric: str) -> float:
    """Return alpha by how often each item has each level, `counts[item][level]`; NaN where all values are equal."""
    totals = counts.sum(axis=0)
    apart = METRICS[metric](levels, totals)
    observed = float((((counts @ apart) * counts).sum(axis=1) / (counts.sum(axis=1) - 1)).sum())
    expected = float(totals @ apart @ totals)
    return 1 - (int(totals.sum()) - 1) * observed / expected if expected else np.nan


def _squared(places: Numbers) -> Numbers:
    return np.subtract.outer(places, places) ** 2


METRICS: Mapping[str, Callable[[Numbers, Numbers], Numbers]] = {
    INTERVAL: lambda levels, totals: _squared(levels),
    ORDINAL: lambda levels, totals: _squared(np.cumsum(totals) - totals / 2),  # mean ranks
    NOMINAL: lambda levels, totals: 1.0 - np.eye(len(levels)),
}
"""Name -> squared differences of levels, by the levels and the number of values of each."""
