"""The report of an evaluation: what was scored and how, accuracies of groups, and the tables that fit its questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vqagen.errors import UsageError, counted
from vqagen.records.visual7w import QUESTION_TYPES
from vqagen.score.evaluate.evaluation import CROSS, OVERALL, Evaluation, Row
from vqagen.score.evaluate.gates import Threshold, strict_gates, threshold_gates
from vqagen.score.evaluate.settings import SKIP
from vqagen.score.evaluate.tables import PAIRS, answer_tables, dialogs_table, pairs_table
from vqagen.score.evaluate.trials import trial_tables
from vqagen.score.report.figures import accuracy_figure
from vqagen.score.report.table import COUNT, SHARE, TEXT, Column, Report, Table, columns, nonempty

VISUAL7W = "visual7w"
DIALOGS, TRIALS = "dialogs", "trials"
_GROUP_COLUMNS = columns(
    n=COUNT, correct=COUNT, accuracy=SHARE, low=SHARE, high=SHARE, floor=SHARE, skill=SHARE, note=TEXT
)
_SCREEN_FIELDS = ("category", "type", "answer_type")
"""The groups that a screen shows unless the user asks for others: the first field of these that there is."""
_NOUNS = {DIALOGS: "round", TRIALS: "trial"}
"""Format -> an item, for people."""


def score_report(
    evaluation: Evaluation, group_by: Sequence[str] = (), thresholds: Sequence[Threshold] = (), strict: bool = False
) -> Report:
    """Return the report of an evaluation, by fields or crosses of fields; without any, by those of the file.

    UsageError for groups that the file does not have.
    """
    groups = dict.fromkeys((OVERALL, *(group_by or evaluation.groups)))
    rows = {by: evaluation.table(by) for by in groups}
    tables = nonempty([*(group_table(by, found) for by, found in rows.items()), *_further_tables(evaluation)])
    if evaluation.items.format == TRIALS:  # of pairs the headline is that both are right
        tables = tuple(sorted(tables, key=lambda table: table.key != PAIRS))
    tables = _with_details(tables, group_by)
    accuracies = {(by, row.name): row.accuracy for by, found in rows.items() for row in found}
    gates = threshold_gates(thresholds, accuracies) + (strict_gates(evaluation.coverage) if strict else [])
    title = f"Scores of {evaluation.predictions} on {evaluation.items.name}"
    figures = tuple(accuracy_figure(table) for table in tables if table.key in rows and not table.is_detail)
    return Report(title, tuple(_head(evaluation)), tables, _facts(evaluation), tuple(gates), figures)


def _with_details(tables: Sequence[Table], fields: Sequence[str]) -> tuple[Table, ...]:
    """Mark what a screen leaves out: it shows the headline, overall, and the groups of `fields`, by default of one."""
    keys = [table.key for table in tables]
    shown = [by for by in (OVERALL, *(fields or _SCREEN_FIELDS)) if by in keys]
    shown = [*(shown if fields else shown[:2]), *(key for key in keys[:1] if key == PAIRS)]
    return tuple(replace(table, is_detail=table.key not in shown) for table in tables)


def toolkit_lines(evaluation: Evaluation) -> Iterator[str]:
    """Yield the lines that Visual7W's toolkit logs, without their times. UsageError for questions without a type."""
    if "type" not in evaluation.fields:
        raise UsageError(f"--profile {VISUAL7W} is for questions with a type: {evaluation.items.name} has none")
    order = {name: place for place, name in enumerate(QUESTION_TYPES)}
    types = sorted(evaluation.table("type"), key=lambda row: (order.get(row.name, len(order)), row.name))
    correct, total = sum(round(row.correct) for row in types), sum(row.n for row in types)
    yield f"Evaluated on {total:,} QA pairs with top-{next(iter(evaluation.credits))} predictions."
    yield f"Overall accuracy = {correct / total if total else 0:.3f}"
    for row in types:
        yield f'Question type "{row.name}" accuracy = {round(row.correct) / row.n:.3f} ({round(row.correct)} / {row.n})'


def _head(evaluation: Evaluation) -> Iterator[str]:
    """Yield what was scored, how much of it, and how answers are compared."""
    coverage, used, most = evaluation.coverage, evaluation.settings, next(iter(evaluation.credits))
    treated = "left out" if used.missing == SKIP else "counted as wrong"
    asked = counted(coverage.questions, _NOUNS.get(evaluation.items.format, "question"))
    yield f"{evaluation.predictions} on {evaluation.items.name}: {asked}, mode {evaluation.mode}"
    yield (
        f"coverage: {coverage.answered:,} of {coverage.questions:,} answered "
        f"({coverage.answered / coverage.questions:.1%}); {coverage.missing:,} missing ({treated}), "
        f"{coverage.duplicate:,} duplicate, {coverage.unknown:,} unknown, {coverage.not_an_option:,} not an option"
    )
    yield f"replies: {coverage.parsed:,} parsed, {coverage.ambiguous:,} ambiguous, {coverage.refused:,} refused"
    if ids := coverage.first_ids():
        yield f"first ids: {ids}"
    top = f", first {most} candidates" if most > 1 else ""
    intervals = f"by {used.cluster}" if used.cluster else "Wilson"
    yield (
        f"answers: compared as {used.preset}{top}; 95 % intervals: {intervals}; floor: best guess without the picture"
    )


def _facts(evaluation: Evaluation) -> dict[str, object]:
    """Return what the head states, for JSON."""
    used = evaluation.settings
    return {
        "questions": evaluation.items.name,
        "predictions": evaluation.predictions,
        "format": evaluation.items.format,
        "coverage": evaluation.coverage.to_record(),
        "settings": {
            "mode": evaluation.mode,
            "normalise": used.preset,
            "top_k": list(evaluation.credits),
            "missing": used.missing,
            "cluster": used.cluster or None,
        },
    }


def group_table(by: str, rows: Sequence[Row]) -> Table:
    """Return the accuracies of groups as a table."""
    title = by.replace("_", " ").replace(CROSS, " × ").capitalize()
    cells = tuple((*row[:8], "small" * row.is_small) for row in rows)
    return Table(by, title, (Column("group" if by == OVERALL else by), *_GROUP_COLUMNS), cells)


def _further_tables(evaluation: Evaluation) -> Iterator[Table | None]:
    """Yield the tables beyond accuracies; None for those that have no rows."""
    yield _top_table(evaluation)
    yield from answer_tables(evaluation)
    yield pairs_table(evaluation)
    if evaluation.items.format == DIALOGS:
        yield dialogs_table(evaluation)
    if evaluation.items.format == TRIALS:
        yield from trial_tables(evaluation)


def _top_table(evaluation: Evaluation) -> Table | None:
    """Return the accuracy by the number of candidates, if several numbers were asked for."""
    if len(evaluation.credits) < 2:
        return None
    kept = evaluation.is_counted
    n = int(kept.sum())
    totals = ((k, float(credits[kept].sum())) for k, credits in evaluation.credits.items())
    rows = tuple((k, n, total, total / n if n else None) for k, total in totals)
    return Table("top_k", "First k candidates", columns(k=COUNT, n=COUNT, correct=COUNT, accuracy=SHARE), rows)
