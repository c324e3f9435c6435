"""Figures of a study's scores, as PNG: scores with intervals, how answers are distributed, and groups of a field.

Matplotlib (extra `plots`) draws them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from vqagen.draw.report_figures import drawing_style
from vqagen.extras import needed
from vqagen.human.scores.clusters import Estimate
from vqagen.human.scores.samples import Pairing
from vqagen.human.scores.settings import ScoreSettings
from vqagen.human.scores.study_scores import StudyScores
from vqagen.human.study.item import RATE

_SURE, _OPEN, _BASELINE, _LINE = "#3f7cac", "#8fb4cf", "#9aa5b1", "#52606d"
_WORSE, _EQUAL, _BETTER = (0.82, 0.38, 0.18), (0.85, 0.87, 0.89), (0.25, 0.49, 0.67)
_MOST_GROUPS = 40
_SCORES, _ANSWERS = "scores.png", "answers.png"
_DOTS_PER_INCH = 150


class FigureFile(NamedTuple):
    """A figure and its file name."""

    name: str
    png: bytes


class _Row(NamedTuple):
    label: str
    estimate: Estimate
    is_baseline: bool


def figure_names(settings: ScoreSettings) -> list[str]:
    """Return the file names of the figures that scores by these settings may have. UsageError without matplotlib."""
    with drawing_style():
        return [_SCORES, _ANSWERS, *map(_name_of, settings.fields)]


def score_figures(scores: StudyScores) -> Iterator[FigureFile]:
    """Yield the figures. Raises UsageError if matplotlib is missing."""
    with drawing_style():
        if not scores.estimates:
            return
        rows = [_Row(_label(scores, each), found, each.is_baseline) for each, found in scores.estimates.items()]
        yield FigureFile(_SCORES, _intervals(rows, "Scores with 95 % intervals", _score_axis(scores)))
        yield FigureFile(_ANSWERS, _distributions(scores))
        for field in scores.settings.fields:
            groups = [each for each in scores.groups if each.field == field and not each.pairing.is_baseline]
            groups.sort(key=lambda each: (each.estimate.mean, each.value, each.pairing))
            chosen = [
                _Row(f"{each.value}, {_label(scores, each.pairing)}", each.estimate, False)
                for each in groups[:_MOST_GROUPS]
            ]
            if chosen:
                left = f", the worst {_MOST_GROUPS} of {len(groups)}" if len(groups) > _MOST_GROUPS else ""
                title = f"Scores by {field}{left}"
                yield FigureFile(_name_of(field), _intervals(chosen, title, _score_axis(scores)))


def _label(scores: StudyScores, pairing: Pairing) -> str:
    name = f"{scores.names[pairing]} (two people)" if pairing.is_baseline else scores.names[pairing]
    return f"{name} ({pairing.dimension})" if len(scores.dimensions) > 1 else name


def _name_of(field: str) -> str:
    return f"by-{re.sub(r'[^A-Za-z0-9_-]', '_', field)}.png"


def _score_axis(scores: StudyScores) -> str:
    if all(pairing.kind == RATE for pairing in scores.estimates):
        return "mean rating: -1 lowest, 1 highest"
    return "score: -1 the reference is better, 1 the system is better"


def _intervals(rows: Sequence[_Row], title: str, axis: str) -> bytes:
    """Return dots with intervals. Dark: the interval does not hold 0; a line that reaches the edge goes beyond it."""
    figure = _figure(len(rows))
    axes = figure.add_subplot()
    axes.axvline(0, color=_LINE, linewidth=1)
    for place, (_, found, is_baseline) in enumerate(rows):
        low, high = found.low, found.high
        is_sure = low is not None and high is not None and not low <= 0 <= high
        color = _BASELINE if is_baseline else _SURE if is_sure else _OPEN
        if low is not None and high is not None:
            axes.plot([max(low, -1), min(high, 1)], [place, place], color=color, linewidth=2.5)
        axes.plot([found.mean], [place], "o", color=color, markersize=7, markeredgecolor="white")
        axes.text(1.03, place, _in_numbers(found), va="center", fontsize=8, color=_LINE, clip_on=False)
    axes.set_xlim(-1, 1)
    axes.set_xlabel(axis)
    _finish(axes, [row.label for row in rows], title)
    return _png(figure)


def _in_numbers(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return f"{found.mean:+.2f}, {found.why}"
    return f"{found.mean:+.2f} [{found.low:+.2f}, {found.high:+.2f}]"


def _distributions(scores: StudyScores) -> bytes:
    """Return bars of the answers, from those that favour the reference to those that favour the system.

    The middle of the scale is in the middle of the figure.
    """
    pairings = list(scores.answers)
    figure = _figure(len(pairings))
    axes = figure.add_subplot()
    axes.axvline(0, color=_LINE, linewidth=1, zorder=1)
    for place, pairing in enumerate(pairings):
        counts, total = scores.answers[pairing], scores.answers[pairing].total()
        below = sum(count for score, count in counts.items() if score < 0)
        left = -(below + counts[0.0] / 2) / total
        for score in sorted(counts):
            share = counts[score] / total
            axes.barh(place, share, 0.68, left=left, color=_shade(score), edgecolor="white", linewidth=0.6, zorder=2)
            if share >= 0.06:
                color = "white" if abs(score) >= 0.7 else "#1f2933"
                axes.text(
                    left + share / 2, place, f"{share:.0%}", ha="center", va="center", fontsize=7, color=color, zorder=4
                )
            left += share
        axes.text(1.03, place, f"n = {total:,}", va="center", fontsize=8, color=_LINE, clip_on=False)
    axes.set_xlim(-1, 1)
    axes.set_xticks([-1, -0.5, 0, 0.5, 1], ["100 %", "50 %", "0", "50 %", "100 %"])
    is_rated = all(pairing.kind == RATE for pairing in pairings)
    axes.set_xlabel("low ratings | high ratings" if is_rated else "the reference is better | the system is better")
    _finish(axes, [_label(scores, pairing) for pairing in pairings], "Distribution of answers")
    return _png(figure)


def _shade(score: float) -> tuple[float, ...]:
    """Return the color of an answer: grey in the middle, stronger towards the ends."""
    end = _BETTER if score > 0 else _WORSE
    strength = 0.0 if score == 0 else 0.25 + 0.75 * abs(score)
    return tuple(middle + (full - middle) * strength for middle, full in zip(_EQUAL, end, strict=True))


def _figure(rows: int) -> Any:
    return needed("matplotlib.figure", "plots", "--plots").Figure(figsize=(7.2, 1.2 + 0.36 * rows))


def _finish(axes: Any, labels: Sequence[str], title: str) -> None:
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#edf0f2", zorder=0)
    axes.set_axisbelow(True)
    axes.set_title(title, loc="left", fontsize=11)


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DOTS_PER_INCH, bbox_inches="tight", metadata={"Software": None})
    return buffer.getvalue()
