"""Audits of files of questions, dialogs and trials, as typed calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import orjson

from vqagen.files.output import atomic_output
from vqagen.language.domain_files import PathLike
from vqagen.score.report.table import Report
from vqagen.shortcuts.audit.audit import Audit, audit_items
from vqagen.shortcuts.audit.inputs import read_audit_file, read_inputs
from vqagen.shortcuts.audit.report import report_of
from vqagen.shortcuts.audit.settings import AuditSettings
from vqagen.shortcuts.figures import audit_figures
from vqagen.world.loading import find_scenes


def audit(
    file: PathLike,
    *,
    scenes: PathLike | None = None,
    train: PathLike | None = None,
    train_scenes: PathLike | None = None,
    settings: AuditSettings | None = None,
    on_read: Callable[[int], None] = lambda _: None,
) -> Audit:
    """Return what lets a model answer a file of questions, dialogs or trials without looking.

    `scenes` are those of the file, and `train` is the file that models are trained on, with its `train_scenes`.
    `audit(...).passes` is true if nothing exceeds the thresholds of the `settings`. Needs the extra `stats`. `on_read`
    is called with the number of items read since, for a progress bar.
    """
    found = read_audit_file(str(file), None if scenes is None else find_scenes(scenes), on_read)
    inputs = read_inputs(found, *(None if each is None else str(each) for each in (scenes, train, train_scenes)))
    return audit_items(found, inputs, settings or AuditSettings())


def write_item_biases(audit: Audit, out: str) -> None:
    """Write how well each item of an `audit` is guessed, one JSON object on each line."""
    with atomic_output(out) as file:
        file.writelines(orjson.dumps(record) + b"\n" for record in audit.item_records())


def audit_report(*audits: Audit) -> Report:
    """Return the report of an audit, with figures, or of several side by side."""
    report = report_of(audits)
    return report if len(audits) > 1 else replace(report, figures=tuple(audit_figures(audits[0])))
