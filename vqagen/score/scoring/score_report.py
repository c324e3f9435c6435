"""The report of an evaluation: what was scored and how, accuracies of groups, and the blocks that fit its questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vqagen.errors import counted
from vqagen.score.report.table import (
    COUNT,
    SHARE,
    TEXT,
    Cell,
    Column,
    Gate,
    Report,
    Table,
    columns,
    nonempty,
)
from vqagen.score.scoring.answer_columns import AnswerColumns
from vqagen.score.scoring.blocks.confusion import confusion_table
from vqagen.score.scoring.blocks.counting import counting_table
from vqagen.score.scoring.blocks.partners import PAIRS, pairs_table
from vqagen.score.scoring.blocks.rounds import dialogs_of, rounds_table
from vqagen.score.scoring.blocks.yes_no import yes_no_table
from vqagen.score.scoring.columns import NONE
from vqagen.score.scoring.evaluation import CROSS, OVERALL, Evaluation, Row
from vqagen.score.scoring.gates import Threshold, named_accuracies, strict_gates, threshold_gates
from vqagen.score.scoring.settings import SKIP
from vqagen.score.scoring.trial_tables import trial_tables
from vqagen.score.scoring.visual7w_lines import TypeCount, visual7w_lines

VISUAL7W = "visual7w"
DIALOGS, TRIALS = "dialogs", "trials"
_GROUP_COLUMNS = columns(
    n=COUNT, correct=COUNT, accuracy=SHARE, low=SHARE, high=SHARE, floor=SHARE, skill=SHARE, note=TEXT
)
_SCREEN_FIELDS = ("category", "type", "structural", "answer_type")
"""The groups that a screen shows unless the user asks for others: the first field of these that there is."""
_SMALL = "small"
_NOUNS = {DIALOGS: "round", TRIALS: "trial"}
"""Format -> an item, for people."""


@dataclass(frozen=True)
class ReportSettings:
    """What a report holds."""

    group_by: tuple[str, ...] = ()
    """Fields, or crosses of fields (`category*depth`); empty for those of the gold file."""
    thresholds: tuple[Threshold, ...] = ()
    strict: bool = False
    predictions: str = "predictions"
    """The name of the file, for people."""


def score_report(evaluation: Evaluation, settings: ReportSettings | None = None) -> Report:
    """Return the report of an evaluation. UsageError for groups that the file does not have."""
    settings = settings or ReportSettings()
    groups = (OVERALL, *(settings.group_by or evaluation.groups))
    rows = {by: evaluation.table(by) for by in dict.fromkeys(groups)}
    tables = nonempty([*(group_table(by, found) for by, found in rows.items()), *_blocks(evaluation)])
    if evaluation.gold.format == TRIALS:  # of pairs the headline is that both are right
        tables = tuple(sorted(tables, key=lambda table: table.key != PAIRS))
    tables = _with_details(tables, settings.group_by)
    named = named_accuracies({by: {row.name: row.accuracy for row in found} for by, found in rows.items()})
    gates: list[Gate] = threshold_gates(settings.thresholds, named)
    if settings.strict:
        gates += strict_gates(evaluation.coverage)
    title = f"Scores of {settings.predictions} on {evaluation.gold.name}"
    return Report(title, tuple(_head(evaluation, settings)), tables, _facts(evaluation, settings), tuple(gates))


def _with_details(tables: tuple[Table, ...], fields: Sequence[str]) -> tuple[Table, ...]:
    """Mark what a screen leaves out: it shows the headline, overall, and the groups of `fields`, by default of one."""
    keys = [table.key for table in tables]
    shown = [by for by in (OVERALL, *(fields or _SCREEN_FIELDS)) if by in keys]
    shown = [*(shown if fields else shown[:2]), *(key for key in keys[:1] if key == PAIRS)]
    return tuple(replace(table, is_detail=table.key not in shown) for table in tables)


def toolkit_lines(evaluation: Evaluation) -> Iterator[str]:
    """Yield the lines of Visual7W's toolkit for its files."""
    types = [TypeCount(row.name, round(row.correct), row.n) for row in evaluation.table("type")]
    return visual7w_lines(next(iter(evaluation.credits)), types)


