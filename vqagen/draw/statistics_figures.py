"""Figures of the statistics of a question file, as SVG with the same bytes wherever they are drawn.

Matplotlib (extra `plots`) draws them: it is what the field uses, and needs no browser and no network.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from vqagen.extras import needed
from vqagen.judge.stats.guessing import Guessing
from vqagen.judge.stats.question_statistics import QuestionStatistics

COLOURS = {"majority": "#9aa5b1", "words": "#3f7cac", "tree": "#d1602f"}
_PLAIN = "#5b7f95"
_SHADES = ("#3f7cac", "#7fa8c9", "#b5cee1", "#d1602f", "#e39b76", "#f1cdb9", "#7a8f6a", "#b3c2a6", "#9aa5b1", "#cfd6dc")
_LABELLED = 0.06
"""Share of a bar from which on an answer's name fits into it."""
_STYLE = {
    "svg.hashsalt": "vqagen",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


class FigureText(NamedTuple):
    """A figure with its title, and a sentence that says how to read it."""

    title: str
    caption: str
    svg: str


def figures(statistics: QuestionStatistics) -> Iterator[FigureText]:
    """Yield the figures. Raises UsageError if matplotlib is missing."""
    with drawing_style():
        census, guessing = statistics.census, statistics.guessing
        if guessing is not None:
            caption = f"Share of right answers, of {statistics.tested_on}; higher is worse for a benchmark."
            yield FigureText("Guessed without the picture", caption, _draw(_guesses, guessing, len(guessing.types) + 2))
            caption = "Each line is a family, those guessed best on top; the dots are the predictors."
            rows = min(len(guessing.families) / 6, 12)
            yield FigureText("Guessed in each family", caption, _draw(_family_guesses, guessing, rows))
        if census.answers:
            caption = "Shares of the answers of each question type."
            yield FigureText("Answers", caption, _draw(_answers, census.answers, len(census.answers) + 1))
        if statistics.has_families:
            caption = "Questions of each family, the largest first."
            yield FigureText("Families", caption, _draw(_family_sizes, statistics.families, 5))
        distributions = {
            "Questions by their words": census.words,
            "Questions by the steps of their programs": census.steps,
        }
        for name, counts in statistics.per_image.items():
            distributions[f"Images by their {name}"] = counts
        for title, counts in distributions.items():
            if len(counts) > 1:
                yield FigureText(title, "", _draw(_histogram, counts, 5))


def drawing_style() -> AbstractContextManager[None]:
    """Return the style of all figures, for a `with` statement."""
    style: AbstractContextManager[None] = needed("matplotlib", "plots", "--plots").rc_context(_STYLE)
    return style


def _draw(draw: Callable[[Any, Any], None], shown: Any, rows: float) -> str:
    """Return a figure as SVG."""
    figure = needed("matplotlib.figure", "plots", "--plots").Figure(figsize=(6.4, 0.9 + 0.38 * rows))
    draw(figure.add_subplot(), shown)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _guesses(axes: Any, guessing: Guessing) -> None:
    kinds = [*sorted(guessing.types), "all"]
    accuracies = [*(guessing.types[kind] for kind in kinds[:-1]), guessing.everything]
    height = 0.8 / len(guessing.predictors)
    for number, predictor in enumerate(guessing.predictors):
        places = [row + (number - (len(guessing.predictors) - 1) / 2) * height for row in range(len(kinds))]
        shares = [accuracy.share(predictor) for accuracy in accuracies]
        bars = axes.barh(places, shares, height, color=COLOURS[predictor], label=predictor)
        axes.bar_label(bars, fmt="%.2f", padding=2, fontsize=7)
    axes.set_yticks(range(len(kinds)), kinds)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)


def _family_guesses(axes: Any, guessing: Guessing) -> None:
    ranked = guessing.ranked_families() or sorted(guessing.families)
    for predictor in guessing.predictors:
        shares = [guessing.families[name].share(predictor) for name in ranked]
        axes.scatter(shares, range(len(ranked)), s=14, color=COLOURS[predictor], label=predictor, zorder=3)
    for row, name in enumerate(ranked):
        shares = [guessing.families[name].share(predictor) for predictor in guessing.predictors]
        axes.plot([min(shares), max(shares)], [row, row], color="#dde3e8", linewidth=2, zorder=2)
    axes.set_yticks([])
    axes.set_xlim(0, 1)
    axes.set_ylim(len(ranked), -1)
    axes.grid(axis="x", color="#edf0f2")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)


def _answers(axes: Any, of_types: Mapping[str, Counter[str]]) -> None:
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
    axes.set_yticks(range(len(kinds)), kinds)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)


def _family_sizes(axes: Any, families: Mapping[str, int]) -> None:
    counts = sorted(families.values(), reverse=True)
    axes.bar(range(len(counts)), counts, 0.9, color=_PLAIN)
    axes.set_xticks([])
    axes.set_ylabel("questions")


def _histogram(axes: Any, counts: Mapping[int, int]) -> None:
    axes.bar(list(counts), list(counts.values()), 0.9, color=_PLAIN)
    axes.xaxis.get_major_locator().set_params(integer=True)
