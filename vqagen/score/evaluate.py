"""Evaluates: joins the predictions of a model with items, judges them, and writes the result of each item."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter

import numpy as np
import orjson

from vqagen.errors import Problem, UsageError, warn
from vqagen.files.output import atomic_output, check_output
from vqagen.files.visual7w import QUESTION_TYPES
from vqagen.items.answers import vocabulary_of
from vqagen.items.groups import crossed
from vqagen.items.table import CHOICE, NONE, OPEN, Codes, Column, Items
from vqagen.language.domain_files import PathLike
from vqagen.score.answers.judging import Judged, judge, right_answer
from vqagen.score.answers.places import COORDINATES, NO_SIZE
from vqagen.score.answers.replies import AMBIGUOUS
from vqagen.score.evaluation import IMAGE, SKIP, WRONG, Evaluation, EvaluationSettings
from vqagen.score.items import Source as Questions, read_items
from vqagen.score.matching import coverage_of, match, reject_items
from vqagen.score.predictions.reading import (
    CONFLICT,
    Predictions,
    Source as Answers,
    read_predictions,
    require_predictions,
)
from vqagen.score.tables import ANSWER, GIVEN, PAIR, STATUS

OUTSIDE = 0.1
"""Share of predicted places beyond their pictures from which on they are taken to count something else."""
_BATCH = 10_000
"""Results of items that are written at once."""


def evaluate(
    questions: Questions,
    predictions: Answers,
    *,
    mode: str = "",
    top_k: Sequence[int] = (),
    normalise: str = "typed",
    split: str = "",
    scenes: Questions | None = None,
    missing: str = WRONG,
    cluster: str = IMAGE,
    prediction_key: str = "",
    coordinates: str = "",
    on_read: Callable[[int], None] | None = None,
) -> Evaluation:
    """Score predictions for questions, rounds of dialogs, trials or items of the field's datasets.

    `questions` are a file, a folder, a document or records. `predictions` are a file, records such as
    `{"question_index": 17, "answer": "yes"}`, or a dict of id -> answer. `scenes` add fields of their scenes. Questions
    with one value of the field `cluster` are no independent evidence for the intervals ("image", or any to group by;
    "" takes all as independent). `prediction_key` is the key of the predictions in records whose names leave it open.
    `coordinates` says whether those of predicted points and boxes are "pixels", or "1000" for 0 to 1000.
    `on_read` is called now and then with the number of questions and predictions read since, for a progress bar.
    Raises BadInput for questions and predictions that do not fit each other.
    """
    settings = EvaluationSettings(normalise, tuple(top_k), missing=missing, cluster=cluster, coordinates=coordinates)
    require_predictions(predictions, prediction_key)
    items = read_items(questions, split=split, mode=mode, scenes=scenes, on_read=on_read)
    return evaluate_items(items, read_predictions(predictions, items.kind, prediction_key, on_read), settings)


def evaluate_items(items: Items, predictions: Predictions, settings: EvaluationSettings | None = None) -> Evaluation:
    """Return the evaluation of predictions, which are in any order.

    An item with different predictions is answered wrong, whichever comes first. BadInput for predictions that do not
    fit the items; see `match`.
    """
    settings = settings or EvaluationSettings()
    contents = match(items, predictions)
    is_missing = contents == NONE
    if items.mode == CHOICE and len(bare := np.flatnonzero(~is_missing & (items.options.codes == NONE))):
        reject_items(items, bare.tolist(), "no options, so no multiple choice")
    top_k = settings.top_k if settings.top_k and items.mode == OPEN else (1,)
    words = vocabulary_of(items.info, items.kind == "dialogs")
    credit = partial(judge, preset=settings.preset, vocabulary=words, top_k=top_k, coordinates=settings.coordinates)
    judged = _judged(items, predictions, contents, credit)
    places = judged.map(attrgetter("place"))
    _refuse_other_frame(places, items, settings.coordinates, predictions.name or "predictions")
    credits = np.array([*(reply.credits for reply in judged.values), (0.0,) * len(top_k)])[judged.codes]
    own = {
        PAIR: items.pairs,
        ANSWER: items.gold.map(partial(right_answer, preset=settings.preset, vocabulary=words)),
        GIVEN: judged.map(attrgetter("given")),
        STATUS: judged.map(attrgetter("status")),
    }
    coverage = coverage_of(items, predictions, judged.map(attrgetter("status")))
    if coverage.unknown > coverage.answered:
        message = f"{coverage.unknown:,} of {coverage.predictions:,} predictions are for no question of {items.name}"
        warn(Problem(f"{message}: are they for another file?", predictions.name))
    return Evaluation(
        replace(items, fields={**items.fields, **own}),
        predictions.name or "predictions",
        settings,
        coverage,
        dict(zip(top_k, credits.T, strict=True)),
        ~is_missing if settings.missing == SKIP else np.ones(len(items), dtype=bool),
        places,
    )


def _refuse_other_frame(places: Column, items: Items, coordinates: str, name: str) -> None:
    """Raise UsageError if many predicted points and boxes go beyond what their coordinates may count.

    Warn of pictures whose size is not known: of theirs, this is not seen.
    """
    scores = [places.values[code] for code in places.codes.tolist() if code != NONE]
    marked = [score for score in scores if score.marks]
    if marked and any(gold.spots and gold.spots.size is None for gold in items.gold.values):
        warn(Problem(f"coordinates are scored as {coordinates} without a check: {NO_SIZE}", name))
    if sum(score.is_outside for score in marked) > OUTSIDE * len(marked):
        other = next(each for each in COORDINATES if each != coordinates)
        message = f"{name}: more than {OUTSIDE:.0%} of the predicted places go beyond their pictures"
        raise UsageError(f"{message}; if their coordinates are no {coordinates}, say --coordinates {other}")


def _judged(items: Items, predictions: Predictions, contents: Codes, judge: Callable[..., Judged]) -> Column:
    """Return a Judged for each item; NONE without prediction. What is equal is judged once."""
    options = items.options.codes if items.mode == CHOICE else np.full(len(items), NONE, dtype=np.int32)
    answered = crossed(
        [
            Column(np.maximum(contents, NONE), predictions.contents),
            items.gold,
            Column(options + 1, (None, *items.options.values)),
        ]
    )
    found = [judge(*reply) for reply in answered.values]
    conflict = judge((), items.gold.values[0])._replace(status=AMBIGUOUS)
    codes = np.where(contents == CONFLICT, len(found), answered.codes)
    return Column(codes, (*found, conflict))


def write_item_scores(evaluation: Evaluation, out: PathLike, *, force: bool = False) -> None:
    """Write the result of each item as JSON Lines, in the order of the file.

    `given` is null without a prediction; `correct` is null for an item that is left out.
    """
    check_output(str(out), force)
    fields = evaluation.items.fields.items()
    with atomic_output(str(out)) as file:
        for start in range(0, len(evaluation), _BATCH):
            part = slice(start, start + _BATCH)
            cells = {name: column._replace(codes=column.codes[part]).cells() for name, column in fields}
            right, given = cells.pop(ANSWER), cells.pop(GIVEN)
            correct = zip(evaluation.correct[part].tolist(), evaluation.is_counted[part].tolist(), strict=True)
            for at, (id, (credit, counts)) in enumerate(zip(evaluation.items.ids[part], correct, strict=True)):
                known = {"id": id, ANSWER: right[at], GIVEN: given[at], "correct": credit if counts else None}
                record = {**known, "fields": {name: values[at] for name, values in cells.items()}}
                file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def toolkit_lines(evaluation: Evaluation) -> Iterator[str]:
    """Yield the lines that Visual7W's toolkit logs, without their times. UsageError for questions without a type."""
    if "type" not in evaluation.items.fields:
        raise UsageError(f"--profile visual7w is for questions with a type: {evaluation.items.name} has none")
    order = {name: place for place, name in enumerate(QUESTION_TYPES)}
    types = sorted(evaluation.table("type"), key=lambda row: (order.get(row.name, len(order)), row.name))
    correct, total = sum(round(row.correct) for row in types), sum(row.n for row in types)
    yield f"Evaluated on {total:,} QA pairs with top-{next(iter(evaluation.credits))} predictions."
    yield f"Overall accuracy = {correct / total if total else 0:.3f}"
    for row in types:
        yield f'Question type "{row.name}" accuracy = {round(row.correct) / row.n:.3f} ({round(row.correct)} / {row.n})'
