"""Items for raters from questions and dialogs, as typed calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from vqagen.errors import UsageError
from vqagen.files.locations import Location, locate
from vqagen.files.output import atomic_output, check_ending, check_output
from vqagen.files.shipped import require
from vqagen.human.items.captions import HUMAN_LIKE, caption_items
from vqagen.human.items.material import texts_of_scenes
from vqagen.human.items.questions import question_items
from vqagen.human.items.settings import ItemSettings
from vqagen.human.study.item import CHECK, Item
from vqagen.language.domain_files import DomainFiles, PathLike, find_domain, load_catalogue, load_domain_files
from vqagen.language.question_files import QUESTIONS
from vqagen.score.file_kinds import kind_of_file
from vqagen.tasks.dialog.dialog_files import DIALOGS
from vqagen.world.loading import find_scenes


class ItemCounts(NamedTuple):
    """How many items were written."""

    comparisons: int
    checks: int


def make_items(
    scenes: PathLike,
    file: PathLike | None = None,
    systems: Mapping[str, PathLike] | None = None,
    settings: ItemSettings | None = None,
    files: DomainFiles | None = None,
) -> list[Item]:
    """Return items for raters.

    `file` holds questions, whose wordings or families are compared, or dialogs, whose captions are the reference of
    the captions in the dialogs of each of `systems`. Without `file` the systems are compared with each other. Each
    check has a text that a program proves to be untrue of its scene. Raises BadInput.
    """
    settings, systems = settings or ItemSettings(), dict(systems or {})
    if file is None and len(systems) < 2:
        raise UsageError("nothing to compare: name a file of questions or dialogs, or two systems with dialogs")
    given = {HUMAN_LIKE: file, **systems} if file is not None else systems
    if file is not None and HUMAN_LIKE in systems:
        raise UsageError(f"a system cannot be called {HUMAN_LIKE!r} beside the dialogs of {file}; rename it")
    paths = {name: require(locate(str(path)), "questions or dialogs") for name, path in given.items()}
    kinds = {name: kind_of_file(path) for name, path in paths.items()}
    if list(kinds.items()) == [(HUMAN_LIKE, DIALOGS)]:
        raise UsageError(f"nothing to compare with {file}: name a system with dialogs")
    if set(kinds.values()) == {DIALOGS}:
        return _of_captions(scenes, paths, file is not None, settings, files)
    if list(kinds.values()) == [QUESTIONS]:
        return _of_questions(scenes, paths[HUMAN_LIKE], settings, files)
    listed = ", ".join(f"{given[name]} holds {kind.key}" for name, kind in kinds.items())
    raise UsageError(f"systems are files of dialogs, and so is the file beside them; {listed}")


def _of_captions(
    scenes: PathLike,
    paths: Mapping[str, Location],
    has_reference: bool,
    settings: ItemSettings,
    files: DomainFiles | None,
) -> list[Item]:
    catalogue, _ = load_catalogue(files or find_domain())
    source, listed = find_scenes(str(scenes)), list(paths.values())
    found = texts_of_scenes(listed, DIALOGS, source, catalogue)
    return list(caption_items(found, list(paths), has_reference, catalogue, settings))


def _of_questions(scenes: PathLike, path: Location, settings: ItemSettings, files: DomainFiles | None) -> list[Item]:
    domain, source = load_domain_files(files), find_scenes(str(scenes))
    found = texts_of_scenes([path], QUESTIONS, source, domain.catalogue)
    return list(question_items(found, domain, str(path), settings))


def write_items(items: Sequence[Item], out: PathLike, *, force: bool = False) -> ItemCounts:
    """Write items as JSON Lines, which `make_item_tasks` reads; return how many there are."""
    check_ending(str(out), [".jsonl"], "items")
    check_output(str(out), force)
    with atomic_output(str(out)) as file:
        file.writelines(msgspec.json.encode(item) + b"\n" for item in items)
    checks = sum(item.use == CHECK for item in items)
    return ItemCounts(len(items) - checks, checks)
