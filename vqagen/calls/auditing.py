"""Audits of files of questions, dialogs and trials, as typed calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import orjson

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files.output import atomic_output
from vqagen.language.domain_files import PathLike, find_domain, load_catalogue
from vqagen.score.items.reading import Source, find_items, read_items
from vqagen.score.items.table import NONE, Items
from vqagen.score.origin import shipped_domain
from vqagen.score.report.table import Report
from vqagen.shortcuts.audit import Audit, audit_items, known
from vqagen.shortcuts.audit_report import report_of
from vqagen.shortcuts.execution import Programs, scene_blind, wrong_image
from vqagen.shortcuts.groups import answered
from vqagen.shortcuts.predictors import Predictor
from vqagen.shortcuts.scene_checks import read_scene_facts, repetition, visible_options
from vqagen.shortcuts.settings import AuditSettings
from vqagen.shortcuts.trial_guesses import trial_predictors
from vqagen.shortcuts.trial_statistics import read_views
from vqagen.world.loading import SceneSource, find_scenes

RUNS, BLIND_RUNS = 5, 25
"""Other scenes, and imagined ones, that each program is run on."""


def audit(
    file: Source,
    *,
    scenes: PathLike | None = None,
    train: Source | None = None,
    train_scenes: PathLike | None = None,
    settings: AuditSettings | None = None,
    on_read: Callable[[int], None] | None = None,
) -> Audit:
    """Return what lets a model answer questions, dialogs or trials without looking; a file, or records in memory.

    `scenes` are those of the file, and `train` is the file that models are trained on, with its `train_scenes`.
    `audit(...).passes` is true if nothing exceeds the thresholds of the `settings`. Needs the extra `stats`. `on_read`
    is called with the number of records read since, for a progress bar.
    """
    if train is None and train_scenes is not None:
        raise UsageError("--train-scenes are the scenes of --train, which is missing")
    items = _read(file, scenes, on_read)
    trained = None if train is None else _read(train, train_scenes, on_read)
    if trained is not None and trained.kind != items.kind:
        raise UsageError(f"--train {trained.name} holds {trained.kind}, but {items.name} holds {items.kind}")
    facts, others = (None if each is None else read_scene_facts(find_scenes(each)) for each in (scenes, train_scenes))
    again = repetition(items, facts, trained, others)
    chosen = settings or AuditSettings()
    own = answered(items)
    more, notes = list[Predictor](), list[str]()
    if items.kind == "trials":
        trials, notes = read_views(find_items(file))
        has_options = np.flatnonzero(own.options.codes != NONE)
        own = own.take(has_options)
        more += trial_predictors([trials[place] for place in has_options.tolist()])
    elif scenes is not None and facts is not None:
        if own.options.values:
            more.append(known("visible-option", "an option that the scene shows", visible_options(own, facts)))
        try:
            more += _executed(own, find_scenes(scenes))
        except BadInput as error:
            notes.append(f"programs were not run on other scenes: {error.problems[0].message}")
    return audit_items(own, chosen, again, more, notes, len(items) - len(own))


def _read(file: Source, scenes: PathLike | None, on_read: Callable[[int], None] | None) -> Items:
    """Return the items of a file. BadInput if none has an answer."""
    items = read_items(file, scenes=scenes, learning=True, allow_unanswered=True, on_read=on_read)
    if len(items) == items.unanswered:
        message = "no answers in the file: there is nothing to audit" if len(items) else f"no {items.kind}"
        raise BadInput([Problem(message, items.name)])
    return items


def _executed(items: Items, scenes: SceneSource) -> Iterator[Predictor]:
    """Yield predictors that run each program on other scenes; none if a program is missing.

    The functions are those of the domain that the file's info names; of one's own domain, no program is run.
    """
    assert items.learning is not None
    if (items.learning.programs.codes == NONE).any() or len(np.unique(items.learning.places.codes)) < 2:
        return
    programs = Programs(items, scenes, load_catalogue(find_domain(shipped_domain(items.info)))[0])
    yield known("wrong-image", "the program, run on other scenes", wrong_image(programs, 0, RUNS).expected)
    yield known("scene-blind", "the program, run on imagined scenes", scene_blind(programs, 0, BLIND_RUNS).expected)


def write_item_biases(audit: Audit, out: str) -> None:
    """Write how well each item of an `audit` is guessed, one JSON object on each line."""
    with atomic_output(out) as file:
        file.writelines(orjson.dumps(record) + b"\n" for record in audit.item_records())


def audit_report(*audits: Audit) -> Report:
    """Return the report of an audit, with figures, or of several side by side."""
    return report_of(audits)
