"""Evaluation as typed calls: scores of predictions, and reports of them."""

from __future__ import annotations

from collections.abc import Sequence

from vqagen.errors import UsageError
from vqagen.files.output import atomic_output, check_output
from vqagen.language.domain_files import PathLike
from vqagen.score.gold.discovery import read_gold
from vqagen.score.predictions.reading import Source
from vqagen.score.report.table import Report
from vqagen.score.scoring.evaluation import Evaluation
from vqagen.score.scoring.evaluation import evaluate as evaluate_items
from vqagen.score.scoring.gates import read_thresholds
from vqagen.score.scoring.per_item import item_lines
from vqagen.score.scoring.score_report import VISUAL7W, ReportSettings, toolkit_lines
from vqagen.score.scoring.score_report import score_report as report_of
from vqagen.score.scoring.settings import AUTO, WRONG, EvaluationSettings


def evaluate(
    questions: PathLike,
    predictions: Source,
    *,
    mode: str = "",
    top_k: Sequence[int] = (),
    normalise: str = "typed",
    split: str = "",
    scenes: PathLike | None = None,
    missing: str = WRONG,
    cluster: str = "",
) -> Evaluation:
    """Score predictions for questions, rounds of dialogs, trials or items of the field's datasets.

    `predictions` are a file, records such as `{"question_index": 17, "answer": "yes"}`, or a dict of id -> answer.
    `scenes` add fields of scenes to group by. With `cluster`, intervals are robust to questions with one value of this
    field ("image", or any to group by). Raises BadInput for files that do not fit each other.
    """
    settings = EvaluationSettings(mode or AUTO, normalise, tuple(top_k), missing=missing, cluster=cluster)
    gold = read_gold(questions, split=split, mode=mode, scenes=scenes)
    return evaluate_items(gold, predictions, settings)


def score_report(
    evaluation: Evaluation,
    *,
    group_by: Sequence[str] = (),
    fail_under: Sequence[str] = (),
    strict: bool = False,
    predictions: str = "predictions",
) -> Report:
    """Return the report of an evaluation: accuracies of groups, further measures, and whether its gates are met.

    `group_by` are fields and crosses of fields such as `category*depth`; `fail_under` are thresholds such as
    `overall=0.9`; `strict` demands complete predictions. UsageError for groups that the questions do not have.
    """
    thresholds = tuple(read_thresholds(fail_under))
    return report_of(evaluation, ReportSettings(tuple(group_by), thresholds, strict, predictions))


def write_item_scores(evaluation: Evaluation, out: PathLike, *, force: bool = False) -> None:
    """Write the result of each item as JSON Lines."""
    check_output(str(out), force)
    with atomic_output(str(out)) as file:
        for lines in item_lines(evaluation):
            file.write(lines)


def toolkit_text(report: Report, evaluation: Evaluation) -> str:
    """Return the head of a report, and the lines that Visual7W's toolkit logs. UsageError for other questions."""
    if "type" not in evaluation.codes:
        raise UsageError(f"--profile {VISUAL7W} is for questions with a type: {evaluation.gold.name} has none")
    return "\n".join([*report.head, "", *toolkit_lines(evaluation), *report.failures]) + "\n"


def split_ranks(text: str) -> tuple[int, ...]:
    """Return the ranks in a text such as `1,5,100` (`--top-k`). UsageError for other texts.

    >>> split_ranks("1,5")
    (1, 5)
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if any(not part.isdecimal() or not 0 < int(part) < 1 << 31 for part in parts):
        raise UsageError(f"--top-k {text!r} is no list of numbers from 1: write 1 or 1,5,100")
    return tuple(dict.fromkeys(map(int, parts)))
