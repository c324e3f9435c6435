"""Answers to questions about images: how many are right, how far raters agree, and which questions are ambiguous."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from vqagen.human.answers import AnswerRow
from vqagen.human.scores.agreement import alpha
from vqagen.human.scores.clusters import two_way_interval
from vqagen.human.scores.samples import by_item, grouped, is_right, said, sample_of
from vqagen.human.scores.settings import NOMINAL
from vqagen.score.report.table import COUNT, DECIMAL, SHARE, TEXT, Cell, Table, columns

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
    found = sorted(map(_question, grouped(rows, lambda row: row.item).values()))
    ambiguous = tuple(row for _, is_ambiguous, row in found if is_ambiguous)
    rule = f"fewer than two thirds of at least {FEWEST} answers are equal, or the commonest one is not the right one"
    shown = (*_QUESTION, *columns(commonest=TEXT, given=TEXT))
    yield Table("ambiguous", "Ambiguous questions, worst first", shown, ambiguous, (rule,))
    yield Table("questions", "Questions, worst first", shown, tuple(row for *_, row in found), is_detail=True)


def _summary(rows: Sequence[AnswerRow]) -> tuple[Cell, ...]:
    """Return the row of a dimension: numbers, accuracy with its interval, agreement, and a note."""
    items = by_item(rows, lambda row: said(row.value))
    known = [row for row in rows if row.gold is not None]
    right = two_way_interval(sample_of(known, is_right)) if known else None
    shares = (right.mean, right.low, right.high) if right else (None, None, None)
    accuracy = [None if share is None else min(max(share, 0.0), 1.0) for share in shares]
    agreed = sum(max(Counter(answers).values()) for answers in items) / len(rows)
    *_, found, low, high, why = alpha(items, NOMINAL)
    notes = filter(None, (right.why if right else "no right answer is known", why))
    return (
        len(items),
        len(rows),
        len({row.rater for row in rows}),
        *accuracy,
        agreed,
        found,
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
