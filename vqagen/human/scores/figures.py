"""Figures of the page of scores, as SVG: scores with intervals, and how answers are distributed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from vqagen.human.scores.clusters import Estimate
from vqagen.human.scores.samples import Pairing
from vqagen.human.scores.study_scores import StudyScores
from vqagen.score.report.table import Figure

_SURE, _OPEN, _LINE = "#3f7cac", "#8fb4cf", "#52606d"
_WORSE, _EQUAL, _BETTER = (209, 97, 46), (217, 222, 227), (64, 125, 171)
_MOST_GROUPS = 40
_WIDTH, _ROW = 620, 48
_LEFT, _RIGHT = 20, 440
"""Where -1 and 1 are. A label stands above its row, the numbers right of it."""


class _Row(NamedTuple):
    label: str
    drawn: str
    number: str


def score_figures(scores: StudyScores) -> Iterator[Figure]:
    """Yield the figures: scores, answers, and one of each field that scores are grouped by."""
    if not scores.estimates:
        return
    caption = "lines are 95 % intervals; dark ones do not hold 0, at which both texts are equally good"
    rows = [_interval(_label(scores, pairing), found) for pairing, found in scores.estimates.items()]
    yield Figure("Scores", caption, _svg(rows))
    answers = [_distribution(_label(scores, pairing), counts) for pairing, counts in scores.answers.items()]
    yield Figure("Answers", "blue: for the system; orange: for the reference; middle of the scale at 0", _svg(answers))
    for field in scores.settings.fields:
        groups = [each for each in scores.groups if each.field == field and not each.pairing.is_baseline]
        worst = sorted(groups, key=lambda each: (each.estimate.mean, each.value, each.pairing))[:_MOST_GROUPS]
        rows = [_interval(f"{each.value}, {_label(scores, each.pairing)}", each.estimate) for each in worst]
        left_out = f"; the worst {len(worst)} of {len(groups)}" if len(groups) > len(worst) else ""
        yield Figure(f"Scores by {field}", caption + left_out, _svg(rows))


def _label(scores: StudyScores, pairing: Pairing) -> str:
    name = scores.names[pairing]
    return f"{name} ({pairing.dimension})" if len(scores.dimensions) > 1 else name


def _interval(label: str, found: Estimate) -> _Row:
    """Return a dot with its interval, which is cut off at -1 and 1."""
    color, line, number = _OPEN, "", f"{found.mean:+.2f}"
    if found.low is not None and found.high is not None:
        color = _OPEN if found.low <= 0 <= found.high else _SURE
        low, high = _place(max(found.low, -1)), _place(min(found.high, 1))
        line = f'<line x1="{low:.1f}" x2="{high:.1f}" stroke="{color}" stroke-width="4"/>'
        number += f" [{found.low:+.2f}, {found.high:+.2f}]"
    return _Row(label, f'{line}<circle cx="{_place(found.mean):.1f}" r="6" fill="{color}"/>', number)


def _distribution(label: str, counts: Counter[float]) -> _Row:
    """Return bars of the answers from the worst to the best, half of those in the middle on each side of 0."""
    total = counts.total()
    left = -(sum(count for score, count in counts.items() if score < 0) + counts[0.0] / 2) / total
    bars = []
    for score in sorted(counts):
        right = left + counts[score] / total
        place = f'x="{_place(left):.1f}" y="-9" width="{_place(right) - _place(left):.1f}" height="18"'
        bars.append(f'<rect {place} fill="{_shade(score)}"><title>{score:+.2f}: {counts[score]:,}</title></rect>')
        left = right
    return _Row(label, "".join(bars), f"n = {total:,}")


def _shade(score: float) -> str:
    """Return the color of an answer: grey in the middle, stronger towards the ends."""
    end = _BETTER if score > 0 else _WORSE
    mixed = (round(grey + (full - grey) * abs(score)) for grey, full in zip(_EQUAL, end, strict=True))
    return f"rgb({','.join(map(str, mixed))})"


def _place(score: float) -> float:
    """Return the horizontal place of a score from -1 to 1."""
    return _LEFT + (score + 1) / 2 * (_RIGHT - _LEFT)


def _svg(rows: Sequence[_Row]) -> str:
    """Return rows below each other, with lines at -1, 0 and 1."""
    bottom = _ROW * len(rows) + 24
    grid = "".join(
        f'<line x1="{_place(at)}" x2="{_place(at)}" y1="24" y2="{bottom - 16}" stroke="{_LINE}" opacity=".4"/>'
        f'<text x="{_place(at)}" y="{bottom}" text-anchor="middle">{at}</text>'
        for at in (-1, 0, 1)
    )
    lines = "".join(
        f'<g transform="translate(0 {_ROW * number + 36})"><text y="-18">{escape(row.label)}</text>'
        f'{row.drawn}<text x="{_RIGHT + 14}" y="5">{escape(row.number)}</text></g>'
        for number, row in enumerate(rows)
    )
    size = f'viewBox="0 0 {_WIDTH} {bottom + 6}" font-size="15" font-family="system-ui, sans-serif" fill="{_LINE}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{grid}{lines}</svg>'
