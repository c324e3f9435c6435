"""The block on answers: recall, precision and the most frequent confusion of each right answer."""

from __future__ import annotations

from vqagen.score.report.table import COUNT, SHARE, TEXT, Cell, Table, columns
from vqagen.score.scoring.blocks.answer_counts import NO_ANSWER, AnswerCounts, givens, rights, share

MOST_ANSWERS = 40
"""Different right answers of one kind that a table still lists."""
NO_ANSWER_SHOWN = "(no answer)"
_COLUMNS = columns(
    kind=TEXT, answer=TEXT, n=COUNT, recall=SHARE, given=COUNT, precision=SHARE, confused_with=TEXT, times=COUNT
)


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
