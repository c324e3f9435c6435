"""Figures of the page of scores, as SVG: scores with intervals, and how answers are distributed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from vqagen.human.scores.clusters import Estimate
from vqagen.human.scores.samples import Pairing
from vqagen.human.scores.study_scores import StudyScores
from vqagen.score.report.figures import Axis, Row, bars, draw, interval
from vqagen.score.report.table import Figure

_AXIS = Axis(-1, 1)
_WORSE, _EQUAL, _BETTER = (209, 97, 46), (217, 222, 227), (64, 125, 171)
_MOST_GROUPS = 40


def score_figures(scores: StudyScores) -> Iterator[Figure]:
    """Yield the figures: scores, answers, and one of each field that scores are grouped by."""
    if not scores.estimates:
        return
    caption = "lines are 95 % intervals; dark ones do not hold 0, at which both texts are equally good"
    rows = [_interval(_label(scores, pairing), found) for pairing, found in scores.estimates.items()]
    yield Figure("Scores", caption, draw(_AXIS, rows))
    answers = [_distribution(_label(scores, pairing), counts) for pairing, counts in scores.answers.items()]
    caption_of_answers = "blue: for the system; orange: for the reference; middle of the scale at 0"
    yield Figure("Answers", caption_of_answers, draw(_AXIS, answers))
    for field in scores.settings.fields:
        groups = [each for each in scores.groups if each.field == field and not each.pairing.is_baseline]
        worst = sorted(groups, key=lambda each: (each.estimate.mean, each.value, each.pairing))[:_MOST_GROUPS]
        rows = [_interval(f"{each.value}, {_label(scores, each.pairing)}", each.estimate) for each in worst]
        left_out = f"; the worst {len(worst)} of {len(groups)}" if len(groups) > len(worst) else ""
        yield Figure(f"Scores by {field}", caption + left_out, draw(_AXIS, rows))


def _label(scores: StudyScores, pairing: Pairing) -> str:
    name = scores.names[pairing]
    return f"{name} ({pairing.dimension})" if len(scores.dimensions) > 1 else name


def _interval(label: str, found: Estimate) -> Row:
    return interval(_AXIS, label, found.mean, found.low, found.high, mark=0, form="+.2f")


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
