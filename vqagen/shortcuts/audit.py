"""The audit of a file: what predicts its answers better than chance without looking, and what is in it twice.

Each predictor of `shortcuts.predictors` that tells anything of the file is a probe. All tests are corrected together,
so that a file without shortcuts fails with a chance of `alpha` at most. Two-sided: guesses below chance are a sign of
folds that betray each other, or of answers that are balanced too well. What reads other questions about the same image
is shown and fails no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log2
from pathlib import Path

import numpy as np

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.items.folds import make_folds
from vqagen.items.groups import answered, counts_within, entropy, families_of
from vqagen.items.guessing import Guessing
from vqagen.items.table import NONE, Items
from vqagen.language.domain_files import PathLike
from vqagen.score.items import Source, find_items, read_items
from vqagen.shortcuts.audit_report import ONE_WINDOW, AnswerSpread, Audit
from vqagen.shortcuts.predictors import (
    CHOOSING,
    OTHERS,
    WORDS,
    OnGuess,
    Predictor,
    applicable,
    known,
    not_shown,
    trial_predictors,
)
from vqagen.shortcuts.probes import probe
from vqagen.shortcuts.scenes import Repetition, read_scene_facts, repetition, visible_options
from vqagen.shortcuts.settings import AuditSettings
from vqagen.tasks.record_files import task_of
from vqagen.world.loading import find_scenes


def audit_items(
    items: Items,
    settings: AuditSettings,
    found: Repetition,
    more: Sequence[Predictor] = (),
    notes: Sequence[str] = (),
    unanswered: int = 0,
    on_guess: OnGuess = not_shown,
) -> Audit:
    """Return the audit of items, all of which have answers.

    `more` are predictors besides those of the list; `unanswered` is the number of items that were left out.
    """
    folds, answers = make_folds(items), dict[str, AnswerSpread]()
    for name, counts in counts_within(families_of(items), items.answers).items():
        (top, number), total = next(iter(counts.items())), sum(counts.values())
        answers[name] = AnswerSpread(total, entropy(counts), log2(len(counts)), top, number / total)
    if untested := folds.fault(items):
        return Audit(items, settings, answers, (), found, notes, unanswered, untested)
    guessing = Guessing.within(items, folds=folds)
    probes = probe([*probing(items), *more], guessing, folds, settings, on_guess)
    own = notes if folds.is_apart else [*notes, ONE_WINDOW]
    return Audit(items, settings, answers, probes, found, own, unanswered)


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
    facts, others = (read_scene_facts(find_scenes(path)) if path else None for path in (scenes, train_scenes))
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
        more.append(known("visible-option", "an option that the scene shows", visible_options(own, facts)))
    return audit_items(own, chosen, again, more, notes, len(items) - len(own), on_guess)


def _read(file: Source, scenes: PathLike | None, on_read: Callable[[int], None] | None, image_key: str) -> Items:
    """Return the items of a file. BadInput if none has an answer."""
    items = read_items(file, scenes=scenes, learning=True, allow_unanswered=True, on_read=on_read, image_key=image_key)
    if len(items) == items.unanswered:
        message = "no answers in the file: there is nothing to audit" if len(items) else f"no {items.kind}"
        raise BadInput([Problem(message, items.name)])
    return items
