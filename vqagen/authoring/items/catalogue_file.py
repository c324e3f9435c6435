"""A catalogue file that is edited: saved whole, with a backup, and only if nobody else changed it meanwhile.

Checks find mistakes that every command refuses, and what is accepted but probably unintended.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy

from vqagen.authoring.check.check_report import CheckReport
from vqagen.authoring.check.recognition import DIRECTOR
from vqagen.errors import BadInput, Fault, Problem, UsageError, VqagenError
from vqagen.files.locations import Stamp, open_as_it_is, stamp_of
from vqagen.files.output import atomic_output, check_output, linked
from vqagen.files.packing import packing_of
from vqagen.files.parsing import laid_out, parse_json
from vqagen.files.shipped import require, shipped
from vqagen.pictures.sprites import picture_sprite
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


# Checks ------------------------------------------------------------------------------------------------------------

_WHITE = (0.95047, 1.0, 1.08883)
"""The white of sRGB in CIE XYZ (D65)."""
_NEAR_PAINTS = 18.0
"""The distance in CIE Lab below which two paints are easily taken for each other; 2 can just be seen."""


Doubt = tuple[str, str, str]
"""The code, JSON path and message of something that is accepted but probably unintended."""


def check_catalogue(path: Path | str | None = None) -> CheckReport:
    """Return a report of every error and warning of a catalogue, by default the shipped one."""
    report = CheckReport()
    add_catalogue_findings(path or shipped(SHIPPED_CATALOGUE), report)
    return report.finished()


def add_catalogue_findings(path: Path | str, report: CheckReport) -> None:
    """Add every error and warning of a catalogue to a report."""
    found = report.of(path)
    found.kind = DIRECTOR
    file = report.read(path, "not-json", lambda: read_catalogue(path))
    if file is None:
        return
    faults = file.faults()
    for problem in faults or [file.problem(*fault) for fault in picture_faults(file.catalogue)]:
        found.error(problem)
    if faults:
        found.not_checked.append("doubtful words and pictures, until the mistakes are corrected")
        return
    for code, place, message in doubts(file.catalogue):
        found.warn(code, file.problem(place, message))


def picture_faults(catalogue: ItemCatalogue) -> list[Fault]:
    """Return the (JSON path, message) of each own picture that cannot be read."""
    own = [(item.name, catalogue.folder / item.picture) for item in catalogue.items if item.picture]
    found = [(f"items.{name}.image_path", _unreadable(path, stamp_of(path))) for name, path in own]
    return [(place, message) for place, message in found if message]


@lru_cache(maxsize=4096)  # the editor checks after every edit
def _unreadable(path: Path, stamp: Stamp) -> str:
    """Return why a picture cannot be read, again only if its file has changed; "" if it can."""
    try:
        picture_sprite(path, 1)
    except BadInput as error:
        return error.problems[0].message
    return ""


def doubts(catalogue: ItemCatalogue) -> Iterator[Doubt]:
    """Yield what is doubtful in the words of a catalogue without mistakes."""
    values = enumerate(catalogue.record["adjectives"])
    place_of = {name: f"adjectives[{number}].values.{name}" for number, each in values for name in each["values"]}
    for name in catalogue.classes:
        if not any(name in item.properties for item in catalogue.items):
            yield "unused-adjective", place_of[name], f"no item is {name!r}; no question can use it"
        elif all(name in item.properties or name in item.unclear for item in catalogue.items):
            yield "idle-adjective", place_of[name], f"no item is clearly not {name!r}; no question can use it"
    for (first, one), (second, other) in combinations(catalogue.paints.items(), 2):
        if _paint_distance(one, other) < _NEAR_PAINTS:
            message = f"{second!r} and {first!r} look alike; choose paints that differ more"
            yield "near-paints", f"{place_of[second]}.paint", message


def _paint_distance(first: str, second: str) -> float:
    """Return how different two paints look: their distance in CIE Lab.

    >>> round(_paint_distance("#d62f2f", "#d62f2f")), _paint_distance("#d62f2f", "#2b62d9") > 100
    (0, True)
    """
    share = numpy.array([list(bytes.fromhex(paint[1:])) for paint in (first, second)]) / 255
    linear = numpy.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    matrix = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    white = linear @ numpy.array(matrix).T / numpy.array(_WHITE)
    x, y, z = numpy.where(white > 216 / 24389, numpy.cbrt(white), (24389 / 27 * white + 16) / 116).T
    lab = numpy.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)
    return float(numpy.linalg.norm(lab[0] - lab[1]))