def _head(evaluation: Evaluation, settings: ReportSettings) -> Iterator[str]:
    """Yield what was scored, how much of it, and how answers are compared."""
    coverage, used = evaluation.coverage, evaluation.settings
    share = coverage.answered / coverage.questions
    treated = "left out" if used.missing == SKIP else "counted as wrong"
    noun = _NOUNS.get(evaluation.gold.format, "question")
    asked = counted(coverage.questions, noun)
    yield f"{settings.predictions} on {evaluation.gold.name}: {asked}, mode {evaluation.mode}"
    yield (
        f"coverage: {coverage.answered:,} of {coverage.questions:,} answered ({share:.1%}); "
        f"{coverage.missing:,} missing ({treated}), {coverage.duplicate:,} duplicate, {coverage.unknown:,} unknown, "
        f"{coverage.not_an_option:,} not an option"
    )
    yield f"replies: {coverage.parsed:,} parsed, {coverage.ambiguous:,} ambiguous, {coverage.refused:,} refused"
    if ids := coverage.first_ids():
        yield f"first ids: {ids}"
    top = f", first {next(iter(evaluation.credits))} candidates" if next(iter(evaluation.credits)) > 1 else ""
    intervals = f"clustered by {used.cluster}" if used.cluster else "Wilson"
    compared = f"compared as {used.preset}{top}; 95 % intervals: {intervals}"
    yield f"answers: {compared}; floor: best guess without the picture"


def _facts(evaluation: Evaluation, settings: ReportSettings) -> dict[str, object]:
    used = evaluation.settings
    return {
        "questions": evaluation.gold.name,
        "predictions": settings.predictions,
        "format": evaluation.gold.format,
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
    cells = tuple(
        (row.name, row.n, row.correct, row.accuracy, row.low, row.high, row.floor, row.skill, _SMALL * row.is_small)
        for row in rows
    )
    return Table(by, title, (Column("group" if by == OVERALL else by), *_GROUP_COLUMNS), cells)


def _blocks(evaluation: Evaluation) -> Iterator[Table | None]:
    """Yield the blocks that can be made of the columns of an evaluation."""
    yield _top_table(evaluation)
    kinds = AnswerColumns(evaluation).by_kind()
    yield yes_no_table(kinds.get("bool", {}))
    yield counting_table(kinds.get("integer", {}))
    yield confusion_table(kinds)
    is_right = evaluation.correct >= 1
    if "pair" in evaluation.codes:
        categories = "category" if "category" in evaluation.codes else "rule_class"
        names = tuple(map(str, evaluation.values.get(categories, ())))
        pairs = np.where(evaluation.is_counted, evaluation.codes["pair"], NONE)
        yield pairs_table(is_right, pairs, evaluation.codes.get(categories), names)
    if evaluation.gold.format == DIALOGS:
        kept = np.flatnonzero(evaluation.is_counted)
        yield rounds_table(dialogs_of([evaluation.ids[at] for at in kept.tolist()], is_right[kept].tolist()))
    if evaluation.gold.format == TRIALS:
        yield from trial_tables(evaluation)


def _top_table(evaluation: Evaluation) -> Table | None:
    """Return the accuracy by the number of candidates, if several numbers were asked for."""
    if len(evaluation.credits) < 2:
        return None
    kept = evaluation.is_counted
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (k, int(kept.sum()), float(credits[kept].sum()), float(credits[kept].mean()) if kept.any() else None)
        for k, credits in evaluation.credits.items()
    )
    return Table("top_k", "First k candidates", columns(k=COUNT, n=COUNT, correct=COUNT, accuracy=SHARE), rows)
