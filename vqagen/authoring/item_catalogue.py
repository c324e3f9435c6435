"""A catalogue of the director task as its author needs it: copied to be changed, and checked.

Errors are mistakes that make other commands fail. Warnings are accepted but probably unintended.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy

from vqagen.authoring.check.check_report import CheckReport
from vqagen.authoring.check.recognition import DIRECTOR
from vqagen.errors import BadInput, Fault
from vqagen.files.output import atomic_output, check_output, linked
from vqagen.files.parsing import laid_out, read_text
from vqagen.files.shipped import shipped
from vqagen.pictures.sprites import picture_sprite
from vqagen.tasks.director.catalogue import SHIPPED_CATALOGUE, ItemCatalogue, load_catalogue_file
from vqagen.tasks.director.catalogue_words import COMMENT
from vqagen.world.findings import problem_in


def copy_catalogue(target: str, source: Path | str | None = None, force: bool = False) -> Path:
    """Write a copy of a catalogue, by default of the shipped one. Pictures keep their places by the path to them."""
    given, path = load_catalogue_file(source), Path(target)
    check_output(target, force, [source] if source else [])
    with atomic_output(target) as file:
        file.write(laid_out(_moved(given.record, given.folder, path.parent)).encode())
    return path


def _moved(document: Mapping[str, Any], old: Path, new: Path) -> dict[str, Any]:
    """Return a document whose pictures are found from another folder, and which names no schema beside it."""
    moved = {key: value for key, value in document.items() if key != "$schema"}
    if own := moved.get("items"):
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


def check_catalogue(path: Path | str | None = None) -> CheckReport:
    """Return a report of every error and warning of a catalogue, by default the shipped one."""
    report = CheckReport()
    add_catalogue_findings(path or shipped(SHIPPED_CATALOGUE), report)
    return report.finished()


def add_catalogue_findings(path: Path | str, report: CheckReport) -> None:
    """Add every error and warning of a catalogue to a report."""
    found = report.of(path)
    found.kind = DIRECTOR
    catalogue = report.read(path, "not-json", lambda: load_catalogue_file(path))
    if catalogue is None:
        found.not_checked.append("doubtful words and pictures, until the mistakes are corrected")
        return
    text = read_text(Path(path))
    for place, message in _picture_faults(catalogue):
        found.error(problem_in(str(path), place, message, text))
    for code, place, message in _doubts(catalogue):
        found.warn(code, problem_in(str(path), place, message, text))


def _picture_faults(catalogue: ItemCatalogue) -> Iterator[Fault]:
    """Yield the (JSON path, message) of each own picture that cannot be read."""
    for item in catalogue.items:
        try:
            if item.picture:
                picture_sprite(catalogue.folder / item.picture, 1)
        except BadInput as error:
            yield f"items.{item.name}.image_path", error.problems[0].message


def _doubts(catalogue: ItemCatalogue) -> Iterator[tuple[str, str, str]]:
    """Yield the code, JSON path and message of what is doubtful in the words of a catalogue without mistakes."""
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
