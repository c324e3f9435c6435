"""Figures of the page of scores, as SVG: scores with intervals, and how answers are distributed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from vqagen.human.scores.study_scores import StudyScores
from vqagen.score.report.table import Figure, Table
from vqagen.score.report.writers import Axis, Row, bars, draw, interval_figure

_AXIS = Axis(-1, 1)
_WORSE, _EQUAL, _BETTER = (209, 97, 46), (217, 222, 227), (64, 125, 171)


def score_figures(scores: StudyScores, tables: Sequence[Table]) -> Iterator[Figure]:
    """Yield the figures: answers, scores in all and by each field, and the accuracy of answers to questions."""
    for table in tables:
        columns = [column.name for column in table.columns]
        if "score" in columns and table.key != "worst":
            yield interval_figure(table, "score", _AXIS, 0, "+.2f")
        elif "accuracy" in columns and "low" in columns:
            yield interval_figure(table)
    if scores.samples:
        rows = [_distribution(scores.label(each), Counter(of.scores.tolist())) for each, of in scores.samples.items()]
        caption = "blue: for the system; orange: for the reference; middle of the scale at 0"
        yield Figure("Answers", caption, draw(_AXIS, rows))


def _distribution(label: str, counts: Counter[float]) -> Row:
    """Return bars of the answers from the worst to the best, half of those in the middle on each side of 0."""
    total = counts.total()
    left = -(sum(count for score, count in counts.items() if score < 0) + counts[0.0] / 2) / total
    parts = [(f"{score:+.2f}: {counts[score]:,}", counts[score] / total, _shade(score)) for score in sorted(counts)]
    return Row(label, f"n = {total:,}", bars(_AXIS, left, parts))


def _shade(score: float) -> str:
    """Return the color of an answer: grey in the middle, stronger towards the ends."""
    end = _BETTER if score > 0 else _WORSE
    mixed = (round(grey + (full - grey) * abs(score)) for grey, full in zip(_EQUAL, end, strict=True))
    return f"rgb({','.join(map(str, mixed))})"
