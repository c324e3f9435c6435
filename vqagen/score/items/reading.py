"""Reads whatever is asked and answered, in a file or in memory, as one table."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from vqagen.errors import UsageError, unknown
from vqagen.files.records import RecordSource, given_records, open_records
from vqagen.files.visual7w import IMAGES
from vqagen.language.domain_files import PathLike
from vqagen.language.question_files import QUESTIONS
from vqagen.score.items.benchmarks import ANNOTATIONS, annotations_of, read_visual7w, read_vqav2
from vqagen.score.items.builder import SceneFields, TableBuilder
from vqagen.score.items.dialogs import read_dialogs
from vqagen.score.items.questions import read_questions
from vqagen.score.items.table import MODES, Items
from vqagen.score.items.trials import read_trials
from vqagen.score.record_files import KINDS, SAMPLES, TRIALS, find_any_records, kind_of_file, require_records
from vqagen.tasks.dialog.dialog_files import DIALOGS
from vqagen.world.loading import SCENES, find_scenes

Source = PathLike | Mapping[str, Any] | Iterable[Mapping[str, Any]]
"""A file or folder; or in memory a document such as {"questions": [...]}, or records."""
VQAGEN, DIALOG, TRIAL, VISUAL7W, VQAV2 = "vqagen", "dialogs", "trials", "visual7w", "vqav2"
_READERS: Mapping[str, tuple[str, Callable[[TableBuilder], Items]]] = {
    QUESTIONS.key: (VQAGEN, read_questions),
    DIALOGS.key: (DIALOG, read_dialogs),
    TRIALS.key: (TRIAL, read_trials),
    SAMPLES.key: (TRIAL, read_trials),
    IMAGES.key: (VISUAL7W, read_visual7w),
    ANNOTATIONS.key: (VQAV2, read_vqav2),
}
"""Key of a document -> the format that it tells, and its reader."""
_KINDS = {**KINDS, IMAGES.key: IMAGES, **dict.fromkeys((ANNOTATIONS.key, "task_type", "data_subtype"), ANNOTATIONS)}
"""A key that tells -> the kind of records, those of other benchmarks too."""


def read_items(
    source: Source,
    *,
    split: str = "",
    mode: str = "",
    scenes: Source | None = None,
    learning: bool = False,
    allow_unanswered: bool = False,
    on_read: Callable[[int], None] | None = None,
) -> Items:
    """Return the items of a file, of a folder, or of records in memory.

    Only items of the `split` are read, if there is one. `mode` is one of MODES, by default that of the file. With
    `scenes`, items get fields of their scenes; with `learning`, what predictors learn from. Questions and rounds
    without answers are an error unless `allow_unanswered`. `on_read` is called with 1 for each record.

    UsageError where nothing lies, and for scenes or splits that the format has not; BadInput, with all faults, for
    records that cannot be read.
    """
    if mode and mode not in MODES:
        raise UsageError(unknown("mode", mode, MODES))
    records = find_items(source)
    name, (format, read) = str(records.path), _READERS[records.kind.key]
    facts = None
    if scenes is not None:
        if format not in (VQAGEN, DIALOG):
            raise UsageError(f"scenes are for questions and dialogs of vqagen; {name} is of format {format}")
        facts = SceneFields(find_scenes(scenes) if isinstance(scenes, str | Path) else given_records(scenes, SCENES))
    if split and format not in (VQAGEN, DIALOG, VISUAL7W):
        raise UsageError(f"no splits in format {format}: leave out {split!r}")
    table = TableBuilder(
        records,
        format,
        split=split,
        mode=mode,
        scenes=facts,
        learning=learning,
        allow_unanswered=allow_unanswered,
        on_read=on_read,
    )
    had_collection = gc.isenabled()
    gc.disable()  # records hold no cycles, and looking for some takes half as long as reading: `bench evaluate`
    try:
        return read(table)
    finally:
        if had_collection:
            gc.enable()


def find_items(source: Source) -> RecordSource:
    """Return the records of a file or folder, or in memory. UsageError where nothing lies."""
    if isinstance(source, str | Path) and kind_of_file(place := require_records(source), _KINDS) is ANNOTATIONS:
        return open_records(annotations_of(place), ANNOTATIONS)
    return find_any_records(source, _KINDS)
