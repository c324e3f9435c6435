"""Figures of reports, as SVG with the same bytes wherever they are drawn.

Matplotlib (extra `plots`) draws them: it is what the field uses, and needs no browser and no network.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

from vqagen.errors import UsageError
from vqagen.extras import needed
from vqagen.score.report.table import Figure, Report
from vqagen.shortcuts.audit.audit import BELOW, FAILS, MAX_ASSOCIATION, Audit
from vqagen.shortcuts.stats.guessing import Guessing
from vqagen.shortcuts.stats.question_statistics import QuestionStatistics

_COLORS = {"majority": "#9aa5b1", "words": "#3f7cac", "tree": "#d1602f"}
_PLAIN, _BAD, _OTHER, _LINE = "#3f7cac", "#d1602f", "#9aa5b1", "#52606d"
_SHADES = ("#3f7cac", "#7fa8c9", "#b5cee1", "#d1602f", "#e39b76", "#f1cdb9", "#7a8f6a", "#b3c2a6", "#9aa5b1", "#cfd6dc")
_LABELLED = 0.06
"""Share of a bar from which on an answer's name fits into it."""
_WHAT = "drawing figures"
_STYLE = {
    "svg.hashsalt": "vqagen",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def with_figures(report: Report, figures: Iterable[Figure]) -> Report:
    """Return a report with figures; without matplotlib, with a line that says how to get them."""
    try:
        style = drawing_style()
    except UsageError as missing:
        return replace(report, head=(*report.head, f"note: {missing}"))
    with style:
        return replace(report, figures=tuple(figures))


def drawing_style() -> AbstractContextManager[None]:
    """Return the style of all figures, for a `with` statement. UsageError if matplotlib is missing."""
    style: AbstractContextManager[None] = needed("matplotlib", "plots", _WHAT).rc_context(_STYLE)
    return style


def question_figures(statistics: QuestionStatistics) -> Iterator[Figure]:
    """Yield the figures of the statistics of questions."""
    census, guessing = statistics.census, statistics.guessing
    if guessing is not None:
        caption = f"Share of right answers, of {statistics.tested_on}; higher is worse for a benchmark."
        drawn = _svg(lambda axes: _draw_guesses(axes, guessing), len(guessing.types) + 2)
        yield Figure("Guessed without the picture", caption, drawn)
    if census.answers:
        drawn = _svg(lambda axes: _draw_answers(axes, census.answers), len(census.answers) + 1)
        yield Figure("Answers", "Shares of the answers of each question type.", drawn)
    for what, counts in (("their words", census.words), ("the steps of their programs", census.steps)):
        if len(counts) > 1:
            yield Figure(f"Questions by {what}", "", _svg(partial(_draw_counts, counts=counts), 5))


def audit_figures(audit: Audit) -> Iterator[Figure]:
    """Yield the figures of an audit."""
    if audit.probes:
        caption = "Accuracy of each probe (dot, with 95 % of its difference from chance) and chance (line)."
        drawn = _svg(lambda axes: _draw_probes(axes, audit), len(audit.probes) + 1)
        yield Figure("Answered without looking", caption, drawn)
    if audit.associations:
        caption = f"Cramér's V, corrected for bias; the line is the limit, {MAX_ASSOCIATION:g}."
        drawn = _svg(lambda axes: _draw_associations(axes, audit), len(audit.associations) + 1)
        yield Figure("Associated with the answer", caption, drawn)


def _svg(draw: Callable[[Any], None], rows: float) -> str:
    """Return what `draw` puts on the axes of a figure of so many rows."""
    figure = needed("matplotlib.figure", "plots", _WHAT).Figure(figsize=(6.4, 0.9 + 0.38 * rows))
    draw(figure.add_subplot())
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _name_rows(axes: Any, names: Iterable[str]) -> None:
    listed = list(names)
    axes.set_yticks(range(len(listed)), listed)
    axes.invert_yaxis()


def _draw_guesses(axes: Any, guessing: Guessing) -> None:
    kinds = [*sorted(guessing.types), "all"]
    accuracies = [*(guessing.types[kind] for kind in kinds[:-1]), guessing.everything]
    height = 0.8 / len(guessing.predictors)
    for number, predictor in enumerate(guessing.predictors):
        places = [row + (number - (len(guessing.predictors) - 1) / 2) * height for row in range(len(kinds))]
        shares = [accuracy.share(predictor) for accuracy in accuracies]
        bars = axes.barh(places, shares, height, color=_COLORS[predictor], label=predictor)
        axes.bar_label(bars, fmt="%.2f", padding=2, fontsize=7)
    _name_rows(axes, kinds)
    axes.set_xlim(0, 1)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)


def _draw_answers(axes: Any, of_types: Mapping[str, Counter[str]]) -> None:
    kinds = sorted(of_types)
    for row, kind in enumerate(kinds):
        counts, left = of_types[kind], 0.0
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        for number, (answer, count) in enumerate(ordered):
            share = count / counts.total()
            axes.barh(row, share, 0.7, left=left, color=_SHADES[number % len(_SHADES)], edgecolor="white")
            if share >= _LABELLED:
                axes.text(left + share / 2, row, answer, ha="center", va="center", fontsize=7)
            left += share
    _name_rows(axes, kinds)
    axes.set_xlim(0, 1)


def _draw_counts(axes: Any, counts: Mapping[int, int]) -> None:
    axes.bar(list(counts), list(counts.values()), 0.9, color=_PLAIN)
    axes.xaxis.get_major_locator().set_params(integer=True)


def _draw_probes(axes: Any, audit: Audit) -> None:
    for row, each in enumerate(audit.probes):
        found, color = each.difference, _color(each.verdict)
        axes.plot([each.chance, each.chance], [row - 0.35, row + 0.35], color=_LINE, linewidth=1.5)
        if found.low > -1:
            axes.plot([each.chance + found.low, each.chance + found.high], [row, row], color=color, linewidth=2)
        axes.plot([each.accuracy], [row], "o", color=color, markersize=5)
    _name_rows(axes, (each.probe.name for each in audit.probes))
    axes.set_xlim(0, 1)


def _draw_associations(axes: Any, audit: Audit) -> None:
    for row, each in enumerate(audit.associations):
        axes.barh(row, each.association.v, 0.6, color=_color(each.verdict))
    axes.axvline(MAX_ASSOCIATION, color=_LINE, linewidth=1)
    _name_rows(axes, (each.association.name for each in audit.associations))
    axes.set_xlim(0, 1)


def _color(verdict: str) -> str:
    return {FAILS: _BAD, BELOW: _OTHER, "": _OTHER}.get(verdict, _PLAIN)
