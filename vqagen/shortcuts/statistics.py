"""Statistics of files, with what can be guessed of their answers without the pictures, by type and family.

Of a large file, images are taken by a hash of their names, so that the sample is the same wherever it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vqagen.errors import BadInput, Problem, UsageError, counted
from vqagen.extras import needed
from vqagen.items.folds import NOT_TESTED, make_folds
from vqagen.items.groups import (
    RANKED,
    answered,
    families_of,
    places_by,
    types_of,
)
from vqagen.items.guessing import Floats, Guessing, majority_of
from vqagen.items.table import Items, Places
from vqagen.report.table import Report
from vqagen.score.items import Source, find_items, read_items
from vqagen.shortcuts.predictors import NAMED, OnGuess, Predictor, applicable, in_turn, not_shown, predict
from vqagen.tasks import task_named
from vqagen.tasks.record_files import SAMPLES, TRIALS, task_of


def stats(
    source: Source,
    *,
    against: Source | None = None,
    on_read: Callable[[int], None] | None = None,
    on_guess: OnGuess = not_shown,
    image_key: str = "",
) -> Report:
    """Return the statistics of questions, dialogs or trials, with guesses of their answers.

    The `source` is a file or folder, or records in memory. Guesses of questions and dialogs see no picture, and are
    tested on `against`, which is about other scenes; without it, on images that they were not learned from. Trials are
    answered by policies that miss a view or words. `on_read` is called now and then with the number of questions,
    dialogs or trials read since, for a progress bar, and then `on_guess`. `image_key` is the key of a record's image,
    by default one that is known.
    """
    source = source if isinstance(source, str | Path | Mapping) else list(source)
    found = find_items(source)
    if found.kind in (TRIALS, SAMPLES):
        if against is not None:
            raise UsageError(f"{found.path} holds trials, whose policies learn nothing: leave out against")
        return task_of(found.kind).policy_statistics(found, on_read or (lambda _: None))
    read = partial(read_items, learning=True, allow_unanswered=True, on_read=on_read, image_key=image_key)
    items = read(source)
    if not len(items):
        raise BadInput([Problem("no rounds" if items.kind == "dialogs" else f"no {items.kind}", items.name)])
    tested = None if against is None else read(against)
    if tested is not None and tested.name == items.name:
        raise UsageError(f"--against {tested.name} is the file itself; name one about other scenes, or leave it out")
    if tested is not None and tested.kind != items.kind:
        raise UsageError(f"--against {tested.name} holds {tested.kind}, but {items.name} holds {items.kind}")
    if items.kind == "dialogs":
        labels = Predictor("majority", "", "the most frequent answer of the label", majority_of("labels"))
        guessed, notes = guess(items, tested, [labels])
    else:
        guessed, notes = guess_questions(items, tested, on_guess=on_guess)
    return task_named(items.kind).statistics(items, guessed, notes)


SAMPLED = 30_000
"""Items that guessing is learned from and tested on at most; more change the figures by less than .01."""
FEW = 40
"""Items of a family below which its answers can hardly be learned."""
ONE_WINDOW = (
    "the file's answers are balanced as one whole, so guesses learned from a part of it are too poor; "
    "--against another file of the same making shows the true figures"
)

Guessed = tuple[dict[str, Any] | None, Sequence[str]]
"""How often predictors are right about a file, for JSON, or None if there is nothing to test them on; and notes."""


def guess_questions(
    items: Items, tested: Items | None = None, limit: int = SAMPLED, on_guess: OnGuess = not_shown
) -> Guessed:
    """Return how often the majority of the family is right, and the learned predictors that the questions allow.

    They are tested on another file or, without one, each part of the images is guessed by what the others teach. The
    learned ones see at most `limit` items of each file.
    """
    predictors = [NAMED["majority-family"], *(predictor for predictor in applicable(items) if predictor.is_learned)]
    notes: list[str] = []
    try:
        needed("sklearn", "stats", "guessing by what is learned")
    except UsageError as error:
        predictors, notes = predictors[:1], [str(error)]
    record, found = guess(items, tested, predictors, limit, on_guess)
    few = record["all"]["questions"] // len(record["families"]) if record else FEW
    doubt = f"only {few} questions of each family: guesses learned from more would be better"
    return record, [*notes, *found, *([doubt] if few < FEW else [])]


def guess(
    items: Items,
    tested: Items | None,
    predictors: Sequence[Predictor],
    limit: int = SAMPLED,
    on_guess: OnGuess = not_shown,
) -> Guessed:
    """Return how often predictors are right, of all items, of each type and of each family (of rounds, each label)."""
    items = answered(items)
    noun, field = ("round", "label") if items.kind == "dialogs" else ("question", "")
    if not len(items):
        return None, []
    chosen, notes = _sampled(items, limit), list[str]()
    if tested is not None:
        tested = answered(tested)
        if not len(tested):
            return None, [f"no answers in {tested.name}: nothing to test guesses on"]
        guessing, about = Guessing.across(items, tested), f"{counted(len(tested), noun)} of {tested.name}"
        chosen = np.append(chosen, _sampled(tested, limit))
    else:
        folds = make_folds(items)
        if fault := folds.fault(items):
            return None, [f"{NOT_TESTED}: {fault}"]
        guessing = Guessing.within(items, folds=folds)
        about = f"{counted(len(items), noun)}, each by what other images teach"
        notes += [] if folds.is_apart else [ONE_WINDOW]
    if not chosen.all():
        about += f"; what is learned, of {int(chosen.sum()):,}"
    items = guessing.items
    scores = {predictor.name: _scores(predictor, guessing, chosen) for predictor in in_turn(predictors, on_guess)}
    families, types = items.column(field) if field else families_of(items), types_of(items)
    of_types, of_families = (
        {name: found for name, places in sorted(places_by(groups).items()) if (found := _means(scores, places))}
        for groups in (types, families)
    )
    ranked = sorted(
        (name for name, figures in of_families.items() if figures["questions"] >= RANKED),
        key=lambda name: (-max(of_families[name][key] or 0.0 for key in scores), name),
    )
    record = {
        "tested_on": about,
        "all": _means(scores, np.arange(len(items))),
        "mean_of_types": {name: _mean([value[name] for value in of_types.values()]) for name in scores},
        "ranked_families": ranked,
        "types": of_types,
        "families": of_families,
    }
    return record, notes


def _means(scores: Mapping[str, Floats], places: Places) -> dict[str, Any]:
    """Return the number of tested items, and the mean of each predictor's scores; nothing if none was tested."""
    own = {name: found[places][~np.isnan(found[places])].tolist() for name, found in scores.items()}
    number = max(map(len, own.values()))
    return {"questions": number, **{name: _mean(shares) for name, shares in own.items()}} if number else {}


def _mean(shares: Sequence[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return round(sum(known) / len(known), 6) if known else None


def _scores(predictor: Predictor, guessing: Guessing, chosen: npt.NDArray[np.bool_]) -> Floats:
    """Return the probability that a predictor is right about each item; NaN where it is not asked."""
    if not predictor.is_learned or chosen.all():
        return predict(predictor, guessing).expected
    found, places = np.full(len(chosen), np.nan), np.cumsum(chosen) - 1
    part = guessing.items.take(np.flatnonzero(chosen))
    own = [(places[learn[chosen[learn]]], places[ask[chosen[ask]]]) for learn, ask in guessing.splits]
    found[chosen] = predict(predictor, Guessing(part, own)).expected
    return found


def _sampled(items: Items, limit: int) -> npt.NDArray[np.bool_]:
    """Return which items are about a part of the images, so large that it has at most `limit` items."""
    digests = [blake2b(str(image).encode(), digest_size=8).digest() for image in items.images.values]
    hashes = np.frombuffer(b"".join(digests), dtype=">u8")[items.images.codes]
    return hashes < np.sort(hashes)[limit] if len(items) > limit else np.ones(len(items), dtype=bool)
