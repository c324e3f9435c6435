"""The block on answers: recall and confusion of each right answer, and accuracies that guessing cannot raise.

Balanced accuracy, Cohen's kappa and Matthews' correlation coefficient are those of scikit-learn (extra `stats`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from vqagen.errors import UsageError
from vqagen.extras import needed
from vqagen.judge.report.table import COUNT, SHARE, TEXT, Cell, Table, columns
from vqagen.judge.scoring.blocks.answer_counts import NO_ANSWER, AnswerCounts, givens, rights, share, total

MOST_ANSWERS = 40
"""Different right answers of one kind that a table still lists."""
NO_ANSWER_SHOWN = "(no answer)"
_COLUMNS = columns(
    kind=TEXT, answer=TEXT, n=COUNT, recall=SHARE, given=COUNT, precision=SHARE, confused_with=TEXT, times=COUNT
)
_CHANCE_COLUMNS = columns(kind=TEXT, n=COUNT, accuracy=SHARE, balanced_accuracy=SHARE, kappa=SHARE, MCC=SHARE)


class ChanceCorrected(NamedTuple):
    """Figures in which an answer that is right often by chance counts less."""

    balanced_accuracy: float
    kappa: float | None
    """None if all right and all given answers are one answer."""
    mcc: float


def confusion_table(counts: dict[str, AnswerCounts]) -> Table | None:
    """Return recall, precision and the most frequent confusion of each answer, by kind of answer.

    A kind with more than MOST_ANSWERS right answers is left out: it has no closed vocabulary.
    """
    listed = {kind: pairs for kind, pairs in counts.items() if 0 < len(rights(pairs)) <= MOST_ANSWERS}
    rows = tuple(row for kind, pairs in listed.items() for row in _rows(kind, pairs))
    left_out = [kind for kind in counts if counts[kind] and kind not in listed]
    notes = tuple(f"left out: {kind} answers, of which there are more than {MOST_ANSWERS}" for kind in left_out)
    return Table("answers", "Answers", _COLUMNS, rows, notes) if rows else None


def _rows(kind: str, counts: AnswerCounts) -> list[tuple[Cell, ...]]:
    given = givens(counts)
    rows: list[tuple[Cell, ...]] = []
    for answer, number in rights(counts).items():
        hits = counts.get((answer, answer), 0)
        wrong = {other: times for (right, other), times in counts.items() if right == answer and other != answer}
        most, times = min(wrong.items(), key=lambda item: (-item[1], item[0]), default=(None, None))
        confused = NO_ANSWER_SHOWN if most == NO_ANSWER else most
        precision = share(hits, given[answer])
        rows.append((kind, answer, number, hits / number, given[answer], precision, confused, times))
    return rows


def chance_table(counts: dict[str, AnswerCounts]) -> Table | None:
    """Return the chance-corrected figures by kind of answer; a note in their place if scikit-learn is missing."""
    rows: list[tuple[Cell, ...]] = []
    notes: tuple[str, ...] = ()
    for kind, pairs in counts.items():
        if not 0 < len(rights(pairs)) <= MOST_ANSWERS:
            continue
        accuracy = share(total(pairs, lambda right, given: right == given), total(pairs))
        try:
            figures: tuple[float | None, ...] = tuple(chance_corrected(pairs))
        except UsageError as missing:
            figures, notes = (None, None, None), (str(missing),)
        rows.append((kind, total(pairs), accuracy, *figures))
    return Table("chance", "Corrected for chance", _CHANCE_COLUMNS, tuple(rows), notes) if rows else None


def chance_corrected(counts: AnswerCounts) -> ChanceCorrected:
    """Return the chance-corrected figures of answers. UsageError if scikit-learn is missing."""
    metrics: Any = needed("sklearn.metrics", "stats", "balanced accuracy")
    right = [pair[0] for pair in counts]
    given = [pair[1] for pair in counts]
    weights = list(counts.values())
    of_each = rights(counts)
    recalls = [counts.get((answer, answer), 0) / number for answer, number in of_each.items()]
    if len(of_each) == 1 and set(right) == set(given):
        return ChanceCorrected(1.0, None, 0.0)
    # sklearn's balanced_accuracy_score warns of each given answer that is never right; its mean of recalls is this
    labels = sorted({*right, *given})
    kappa = metrics.cohen_kappa_score(right, given, labels=labels, sample_weight=weights)
    mcc = metrics.matthews_corrcoef(right, given, sample_weight=weights)
    return ChanceCorrected(sum(recalls) / len(recalls), float(kappa), float(mcc))
