"""Checks a catalogue of items: mistakes that every command refuses, and what is accepted but probably unintended."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import numpy

from vqagen.authoring.check.check_report import CheckReport
from vqagen.authoring.check.recognition import DIRECTOR
from vqagen.authoring.items.catalogue_file import read_catalogue
from vqagen.errors import BadInput, Fault
from vqagen.files.locations import Stamp, stamp_of
from vqagen.files.shipped import shipped
from vqagen.pictures.sprites import picture_sprite
from vqagen.tasks.director.catalogue import SHIPPED_CATALOGUE, ItemCatalogue

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
