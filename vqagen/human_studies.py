"""Human comparison studies as typed calls: planned, checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vqagen.human.study.folder import check_folder, write_study
from vqagen.human.study.making import CaptionFiles, make_caption_study
from vqagen.human.study.settings import PlanSettings
from vqagen.human.study.study import Study, load_study
from vqagen.language.domain_files import PathLike


def make_caption_tasks(
    out: PathLike,
    human: PathLike,
    systems: Mapping[str, PathLike],
    images: PathLike,
    settings: PlanSettings | None = None,
    *,
    texts: PathLike | None = None,
    force: bool = False,
) -> tuple[Study, tuple[str, ...]]:
    """Plan a study that compares captions, and write its folder; return it with notes on what was left out.

    `human` is a JSON file from image names to lists of captions, each of `systems` one from image names to captions.
    """
    settings = settings or PlanSettings()
    check_folder(Path(out), force)
    files = {name: str(file) for name, file in systems.items()}
    inputs = CaptionFiles(str(human), files, str(images), None if texts is None else str(texts))
    made = make_caption_study(inputs, settings)
    write_study(Path(out), made.files, force=force, keep_edited=texts is None)
    return load_study(Path(out)), made.notes
