"""Evaluation of files: scores of predictions beside the floor, which is the credit of guesses without the picture.

Three predictors make the floor, which need no training file and no library: the most frequent answer of the family,
that of the function, and any possible answer. Each learns from the other folds only, and so from other images. Of each
function the best is taken. Options are guessed by chance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vqagen.items.table import CHOICE, NONE, Items
from vqagen.score.evaluate.evaluation import (
    IMAGE,
    WRONG,
    Evaluation,
    EvaluationSettings,
    evaluate as evaluate_items,
)
from vqagen.score.items import Source, Source as Questions, read_items
from vqagen.score.predictions.reading import Source as Answers, read_predictions, require_predictions
from vqagen.shortcuts.predictors import NAMED, predict
from vqagen.shortcuts.task import Floats, Task


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
    prediction_key: str = "",
) -> Evaluation:
    """Score predictions for questions, rounds of dialogs, trials or items of the field's datasets.

    `questions` are a file, a folder, a document or records. `predictions` are a file, records such as
    `{"question_index": 17, "answer": "yes"}`, or a dict of id -> answer. `scenes` add fields of their scenes. Questions
    with one value of the field `cluster` are no independent evidence for the intervals ("image", or any to group by;
    "" takes all as independent). `prediction_key` is the key of the predictions in records whose names leave it open.
    Raises BadInput for questions and predictions that do not fit each other.
    """
    settings = EvaluationSettings(normalise, tuple(top_k), missing=missing, cluster=cluster)
    require_predictions(predictions, prediction_key)
    items = read_items(questions, split=split, mode=mode, scenes=scenes)
    answers = read_predictions(predictions, items.kind, prediction_key)
    return evaluate_items(items, answers, settings, floor)


GUESSES = ("uniform", "majority", "majority-family")


def floor(items: Items, top_k: int = 1) -> Floats:
    """Return the credit of each item, if `top_k` answers may be named."""
    task = Task.within(items, top_k)
    guessed = [predict(NAMED[name], task).expected for name in GUESSES]
    of_types = np.stack([np.bincount(task.types, weights=each) for each in guessed])
    found: Floats = np.stack(guessed)[of_types.argmax(axis=0)[task.types], np.arange(len(items))]
    if items.mode != CHOICE:
        return found
    sizes = np.array([len(options.texts) for options in items.options.values] or [1])
    options = items.options.codes
    return np.where(options == NONE, found, np.minimum(1.0, top_k / sizes[options]))
