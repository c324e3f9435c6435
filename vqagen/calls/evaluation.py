"""Evaluation as typed calls: scores of predictions, and reports of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vqagen.errors import UsageError
from vqagen.files.output import atomic_output, check_output
from vqagen.language.domain_files import PathLike
from vqagen.score.evaluate import report as reports
from vqagen.score.evaluate.evaluation import (
    IMAGE,
    WRONG,
    Evaluation,
    EvaluationSettings,
    evaluate as evaluate_items,
    item_lines,
)
from vqagen.score.items.reading import Source, Source as Questions, read_items
from vqagen.score.predictions.reading import Source as Answers, read_predictions, require_predictions
from vqagen.score.report.table import Report
from vqagen.shortcuts.floor import floor


def evaluate(
    questions: Questions,
    predictions: Answers,
    *,
    mode: str = "",
    top_k: Sequence[int] = (),
    normalise: str = "typed",
    split: str = "",
    scenes: Source | None = None,
    missing: str = WRONG,
    cluster: str = IMAGE,
) -> Evaluation:
    """Score predictions for questions, rounds of dialogs, trials or items of the field's datasets.

    `questions` are a file, a folder, a document or records. `predictions` are a file, records such as
    `{"question_index": 17, "answer": "yes"}`, or a dict of id -> answer. `scenes` add fields of their scenes. Questions
    with one value of the field `cluster` are no independent evidence for the intervals ("image", or any to group by;
    "" takes all as independent). Raises BadInput for questions and predictions that do not fit each other.
    """
    settings = EvaluationSettings(normalise, tuple(top_k), missing=missing, cluster=cluster)
    require_predictions(predictions)
    items = read_items(questions, split=split, mode=mode, scenes=scenes)
    answers = read_predictions(predictions, items.kind)
    return evaluate_items(items, answers, settings, floor)


def score_report(
    evaluation: Evaluation,
    *,
    group_by: Sequence[str] = (),
    fail_under: Sequence[str] = (),
    strict: bool = False,
    predictions: str = "",
) -> Report:
    """Return the report of an evaluation: accuracies of groups, further measures, and whether its gates are met.

    `group_by` are fields and crosses of fields such as `category*depth`; `fail_under` are thresholds such as
    `overall=0.9`; `strict` demands complete predictions; the report calls them `predictions`, by default as their file.
    UsageError for groups that the questions do not have.
    """
    named = replace(evaluation, predictions=predictions or evaluation.predictions)
    return reports.score_report(named, group_by, reports.read_thresholds(fail_under), strict)


def write_item_scores(evaluation: Evaluation, out: PathLike, *, force: bool = False) -> None:
    """Write the result of each item as JSON Lines."""
    check_output(str(out), force)
    with atomic_output(str(out)) as file:
        for lines in item_lines(evaluation):
            file.write(lines)


def toolkit_text(report: Report, evaluation: Evaluation) -> str:
    """Return the head of a report, and the lines that Visual7W's toolkit logs. UsageError for other questions."""
    return "\n".join([*report.head, "", *reports.toolkit_lines(evaluation), *report.failures]) + "\n"


def split_ranks(text: str) -> tuple[int, ...]:
    """Return the ranks in a text such as `1,5,100` (`--top-k`). UsageError for other texts.

    >>> split_ranks("1,5")
    (1, 5)
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if any(not part.isdecimal() or not 0 < int(part) < 1 << 31 for part in parts):
        raise UsageError(f"--top-k {text!r} is no list of numbers from 1: write 1 or 1,5,100")
    return tuple(dict.fromkeys(map(int, parts)))
