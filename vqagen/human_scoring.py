"""Scoring of rater studies as typed calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from vqagen.errors import UsageError
from vqagen.human.answers import AnswerRow
from vqagen.human.export.rows import read_rows
from vqagen.human.scores.gates import BOUNDS, UPPER, read_thresholds
from vqagen.human.scores.report import study_report
from vqagen.human.scores.settings import WEBDRIVER, ScoreSettings
from vqagen.human.scores.study_scores import StudyScores, score_rows
from vqagen.judge.report.table import ScoreReport
from vqagen.language.domain_files import PathLike

EVENTS_FILE = "events.jsonl"


def score_study(source: PathLike, settings: ScoreSettings | None = None) -> StudyScores:
    """Score the answers of a study, of an export folder, or of its `answers.jsonl`.

    Raises BadInput for answers that are wrong, and UsageError if there are none to read.
    """
    path = Path(source)
    rows, automated = _read(path)
    return score_rows(rows, settings or ScoreSettings(), path.name, automated)


def rater_report(
    scores: StudyScores, *, fail_under: Sequence[str] = (), bound: str = UPPER, is_whole: bool = False
) -> ScoreReport:
    """Return the report of scores, and whether its gates are met: thresholds such as `A=-0.2` of a `bound`."""
    if bound not in BOUNDS:
        raise UsageError(f"bound must be one of {', '.join(BOUNDS)}, found {bound!r}")
    return study_report(scores, read_thresholds(fail_under), bound, is_whole=is_whole)


def _read(path: Path) -> tuple[list[AnswerRow], list[str] | None]:
    """Return the answers, and the assignments that a program did if that is known."""
    events = path / EVENTS_FILE
    automated = None
    if events.is_file():
        records = map(orjson.loads, events.read_bytes().splitlines())
        automated = [record["assignment"] for record in records if record["kind"] == WEBDRIVER]
    return list(read_rows(path)), automated
