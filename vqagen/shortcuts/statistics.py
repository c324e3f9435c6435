"""Statistics of files, with what can be guessed of their answers without the pictures, by type and family.

Of a large file, images are taken by a hash of their names, so that the sample is the same wherever it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vqagen.errors import BadInput, Problem, UsageError, counted
from vqagen.extras import needed
from vqagen.score.items.reading import Source, find_items, read_items
from vqagen.score.items.table import NONE, Column, Items, Places
from vqagen.score.record_files import SAMPLES, TRIALS
from vqagen.score.report.table import Report
from vqagen.shortcuts.dialog_statistics import dialog_statistics
from vqagen.shortcuts.groups import answered, families_of, places_by, types_of
from vqagen.shortcuts.learners import majority_of
from vqagen.shortcuts.predictors import NAMED, Predictor, applicable, predict
from vqagen.shortcuts.question_statistics import RANKED, question_statistics
from vqagen.shortcuts.task import ONE_IMAGE, Floats, Task, joined, make_folds
from vqagen.shortcuts.trial_statistics import trial_statistics


def stats(source: Source, *, against: Source | None = None, on_read: Callable[[int], None] | None = None) -> Report:
    """Return the statistics of questions, dialogs or trials, with guesses of their answers.

    The `source` is a file or folder, or records in memory. Guesses of questions and dialogs see no picture, and are
    tested on `against`, which is about other scenes; without it, on images that they were not learned from. Trials are
    answered by policies that miss a view or words. `on_read` is called now and then with the number of questions,
    dialogs or trials read since, for a progress bar.
    """
    source = source if isinstance(source, str | Path | Mapping) else list(source)
    found = find_items(source)
    if found.kind in (TRIALS, SAMPLES):
        if against is not None:
            raise UsageError(f"{found.path} holds trials, whose policies learn nothing: leave out against")
        return trial_statistics(found, on_read or (lambda _: None))
    items = _read(source, on_read)
    if not len(items):
        raise BadInput([Problem("no rounds" if items.kind == "dialogs" else f"no {items.kind}", items.name)])
    tested = None if against is None else _read(against, on_read)
    if tested is not None and tested.name == items.name:
        raise UsageError(f"--against {tested.name} is the file itself; name one about other scenes, or leave it out")
    if tested is not None and tested.kind != items.kind:
        raise UsageError(f"--against {tested.name} holds {tested.kind}, but {items.name} holds {items.kind}")
    if items.kind == "dialogs":
        return dialog_statistics(items, *guess_rounds(items, tested))
    return question_statistics(items, *guess_questions(items, tested))


def _read(source: Source, on_read: Callable[[int], None] | None) -> Items:
    return read_items(source, learning=True, allow_unanswered=True, on_read=on_read)


SAMPLED = 30_000
"""Items that guessing is learned from and tested on at most; more change the figures by less than .01."""
FEW = 40
"""Items of a family below which its answers can hardly be learned."""
ONE_WINDOW = (
    "the file's answers are balanced as one whole, so guesses learned from a part of it are too poor; "
    "--against another file of the same making shows the true figures"
)
FEW_ITEMS = "only {} questions of each family: guesses learned from more would be better"


Guessed = tuple[dict[str, Any] | None, Sequence[str]]
"""How often predictors are right about a file, for JSON, or None if there is nothing to test them on; and notes."""


def guess_questions(items: Items, tested: Items | None = None, limit: int = SAMPLED) -> Guessed:
    """Return how often the majority of the family is right, and the learned predictors that the questions allow.

    They are tested on another file or, without one, each part of the images is guessed by what the others teach. The
    learned ones see at most `limit` items of each file.
    """
    predictors = [NAMED["majority-family"], *(each for each in applicable(items) if each.is_learned)]
    notes: list[str] = []
    try:
        needed("sklearn", "stats", "guessing by what is learned")
    except UsageError as error:
        predictors, notes = predictors[:1], [str(error)]
    record, found = _guess(items, tested, predictors, "question", limit)
    notes += found
    if record and record["all"]["questions"] < FEW * len(record["families"]):
        notes.append(FEW_ITEMS.format(record["all"]["questions"] // len(record["families"])))
    return record, notes


def guess_rounds(items: Items, tested: Items | None = None) -> Guessed:
    """Return how often the majority of its label is right about a round."""

    by_label = majority_of("labels")
    return _guess(items, tested, [Predictor("majority", "the most frequent answer of the label", by_label)], "round")


def _guess(
    items: Items, tested: Items | None, predictors: Sequence[Predictor], noun: str, limit: int = SAMPLED
) -> Guessed:
    items, notes = answered(items), []
    if not len(items):
        return None, []
    chosen = _sampled(items, limit)
    if tested is not None:
        tested = answered(tested)
        if not len(tested):
            return None, [f"no answers in {tested.name}: nothing to test guesses on"]
        splits = [(np.arange(len(items)), np.arange(len(items), len(items) + len(tested)))]
        chosen = np.append(chosen, _sampled(tested, limit))
        items, about = joined(items, tested), f"{counted(len(tested), noun)} of {tested.name}"
    else:
        folds = make_folds(items)
        if folds.number < 2:
            return None, [ONE_IMAGE]
        notes += [] if folds.is_apart else [ONE_WINDOW]
        splits, about = folds.splits(), f"{counted(len(items), noun)}, each by what other images teach"
    if not chosen.all():
        about += f"; what is learned, of {int(chosen.sum()):,}"
    scores = {each.name: _scores(each, items, splits, chosen) for each in predictors}
    return _record(items, scores, "label" if noun == "round" else "", about), notes


def _scores(
    predictor: Predictor, items: Items, splits: Sequence[tuple[Places, Places]], chosen: npt.NDArray[np.bool_]
) -> Floats:
    """Return the probability that a predictor is right about each item; NaN where it is not asked."""
    if not predictor.is_learned or chosen.all():
        return predict(predictor, Task(items, splits)).expected
    found, places = np.full(len(items), np.nan), np.cumsum(chosen) - 1
    part = items.take(np.flatnonzero(chosen))
    part = replace(part, learning=replace(part.learning, texts=_compact(part.learning.texts)))
    own = [(places[learn[chosen[learn]]], places[ask[chosen[ask]]]) for learn, ask in splits]
    found[chosen] = predict(predictor, Task(part, own)).expected
    return found


def _compact(column: Column) -> Column:
    """Return a column without the values that no item has."""
    used = np.unique(column.codes[column.codes != NONE])
    codes = np.full(len(column.values) + 1, NONE, dtype=np.int32)
    codes[used] = np.arange(len(used))
    return Column(codes[column.codes], tuple(column.values[code] for code in used.tolist()))


def _sampled(items: Items, limit: int) -> npt.NDArray[np.bool_]:
    """Return which items are about a part of the images, so large that it has at most `limit` items."""
    digests = (blake2b(str(image).encode(), digest_size=8).digest() for image in items.images.values)
    hashes = np.array([int.from_bytes(each, "big") for each in digests], dtype=np.uint64)[items.images.codes]
    chosen, most = np.ones(len(items), dtype=bool), (1 << 64) - 1
    while chosen.sum() > limit:
        most //= 2
        chosen = hashes <= most
    return chosen


def _record(items: Items, scores: Mapping[str, Floats], field: str, tested_on: str) -> dict[str, Any]:
    """Return predictor -> share of right answers, of all items, of each type and of each family (or another field).

    `scores` are the probabilities of a right answer of each item; NaN where it was not asked.
    """
    families = items.column(field) if field else families_of(items)
    of_types, of_families = _accuracies(scores, types_of(items)), _accuracies(scores, families)
    ranked = [name for name, each in of_families.items() if each["questions"] >= RANKED]
    ranked.sort(key=lambda name: (-max(of_families[name][key] or 0.0 for key in scores), name))
    return {
        "tested_on": tested_on,
        "all": _accuracy(scores, np.arange(len(items))),
        "mean_of_types": {name: _mean([each[name] for each in of_types.values()]) for name in scores},
        "ranked_families": ranked,
        "types": of_types,
        "families": of_families,
    }


def _accuracies(scores: Mapping[str, Floats], groups: Column) -> dict[str, dict[str, Any]]:
    found = {name: _accuracy(scores, places) for name, places in sorted(places_by(groups).items())}
    return {name: each for name, each in found.items() if each["questions"]}


def _accuracy(scores: Mapping[str, Floats], places: Places) -> dict[str, Any]:
    own = {name: found[places][~np.isnan(found[places])].tolist() for name, found in scores.items()}
    return {"questions": max(map(len, own.values())), **{name: _mean(each) for name, each in own.items()}}


def _mean(shares: Sequence[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return round(sum(known) / len(known), 6) if known else None
