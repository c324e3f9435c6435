"""Scoring a study, an export, or a file of answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vqagen.human.answers import load_answers
from vqagen.human.scores.gates import read_thresholds
from vqagen.human.scores.report import study_report
from vqagen.human.scores.settings import ScoreSettings
from vqagen.human.scores.study_scores import StudyScores, score_rows
from vqagen.score.report.table import Report


def score_study(source: str | Path, settings: ScoreSettings | None = None, *, store: str | Path = "") -> StudyScores:
    """Score the answers of a study, of an export folder, or of its `answers.jsonl`.

    A study may be served meanwhile; `store` is the place of its answers, by default its own file. Raises BadInput for
    answers that are wrong, UsageError if there are none to read, and StoreError.
    """
    rows, automated = load_answers(source, store)
    return score_rows(rows, settings or ScoreSettings(), Path(source).name, automated)


def rater_report(scores: StudyScores, *, fail_under: Sequence[str] = ()) -> Report:
    """Return the report of scores, and whether its gates are met: thresholds such as `A=-0.2`."""
    return study_report(scores, read_thresholds(fail_under))
