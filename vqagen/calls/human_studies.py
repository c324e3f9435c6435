"""Planning and checking studies of raters, as typed calls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from vqagen.errors import UsageError
from vqagen.human.study.caption_study import CaptionFiles, make_caption_study
from vqagen.human.study.checking import StudyReport
from vqagen.human.study.checking import check_study as check_folder_of_study
from vqagen.human.study.folder import check_folder, write_study
from vqagen.human.study.item_study import ItemFiles, make_item_study
from vqagen.human.study.making import MadeStudy
from vqagen.human.study.settings import PlanSettings
from vqagen.human.study.study import Study, load_study
from vqagen.human.study.texts import TEXTS_FILE
from vqagen.language.domain_files import PathLike


class PlannedStudy(NamedTuple):
    """A study that was written, and what its maker should know, such as what was left out."""

    study: Study
    notes: tuple[str, ...]


def make_caption_tasks(
    out: PathLike,
    human: PathLike,
    systems: Mapping[str, PathLike],
    images: PathLike,
    settings: PlanSettings | None = None,
    *,
    force: bool = False,
) -> PlannedStudy:
    """Plan a study that compares captions, and write its folder.

    `human` is a JSON file from image names to lists of captions, each of `systems` one from image names to captions.
    With `force` a study that was not served yet is replaced, whose words stay. Raises BadInput with every mistake in
    the files, and PlanError if a task would show an image twice.
    """
    settings = settings or PlanSettings()
    if not systems and not settings.human_human:
        raise UsageError("no system to compare with people: give --system, or --human-human to compare people")
    check_folder(Path(out), force)
    inputs = CaptionFiles(str(human), {name: str(systems[name]) for name in sorted(systems)}, str(images), _words(out))
    return _written(out, make_caption_study(inputs, settings), force)


def make_item_tasks(
    out: PathLike,
    items: PathLike,
    images: PathLike | None = None,
    settings: PlanSettings | None = None,
    *,
    force: bool = False,
) -> PlannedStudy:
    """Plan a study of the items in a file of JSON Lines, and write its folder.

    `images` is the folder that items name images of. Raises BadInput with every mistake in the files, and PlanError if
    a task would show an image twice.
    """
    check_folder(Path(out), force)
    inputs = ItemFiles(str(items), None if images is None else str(images), _words(out))
    return _written(out, make_item_study(inputs, settings or PlanSettings()), force)


def check_study(study: PathLike) -> StudyReport:
    """Check the plan, the images and the words of a study. BadInput if its items, tasks or images were changed."""
    return check_folder_of_study(Path(study))


def _words(out: PathLike) -> Path | None:
    """Return the words of the study that is replaced: those of trials are written into the items."""
    path = Path(out, TEXTS_FILE)
    return path if path.is_file() else None


def _written(out: PathLike, made: MadeStudy, force: bool) -> PlannedStudy:
    write_study(Path(out), made.files, force=force)
    return PlannedStudy(load_study(Path(out)), made.notes)
