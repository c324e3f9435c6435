"""A catalogue file that is edited: saved whole, with a backup, and only if nobody else changed it meanwhile."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, Problem, UsageError, VqagenError
from vqagen.files.locations import open_as_it_is
from vqagen.files.output import atomic_output, check_output, linked
from vqagen.files.packing import packing_of
from vqagen.files.parsing import laid_out, parse_json
from vqagen.files.shipped import require, shipped
from vqagen.tasks.director.catalogue import SHIPPED_CATALOGUE, ItemCatalogue, catalogue_faults, shape_faults
from vqagen.tasks.director.catalogue_words import COMMENT
from vqagen.world.findings import problem_in

BACKUP = ".bak"
"""Suffix of the file as it was before the last save."""


class ChangedMeanwhile(VqagenError):
    """A file is not what was read from it."""


@dataclass(frozen=True)
class CatalogueFile:
    """A catalogue as it stands in its file. `document` may have mistakes, but has the shape of a catalogue."""

    path: Path
    raw: bytes = field(repr=False)
    document: Mapping[str, Any] = field(repr=False)

    @property
    def catalogue(self) -> ItemCatalogue:
        """The items. The document must be without mistakes."""
        return ItemCatalogue(self.document, self.path.parent)

    def faults(self) -> tuple[Problem, ...]:
        """Return every mistake, each with its place in the file."""
        return tuple(self.problem(*fault) for fault in catalogue_faults(self.document, self.path.parent))

    def problem(self, place: str, message: str) -> Problem:
        """Return a problem at a JSON path, with its line."""
        return problem_in(str(self.path), place, message, self.raw.decode("utf-8-sig"))


def read_catalogue(path: Path | str | None = None) -> CatalogueFile:
    """Return the catalogue of a file, by default the shipped one.

    Raise BadInput if the file has not the shape of a catalogue. Other mistakes, such as an unknown word, are left to
    `CatalogueFile.faults`, since a change may correct them.
    """
    place = require(Path(path or shipped(SHIPPED_CATALOGUE)), "catalogue")
    if packing_of(place.name):
        raise UsageError(f"catalogue {place} is packed; unpack it first")
    with open_as_it_is(place) as file:
        raw = file.read()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput([Problem("not UTF-8 text", str(place))]) from None
    document = parse_json(text, str(place))
    wrong = [problem_in(str(place), *fault, text) for fault in shape_faults(document)]
    if wrong:
        raise BadInput(wrong)
    return CatalogueFile(place, raw, document)


# Saving -------------------------------------------------------------------------------------------------------------


def save(document: Mapping[str, Any], before: CatalogueFile) -> Path:
    """Write a document into the file `before`, and return the backup that holds the old content.

    Write nothing, and raise BadInput with the mistakes that the document adds, or ChangedMeanwhile if the file is not
    what `before` says.
    """
    folder = before.path.parent
    known = set(catalogue_faults(before.document, folder))
    added = [fault for fault in catalogue_faults(document, folder) if fault not in known]
    if added:
        raise BadInput(Problem(message, "", place) for place, message in added)
    path = linked(before.path) if before.path.is_symlink() else before.path
    backup = path.with_name(path.name + BACKUP)
    _raise_changed(before)
    mode = path.stat().st_mode
    with atomic_output(str(backup)) as file:
        file.write(before.raw)
    with atomic_output(str(path), lambda: _raise_changed(before)) as file:
        file.write(laid_out(document).encode())
    with suppress(OSError):  # another user's file may be replaced, but not have its mode changed
        os.chmod(path, mode & 0o7777)
    return backup


def _raise_changed(before: CatalogueFile) -> None:
    try:
        now = before.path.read_bytes()
    except OSError as error:
        raise ChangedMeanwhile(f"{before.path} cannot be read any more: {error.strerror}; nothing was saved") from None
    if now != before.raw:
        raise ChangedMeanwhile(
            f"{before.path} was changed by someone else meanwhile; nothing was saved; repeat your change"
        )


# A catalogue of one's own -------------------------------------------------------------------------------------------


def copy_catalogue(target: str, source: Path | str | None = None, force: bool = False) -> Path:
    """Write a copy of a catalogue, by default of the shipped one. Pictures keep their places by the path to them."""
    given = read_catalogue(source)
    check_output(target, force, [given.path])
    path = Path(target)
    with atomic_output(target) as file:
        file.write(laid_out(_moved(given.document, given.path.parent, path.parent)).encode())
    return path


def _moved(document: Mapping[str, Any], old: Path, new: Path) -> dict[str, Any]:
    """Return a document whose pictures are found from another folder, and which names no schema beside it."""
    moved = {key: value for key, value in document.items() if key != "$schema"}
    if moved.get("items"):
        own = moved["items"]
        moved["items"] = {name: own[name] if name == COMMENT else _repointed(own[name], old, new) for name in own}
    return moved


def _repointed(entry: Mapping[str, Any], old: Path, new: Path) -> dict[str, Any]:
    picture = os.path.relpath(linked(old / entry["image_path"]), linked(new))
    return {**entry, "image_path": Path(picture).as_posix()}
