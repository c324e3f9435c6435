"""Audits of files of questions, dialogs and trials, as typed calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import orjson

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files.output import atomic_output
from vqagen.language.domain_files import PathLike
from vqagen.score.items.reading import Source, read_items
from vqagen.score.items.table import Items
from vqagen.score.report.table import Report
from vqagen.shortcuts.audit import Audit, Guess, audit_items
from vqagen.shortcuts.audit_report import report_of
from vqagen.shortcuts.audit_settings import AuditSettings
from vqagen.shortcuts.scene_checks import SceneFacts, read_scene_facts, repetition, visible_options
from vqagen.world.loading import find_scenes


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
    more = [] if facts is None else [*_visible(items, facts)]
    return audit_items(items, settings or AuditSettings(), repetition(items, facts, trained, others), more)


def _read(file: Source, scenes: PathLike | None, on_read: Callable[[int], None] | None) -> Items:
    """Return the items of a file. BadInput if none has an answer."""
    items = read_items(file, scenes=scenes, learning=True, allow_unanswered=True, on_read=on_read)
    if len(items) == items.unanswered:
        message = "no answers in the file: there is nothing to audit" if len(items) else f"no {items.kind}"
        raise BadInput([Problem(message, items.name)])
    return items


def _visible(items: Items, scenes: Sequence[SceneFacts]) -> Iterator[Guess]:
    if items.options.values:
        yield Guess("visible-option", "an option that the scene shows", visible_options(items, scenes))


def write_item_biases(audit: Audit, out: str) -> None:
    """Write how well each item of an `audit` is guessed, one JSON object on each line."""
    with atomic_output(out) as file:
        file.writelines(orjson.dumps(record) + b"\n" for record in audit.item_records())


def audit_report(*audits: Audit) -> Report:
    """Return the report of an audit, with figures, or of several side by side."""
    return report_of(audits)
