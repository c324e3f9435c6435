"""Comparison of models as a typed call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from vqagen.errors import UsageError
from vqagen.score.compare import Comparison, compare_evaluations
from vqagen.score.evaluate.evaluation import WRONG, EvaluationSettings, evaluate
from vqagen.score.items.reading import Source as Questions, read_items
from vqagen.score.predictions.reading import Source as Answers, read_predictions, require_predictions

ENDINGS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".parquet", ".eval", ".gz", ".zst")
"""Endings of prediction files that are left out of a model's name."""


def compare(
    questions: Questions,
    *predictions: Answers,
    split: str = "",
    mode: str = "",
    group_by: Sequence[str] = (),
    normalise: str = "typed",
    missing: str = WRONG,
) -> Comparison:
    """Compare the predictions of two or more models for the same questions.

    The predictions of each are a file, records or a dict of id -> answer. A model is called by the name of its file, or
    by its whole path if names are equal. Groups are the values of the fields `group_by` and of crosses such as
    `category*depth`, by default those of an evaluation that are few. Raises BadInput if a model has no prediction for
    the questions, or if no question has a prediction of all models where `missing` is "skip".
    """
    if len(predictions) < 2:
        raise UsageError("one prediction file alone: give two or more to compare")
    settings = EvaluationSettings(preset=normalise, missing=missing)
    for each in predictions:
        require_predictions(each)
    items = read_items(questions, split=split, mode=mode)
    answers = [read_predictions(each, items.kind) for each in predictions]
    names = _names([each.name or "predictions" for each in answers])
    evaluations = {name: evaluate(items, each, settings) for name, each in zip(names, answers, strict=True)}
    return compare_evaluations(evaluations, group_by)


def _names(paths: Sequence[str]) -> list[str]:
    """Return the file names without endings; whole paths if two are equal, and numbers if these are equal too."""
    short = [PurePath(path).name for path in paths]
    while any(name.endswith(ENDINGS) and name not in ENDINGS for name in short):
        short = [name.rpartition(".")[0] if name.endswith(ENDINGS) else name for name in short]
    if len(set(short)) == len(short):
        return short
    return list(paths) if len(set(paths)) == len(paths) else [f"{path} ({i + 1})" for i, path in enumerate(paths)]
