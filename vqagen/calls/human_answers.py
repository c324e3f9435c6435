"""The answers of a rater study as typed calls: status and export."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from vqagen.human.export.folder import ExportReport, check_export, write_export
from vqagen.human.export.rows import answer_rows
from vqagen.human.status import StudyStatus, status_of
from vqagen.human.store.opening import open_log as open_store
from vqagen.human.study.study import load_study
from vqagen.language.domain_files import PathLike


def study_status(folder: PathLike, store: PathLike | None = None, *, now: int | None = None) -> StudyStatus:
    """Return how far a study is, also while it is served. `store` is a place other than the study's own file.

    A study that was never served has no answers.
    """
    study = load_study(folder)
    now = _now() if now is None else now
    if not (store or study.was_served):
        return status_of(study, [], [], [], now)
    with closing(open_store(store or study.store, study.id, create=False, read_only=True)) as opened:
        rows = list(answer_rows(study, opened))
        return status_of(study, list(opened.assignments()), rows, opened.events(), now)


def export_study(
    folder: PathLike,
    out: PathLike,
    store: PathLike | None = None,
    *,
    include_ids: bool = False,
    events: bool = False,
    force: bool = False,
) -> ExportReport:
    """Write the answers of a study to the folder `out`, also while it is served. Equal answers give equal bytes.

    `include_ids` adds who the raters are, and `events` everything that happened.
    """
    study = load_study(folder)
    check_export(Path(out), force)
    with closing(open_store(store or study.store, study.id, create=False, read_only=True)) as opened:
        return write_export(study, opened, Path(out), include_ids=include_ids, events=events, force=force)


def _now() -> int:
    return time.time_ns() // 1_000_000
