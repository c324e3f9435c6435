"""Dialogs about scenes as typed calls: written to files, or as records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from vqagen.calls.keyword_settings import make_settings, shows_settings
from vqagen.calls.scene_questions import scenes_of, texts_of, unreadable_located
from vqagen.language.domain_files import DIALOGS, DomainFiles, PathLike, find_domain
from vqagen.run.options import RunOptions
from vqagen.run.progress import OnProgress
from vqagen.run.windows import span_to_read, windows_of
from vqagen.run.writing import write_records
from vqagen.tasks.contract import Task
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.dialog.task import DialogReport, dialog_task
from vqagen.world.loading import SceneSource


def write_dialogs(
    scenes: PathLike,
    out: PathLike,
    files: DomainFiles | None = None,
    settings: DialogSettings | None = None,
    *,
    format: str | None = None,
    options: RunOptions | None = None,
    shard: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> DialogReport:
    """Make dialogs about the scenes of a file or folder, and write them to `out`; see `write_records`."""
    task = dialog_task(files or find_domain(task=DIALOGS), settings or DialogSettings())
    report = write_records(task, out, scenes, format=format, options=options, shard=shard, on_progress=on_progress)
    assert isinstance(report, DialogReport)
    return report


@shows_settings(DialogSettings)
def dialogs(
    scenes: PathLike | Iterable[Mapping[str, Any]],
    *,
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    templates: PathLike | None = None,
    synonyms: PathLike | None = None,
    plugins: PathLike | Sequence[PathLike] = (),
    **settings: Any,
) -> Iterator[dict[str, Any]]:
    """Yield the records of dialogs about scenes, given as for `generate`, as `vqagen dialog` writes them.

    `settings` are the fields of `DialogSettings`, such as seed, rounds or dialogs_per_image. A scene that has fewer
    dialogs than asked for yields fewer; `write_dialogs` reports why. Raises VqagenError as `generate` does.
    """
    chosen = make_settings(DialogSettings, settings)
    files = find_domain(
        domain, metadata=metadata, templates=templates, synonyms=synonyms, plugins=plugins, task=DIALOGS
    )
    return _records_about(scenes_of(scenes), dialog_task(files, chosen))


def _records_about(scenes: SceneSource | Iterable[Mapping[str, Any]], task: Task) -> Iterator[dict[str, Any]]:
    """Yield the records of a task about scenes, made in this process and numbered as its output numbers them."""
    make, first = task.load(task.hashes()), task.settings.start_index
    span = span_to_read(first, task.settings.count, task.window, task.reads_ahead)
    windows = windows_of(texts_of(scenes, span), task.window)
    made = (record for window in windows for about in make(window, first, task.tally()) for record in about.records)
    with unreadable_located(scenes):
        for number, record in enumerate(made):
            yield {**record, task.number_key: number}
