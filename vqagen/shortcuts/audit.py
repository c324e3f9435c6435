"""The audit of a file: what predicts its answers better than chance without looking, and what is in it twice.

Each predictor of `shortcuts.predictors` that tells anything of the file is a probe. All tests are corrected together,
so that a file without shortcuts fails with a chance of `alpha` at most. Two-sided: guesses below chance are a sign of
folds that betray each other, or of answers that are balanced too well. What reads other questions about the same image
is shown and fails no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import log2
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.items.folds import make_folds
from vqagen.items.groups import answered, counts_within, entropy, families_of
from vqagen.items.guessing import Guesses, Guessing
from vqagen.items.table import NONE, Items, Places
from vqagen.language.domain_files import PathLike
from vqagen.score.items import Source, find_items, read_items
from vqagen.shortcuts.audit_report import ONE_WINDOW, AnswerSpread, Audit, Repetition
from vqagen.shortcuts.predictors import (
    CHOOSING,
    OTHERS,
    PICTURE,
    WORDS,
    OnGuess,
    Predictor,
    applicable,
    not_shown,
    trial_predictors,
)
from vqagen.shortcuts.probes import probe
from vqagen.shortcuts.settings import AuditSettings
from vqagen.tasks.record_files import task_of
from vqagen.world.loading import find_scenes


def probing(items: Items) -> Iterator[Predictor]:
    """Yield the predictors that may know more than chance.

    Where all items have options, those that read the text alone are left to `question-and-choices`. Of trials, the
    options are cells, of which the instruction picks one: it is not read. Who answers a dialog does not see the others
    about its image.
    """
    has_options = not (items.options.codes == NONE).any()
    for predictor in applicable(items):
        is_left = has_options and predictor.asks in (WORDS, OTHERS) and predictor.needs not in CHOOSING
        is_unseen = predictor.asks == OTHERS and items.kind == "dialogs"
        if predictor.asks and not is_left and not is_unseen:
            yield predictor


def audit(
    file: Source,
    *,
    scenes: PathLike | None = None,
    train: Source | None = None,
    train_scenes: PathLike | None = None,
    settings: AuditSettings | None = None,
    on_read: Callable[[int], None] | None = None,
    on_guess: OnGuess = not_shown,
    image_key: str = "",
) -> Audit:
    """Return what lets a model answer questions, dialogs or trials without looking; a file, or records in memory.

    `scenes` are those of the file, and `train` is the file that models are trained on, with its `train_scenes`.
    `audit(...).passes` is true if nothing exceeds the thresholds of the `settings`, and the file is large enough to
    show it; `.verdict` is also "inconclusive" or "not tested". Needs the extra `stats`. `on_read` is called with the
    number of records read since, for a progress bar, and then `on_guess`. `image_key` is the key of a record's image,
    by default one that is known.
    """
    if train is None and train_scenes is not None:
        raise UsageError("--train-scenes are the scenes of --train, which is missing")
    if not isinstance(file, str | Path | Mapping):
        file = list(file)  # trials are read twice
    items = _read(file, scenes, on_read, image_key)
    trained = None if train is None else _read(train, train_scenes, on_read, image_key)
    if trained is not None and trained.kind != items.kind:
        raise UsageError(f"--train {trained.name} holds {trained.kind}, but {items.name} holds {items.kind}")
    facts, others = (
        list(map(_facts, find_scenes(path).records())) if path else None for path in (scenes, train_scenes)
    )
    again = repetition(items, facts, trained, others)
    chosen = settings or AuditSettings()
    own = answered(items)
    more = list[Predictor]()
    notes: Sequence[str] = ()
    if items.kind == "trials":
        source = find_items(file)
        clues, notes = task_of(source.kind).option_clues(source)
        has_options = np.flatnonzero(own.options.codes != NONE)
        own = own.take(has_options)
        more += trial_predictors([clues[place] for place in has_options.tolist()])
    elif facts is not None and own.options.values:
        shown = partial(_visible_option, facts=facts)
        more.append(Predictor("visible-option", PICTURE, "an option that the scene shows", shown))
    folds = make_folds(own)
    answers = {name: _spread(counts) for name, counts in counts_within(families_of(own), own.answers).items()}
    if untested := folds.fault(own):
        return Audit(own, chosen, answers, (), again, notes, len(items) - len(own), untested)
    probes = probe([*probing(own), *more], Guessing.within(own, folds=folds), folds, chosen, on_guess)
    notes = notes if folds.is_apart else [*notes, ONE_WINDOW]
    return Audit(own, chosen, answers, probes, again, notes, len(items) - len(own))


def _spread(counts: Mapping[str, int]) -> AnswerSpread:
    """Return how evenly the items of a family are answered, by the counts of its answers, the greatest first."""
    (top, number), total = next(iter(counts.items())), sum(counts.values())
    return AnswerSpread(total, entropy(counts), log2(len(counts)), top, number / total)


def _read(file: Source, scenes: PathLike | None, on_read: Callable[[int], None] | None, image_key: str) -> Items:
    """Return the items of a file. BadInput if none has an answer."""
    items = read_items(file, scenes=scenes, learning=True, allow_unanswered=True, on_read=on_read, image_key=image_key)
    if len(items) == items.unanswered:
        message = "no answers in the file: there is nothing to audit" if len(items) else f"no {items.kind}"
        raise BadInput([Problem(message, items.name)])
    return items


# What scenes tell -----------------------------------------------------------------------------------------------------


class SceneFacts(NamedTuple):
    """What an audit knows of a scene."""

    content: bytes
    """Its objects, in one order however they are listed."""
    size: int
    values: frozenset[str]
    """The values of its objects."""


def _facts(record: Mapping[str, Any]) -> SceneFacts:
    """Return the facts of a scene."""
    found = record.get("objects")
    objects = [thing for thing in found if isinstance(thing, Mapping)] if isinstance(found, list) else []
    written = sorted(orjson.dumps(thing, option=orjson.OPT_SORT_KEYS) for thing in objects)
    values = frozenset(value for thing in objects for value in thing.values() if isinstance(value, str))
    return SceneFacts(b"\n".join(written), len(objects), values)


def repetition(
    items: Items,
    scenes: Sequence[SceneFacts] | None,
    train: Items | None = None,
    train_scenes: Sequence[SceneFacts] | None = None,
) -> Repetition:
    """Return the repetition in a file. Scenes are compared by their objects if both sides have them, else by image."""
    asked = set() if scenes is None else set(items.learning.places.cells()) - {None}
    repeated = len(asked) - len({scenes[place].content for place in asked}) if scenes else 0
    if train is None:
        return Repetition(len(asked), repeated)
    are_known = scenes is not None and train_scenes is not None
    ours = _keys(items, scenes if are_known else None)
    theirs = _keys(train, train_scenes if are_known else None)
    same = {
        name: len(items) - sum(key not in known for key in ours[name])
        for name, known in ((n, set(theirs[n])) for n in ours)
    }
    return Repetition(len(asked), repeated, len(items), **same)


def _keys(items: Items, scenes: Sequence[SceneFacts] | None) -> dict[str, list[Any]]:
    """Return what is compared of each item: its text, its program (else what was said until then), and its scene."""
    texts, histories, programs, _, places = (column.cells() for column in items.learning)
    asked = [program or (before, text) for program, before, text in zip(programs, histories, texts, strict=True)]
    about = items.images.cells()
    if scenes is not None:
        about = [image if at is None else scenes[at].content for image, at in zip(about, places, strict=True)]
    return {
        "same_text": texts,
        "same_program": asked,
        "same_scene": about,
        "same_program_and_scene": list(zip(asked, about, strict=True)),
    }


def _visible_option(guessing: Guessing, learn: Places, ask: Places, facts: Sequence[SceneFacts]) -> Guesses:
    """Choose any of the options that the scene shows; an item of which it shows none gets no guess.

    It shows the values of its objects, and numbers up to that of its objects.
    """
    scores, scenes = np.full(len(guessing.items), np.nan), guessing.learning.places.cells()
    for place in ask.tolist():
        options, scene = guessing.items.options.at(place), scenes[place]
        if scene is None or options is None or options.right is None:
            continue
        size, values = facts[scene].size, facts[scene].values
        seen = [int(option) <= size if option.isdecimal() else option in values for option in options.texts]
        if any(seen):
            scores[place] = seen[options.right] / sum(seen)
    return Guesses(np.full((len(ask), 1), NONE), scores[ask])
