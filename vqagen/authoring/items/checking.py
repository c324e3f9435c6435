"""Checks a catalogue of items: mistakes that every command refuses, and what is accepted but probably unintended.

Pictures are measured: how much of each is visible, and the color that most of it has.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy
from numpy.typing import NDArray

from vqagen.authoring.check.check_report import CheckReport, FileReport
from vqagen.authoring.check.recognition import DIRECTOR
from vqagen.authoring.items.catalogue_file import CatalogueFile, read_catalogue
from vqagen.authoring.items.edits import adjectives
from vqagen.errors import BadInput, Fault
from vqagen.files.locations import Stamp, stamp_of
from vqagen.files.shipped import shipped
from vqagen.pictures.looks import Look
from vqagen.pictures.sprites import picture_sprite
from vqagen.tasks.director.catalogue import SHIPPED_CATALOGUE, GridItem, ItemCatalogue
from vqagen.tasks.director.pictures import looks_of

if TYPE_CHECKING:
    from PIL.Image import Image


_SIDE = 96
"""Pixels of the square that a picture is measured in."""
_VISIBLE = 128
"""The alpha from which a pixel counts as visible."""
_COLORFUL = 12.0
"""The chroma (CIE Lab) below which a pixel has no color: white, grey, black."""
_WHITE = (0.95047, 1.0, 1.08883)
"""The white of sRGB in CIE XYZ (D65)."""


@dataclass(frozen=True)
class PictureFacts:
    """Measures of one picture."""

    area: float
    """The share of the square around the picture that is visible."""
    colors: Mapping[str, float]
    """Color -> the share of the visible pixels that are nearest to its paint, from the largest."""


def measure_picture(path: Path, paints: Mapping[str, str]) -> PictureFacts:
    """Return the measures of a picture file, with `paints` as the colors. Raise BadInput if it is unreadable."""
    return measure_image(picture_sprite(path, _SIDE), paints)


def measure_image(square: Image, paints: Mapping[str, str]) -> PictureFacts:
    """Return the measures of an RGBA square."""
    pixels = numpy.asarray(square)
    visible = pixels[pixels[..., 3] >= _VISIBLE][:, :3]
    area = len(visible) / (pixels.shape[0] * pixels.shape[1])
    lab = _lab(visible)
    colorful = lab[numpy.hypot(lab[:, 1], lab[:, 2]) >= _COLORFUL]
    return PictureFacts(area, _nearest_shares(colorful, paints, max(len(visible), 1)))


def paint_distance(first: str, second: str) -> float:
    """Return how different two paints look: the distance in CIE Lab, of which 2 can just be seen.

    >>> round(paint_distance("#d62f2f", "#d62f2f")), paint_distance("#d62f2f", "#2b62d9") > 100
    (0, True)
    """
    one, other = _lab(numpy.array([_rgb(first), _rgb(second)]))
    return float(numpy.linalg.norm(one - other))


def _nearest_shares(lab: NDArray[numpy.float64], paints: Mapping[str, str], whole: int) -> dict[str, float]:
    """Return for each color how many of the pixels are nearest to its paint, as a share of `whole`."""
    if not paints:
        return {}
    known = _lab(numpy.array([_rgb(paint) for paint in paints.values()]))
    nearest = numpy.linalg.norm(lab[:, None, :] - known[None, :, :], axis=2).argmin(axis=1)
    counts = numpy.bincount(nearest, minlength=len(paints)) / whole
    return dict(sorted(zip(paints, counts.tolist(), strict=True), key=lambda pair: -pair[1]))


def _rgb(paint: str) -> tuple[int, int, int]:
    return int(paint[1:3], 16), int(paint[3:5], 16), int(paint[5:7], 16)


def _lab(rgb: Any) -> NDArray[numpy.float64]:
    """Return colors of sRGB (rows of three numbers from 0 to 255) in CIE Lab, where distance is what eyes see."""
    share = numpy.asarray(rgb, dtype=numpy.float64).reshape(-1, 3) / 255
    linear = numpy.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    matrix = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    x, y, z = (linear @ numpy.array(matrix).T / numpy.array(_WHITE)).T
    bent = [numpy.where(each > 216 / 24389, numpy.cbrt(each), (24389 / 27 * each + 16) / 116) for each in (x, y, z)]
    return numpy.stack([116 * bent[1] - 16, 500 * (bent[0] - bent[1]), 200 * (bent[1] - bent[2])], axis=1)


# Checks --------------------------------------------------------------------------------------------------------------

_NEAR_PAINTS = 18.0
"""The distance in CIE Lab below which two paints are easily taken for each other."""
_LEAST_OF_COLOR, _MOST_OF_COLOR = 0.15, 0.5
"""The share of a picture that a color has at least if an item is called so, and at most if it is not."""


class Doubt(NamedTuple):
    """Something that is accepted but probably unintended."""

    code: str
    path: str
    message: str


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
    for problem in file.faults():
        found.error(problem)
    if found.errors:
        found.not_checked.append("doubtful words and pictures, until the mistakes are corrected")
    else:
        _add_doubts(file, found)


def _add_doubts(file: CatalogueFile, report: FileReport) -> None:
    examined = examine(file.catalogue)
    for path, message in examined.unreadable:
        report.error(file.problem(path, message))
    for code, path, message in examined.doubts:
        report.warn(code, file.problem(path, message))


class Examined(NamedTuple):
    """What is doubtful in a catalogue without mistakes, and the pictures in it that are unreadable."""

    doubts: tuple[Doubt, ...]
    unreadable: tuple[Fault, ...]


def examine(catalogue: ItemCatalogue) -> Examined:
    """Return what is doubtful in a catalogue without mistakes. Pictures are measured, each once."""
    checked = _Checked(catalogue)
    doubts = tuple(doubt for rule in RULES for doubt in rule(checked))
    return Examined(doubts, tuple(checked.unreadable))


@dataclass(frozen=True)
class _Checked:
    """A catalogue without mistakes, with the measures of its pictures."""

    catalogue: ItemCatalogue

    @property
    def items(self) -> tuple[GridItem, ...]:
        return self.catalogue.items

    @property
    def document(self) -> Mapping[str, Any]:
        return self.catalogue.record

    @cached_property
    def own(self) -> dict[str, GridItem]:
        """The items with pictures of their own."""
        return {item.name: item for item in self.items if item.picture}

    @cached_property
    def looks(self) -> Mapping[str, Look]:
        return looks_of(self.catalogue)

    def area(self, name: str) -> float:
        """Return the share of a cell that the picture of an item fills where it is drawn."""
        return self.facts[name].area * self.looks[name].scale ** 2

    @cached_property
    def _measured(self) -> tuple[dict[str, PictureFacts], list[Fault]]:
        facts, unreadable = {}, []
        for name, item in self.own.items():
            path = self.catalogue.folder / item.picture
            try:
                facts[name] = _measured(path, stamp_of(path), tuple(self.catalogue.paints.items()))
            except BadInput as error:
                unreadable += [(f"items.{name}.image_path", each.message) for each in error.problems]
        return facts, unreadable

    @property
    def facts(self) -> dict[str, PictureFacts]:
        """The measures of the own pictures that are readable, by item."""
        return self._measured[0]

    @property
    def unreadable(self) -> list[Fault]:
        """The JSON path and message of each picture that is unreadable."""
        return self._measured[1]

    def place_of(self, adjective: str) -> str:
        """Return the JSON path of an adjective."""
        for number, each in enumerate(self.document["adjectives"]):
            if adjective in each["values"]:
                return f"adjectives[{number}].values.{adjective}"
        raise AssertionError(adjective)


@lru_cache(maxsize=4096)  # the editor checks after every edit
def _measured(path: Path, stamp: Stamp, paints: tuple[tuple[str, str], ...]) -> PictureFacts:
    """Return the measures of a picture, again only if its file has changed."""
    return measure_picture(path, dict(paints))


# Words --------------------------------------------------------------------------------------------------------------


def _useless_adjectives(checked: _Checked) -> Iterator[Doubt]:
    for name in adjectives(checked.document):
        place = checked.place_of(name)
        if not any(name in item.properties for item in checked.items):
            yield Doubt("unused-adjective", place, f"no item is {name!r}; no question can use it")
        elif all(name in item.properties or name in item.unclear for item in checked.items):
            yield Doubt("idle-adjective", place, f"no item is clearly not {name!r}; no question can use it")


def _near_paints(checked: _Checked) -> Iterator[Doubt]:
    for (first, one), (second, other) in combinations(checked.catalogue.paints.items(), 2):
        if paint_distance(one, other) < _NEAR_PAINTS:
            place = f"{checked.place_of(second)}.paint"
            yield Doubt("near-paints", place, f"{second!r} and {first!r} look alike; choose paints that differ more")


# Pictures -----------------------------------------------------------------------------------------------------------


def _wrong_colors(checked: _Checked) -> Iterator[Doubt]:
    """Yield items whose color words differ from the colors of their pictures."""
    for name, facts in checked.facts.items():
        item = checked.own[name]
        message = color_doubt(facts, [each for each in item.properties if each in facts.colors], item.unclear)
        if message:
            yield Doubt("wrong-color", f"items.{name}", f"{name!r} {message}")


def color_doubt(facts: PictureFacts, said: Sequence[str], unclear: Container[str]) -> str:
    """Return why an item is probably not of the colors that are `said`; "" if it may be."""
    shown = next(iter(facts.colors), "")
    has_color = bool(shown) and facts.colors[shown] >= _LEAST_OF_COLOR
    most = f"{facts.colors[shown]:.0%} of its picture is {shown}" if has_color else "its picture has hardly a color"
    for color in said:
        if facts.colors[color] < _LEAST_OF_COLOR and color not in unclear:
            return f"is called {color}, and {most}"
    if not said and shown and facts.colors[shown] >= _MOST_OF_COLOR and shown not in unclear:
        return f"has no color word, and {most}"
    return ""


def _wrong_sizes(checked: _Checked) -> Iterator[Doubt]:
    """Yield items whose picture is not larger than that of a smaller size level of their kind."""
    for first, second in combinations(checked.facts, 2):
        items = (checked.own[first], checked.own[second])
        if items[0].kind == items[1].kind and items[0].size != items[1].size:
            small, large = sorted(items, key=lambda item: item.size)
            if checked.area(large.name) <= checked.area(small.name):
                message = (
                    f"{large.name!r} has size {large.size} and {small.name!r} has size {small.size}, but its picture"
                    f" fills {checked.area(large.name):.0%} of a cell, and not more than {checked.area(small.name):.0%}"
                )
                yield Doubt("wrong-size", f"items.{large.name}", message)


RULES = (_useless_adjectives, _near_paints, _wrong_colors, _wrong_sizes)
