"""Figures of statistics and audits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from vqagen.score.report.figures import BAD, SHADES, SURE, UNSURE, Axis, Row, bars, draw, draw_counts, interval, marked
from vqagen.score.report.table import Figure
from vqagen.shortcuts.audit.audit import BELOW, FAILS, MAX_ASSOCIATION, AssociationResult, Audit, ProbeResult
from vqagen.shortcuts.stats.question_statistics import QuestionStatistics

_SHARES = Axis(0, 1)


def question_figures(statistics: QuestionStatistics) -> Iterator[Figure]:
    """Yield the figures of the statistics of questions."""
    census, guessing = statistics.census, statistics.guessing
    if guessing is not None:
        accuracies = {**dict(sorted(guessing.types.items())), "all": guessing.everything}
        rows = [
            Row(f"{kind}: {name}", f"{share:.3f}", bars(_SHARES, 0, [("", share, shade)]))
            for kind, accuracy in accuracies.items()
            for name, shade in zip(guessing.predictors, SHADES[::2], strict=False)
            for share in [accuracy.share(name)]
        ]
        caption = f"Share of right answers, of {statistics.tested_on}; higher is worse for a benchmark."
        yield Figure("Guessed without the picture", caption, draw(_SHARES, rows))
    if census.answers:
        rows = [_answers(kind, counts) for kind, counts in sorted(census.answers.items())]
        yield Figure("Answers", "Shares of the answers of each question type.", draw(_SHARES, rows))
    for what, numbers in (("their words", census.words), ("the steps of their programs", census.steps)):
        if len(numbers) > 1:
            yield Figure(f"Questions by {what}", "", draw_counts(numbers))


def _answers(kind: str, counts: Counter[str]) -> Row:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    parts = [
        (answer, count / counts.total(), SHADES[number % len(SHADES)]) for number, (answer, count) in enumerate(ordered)
    ]
    return Row(kind, f"n = {counts.total():,}", bars(_SHARES, 0, parts))


def audit_figures(audit: Audit) -> Iterator[Figure]:
    """Yield the figures of an audit."""
    if audit.probes:
        rows = []
        for each in audit.probes:
            apart, name, chance = each.difference, each.probe.name, each.chance
            low, high = (None, None) if apart.low == -1 else (chance + apart.low, chance + apart.high)
            rows.append(interval(_SHARES, name, each.accuracy, low, high, chance, color=_color(each)))
        caption = "Accuracy of each probe (dot, with 95 % of its difference from chance) and chance (line)."
        yield Figure("Answered without looking", caption, draw(_SHARES, rows))
    if audit.associations:
        rows = [
            Row(
                each.association.name,
                f"{each.association.v:.3f}",
                bars(_SHARES, 0, [("", each.association.v, _color(each))]) + marked(_SHARES, MAX_ASSOCIATION),
            )
            for each in audit.associations
        ]
        caption = f"Cramér's V, corrected for bias; the line is the limit, {MAX_ASSOCIATION:g}."
        yield Figure("Associated with the answer", caption, draw(_SHARES, rows))


def _color(found: ProbeResult | AssociationResult) -> str:
    return {FAILS: BAD, BELOW: UNSURE, "": UNSURE}.get(found.verdict, SURE)
