"""Comparison of models as a typed call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from vqagen.errors import UsageError
from vqagen.language.domain_files import PathLike
from vqagen.score.comparison.comparison import Comparison, compare_evaluations
from vqagen.score.gold.discovery import read_gold
from vqagen.score.scoring.evaluation import evaluate
from vqagen.score.scoring.settings import WRONG, EvaluationSettings

ENDINGS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".parquet", ".eval", ".gz", ".zst")
"""Endings of prediction files that are left out of a model's name."""


def compare(
    questions: PathLike,
    *predictions: PathLike,
    split: str = "",
    mode: str = "",
    group_by: Sequence[str] = (),
    normalise: str = "typed",
    missing: str = WRONG,
) -> Comparison:
    """Compare two or more prediction files on the same questions.

    A model is called by the name of its file, or by its whole path if names are equal. Groups are the values of the
    fields `group_by` and of crosses such as `category*depth`, by default those of an evaluation that are few. Raises
    BadInput if a file has no prediction for the questions, or if no question has a prediction in all files where
    `missing` is "skip".
    """
    if len(predictions) < 2:
        raise UsageError("one prediction file alone: give two or more to compare")
    names = _names([str(path) for path in predictions])
    settings = EvaluationSettings(preset=normalise, missing=missing)
    evaluations = {}
    for name, path in zip(names, predictions, strict=True):
        gold = read_gold(questions, split=split, mode=mode)
        evaluations[name] = evaluate(gold, path, settings)
    return compare_evaluations(evaluations, group_by)


def _names(paths: Sequence[str]) -> list[str]:
    """Return the file names without endings; whole paths if two are equal, and numbers if these are equal too."""
    short = [PurePath(path).name for path in paths]
    while any(name.endswith(ENDINGS) and name not in ENDINGS for name in short):
        short = [name.rpartition(".")[0] if name.endswith(ENDINGS) else name for name in short]
    if len(set(short)) == len(short):
        return short
    return list(paths) if len(set(paths)) == len(paths) else [f"{path} ({i + 1})" for i, path in enumerate(paths)]
