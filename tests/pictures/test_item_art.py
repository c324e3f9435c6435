"""The shipped drawings and colors: what the words say is what the pictures show, in every color and size."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import numpy
import pytest
from depth import some

from vqagen.pictures.drawing import Drawing, box_of, read_drawing
from vqagen.pictures.sprites import sprite
from vqagen.tasks.director.catalogue import load_catalogue_file

CATALOGUE = load_catalogue_file()
KINDS = CATALOGUE.record["kinds"]
PAINTS = CATALOGUE.paints
TILE = 44
"""The side of a small tile, in pixels."""
BACKGROUNDS = (255, 110)
"""The greys of open and blocked cells."""


@cache
def drawing_of(kind: str) -> Drawing:
    return read_drawing(KINDS[kind]["art"], kind)


def pixels(kind: str, paint: str, side: int) -> Any:
    """Return the red, green, blue and alpha of each pixel of a drawing."""
    return numpy.asarray(sprite(drawing_of(kind), paint, side)).astype(int)


def test_a_drawing_fills_its_square_and_a_larger_size_level_covers_more() -> None:
    """The area grows by a third or more at each level, so that the picture alone decides which is larger (O12).

    Its colored part is not small.
    """
    assert len(KINDS) >= 56
    for kind in some([*KINDS]):
        left, top, right, bottom = box_of(drawing_of(kind))
        assert max(right - left, bottom - top) >= 0.93
        assert ((left + right) / 2, (top + bottom) / 2) == pytest.approx((0.5, 0.5), abs=0.05)
        areas = [pixels(kind, PAINTS["red"], round(TILE * size))[..., 3].sum() for size in CATALOGUE.sizes]
        assert all(larger > smaller * 4 / 3 for smaller, larger in pairwise(areas)), kind
        shown = pixels(kind, PAINTS["blue"], TILE)
        shown = shown[shown[..., 3] > 128]
        assert (shown[:, 2] - shown[:, 0] > 40).mean() > 0.4


HUES: dict[str, tuple[float, float]] = {
    "red": (-10, 10),
    "orange": (22, 42),
    "yellow": (48, 62),
    "green": (90, 165),
    "blue": (200, 230),
    "purple": (260, 290),
    "pink": (310, 345),
    "brown": (15, 42),
}
"""Color -> the hues, in degrees, of which anybody would use the word. Brown is dark orange."""


def color_words(shown: Any) -> Any:
    """Return the word for each of some colors (red, green, blue), "" for a grey or pale one."""
    largest, smallest = shown.max(axis=1), shown.min(axis=1)
    red, green, blue = shown.T
    spread = numpy.maximum(largest - smallest, 1)
    hue = numpy.select([largest == red, largest == green], [(green - blue) / spread, (blue - red) / spread + 2])
    hue = numpy.where((largest == blue) & (largest > red) & (largest > green), (red - green) / spread + 4, hue) * 60
    hue = numpy.where(hue > 345, hue - 360, hue) % 360
    words = numpy.full(len(shown), "", dtype="<U8")
    for color, (least, most) in HUES.items():
        fits = (((hue - least) % 360) <= most - least) & (largest - smallest > 60)
        if color in ("orange", "brown"):
            fits &= (largest < 140) == (color == "brown")
        words[fits] = color
    return words


@pytest.mark.slow
@pytest.mark.parametrize("color", PAINTS)
def test_the_color_of_an_item_is_what_most_of_its_colored_pixels_show(color: str) -> None:
    """At the smallest and the largest size; what is grey, white or pale is not colored."""

    def most_frequent(kind: str, side: int) -> str:
        shown = pixels(kind, PAINTS[color], side)
        words = color_words(shown[shown[..., 3] > 200][:, :3])
        return Counter(words[words != ""].tolist()).most_common(1)[0][0]

    found = {(kind, side): most_frequent(kind, side) for kind in KINDS for side in (round(TILE * 0.42), TILE)}
    assert {at: other for at, other in found.items() if other != color} == {}


@pytest.mark.quick(1)
@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize("color", PAINTS)
def test_an_item_differs_from_both_backgrounds(color: str, background: int) -> None:
    """Half of an item's pixels, or more, differ clearly from the cell behind them (O17)."""

    def share(kind: str) -> float:
        shown = pixels(kind, PAINTS[color], TILE)
        differ = numpy.abs(shown[..., :3] - background).max(axis=2) > 50
        return float(differ[shown[..., 3] > 128].mean())

    assert {kind: found for kind in KINDS if (found := share(kind)) < 0.5} == {}


def test_no_two_kinds_look_alike() -> None:
    """Even in one color and on 24 by 24 pixels."""
    images = {kind: pixels(kind, PAINTS["orange"], 24) for kind in KINDS}
    shown = {kind: each[..., :3] * each[..., 3:] // 255 for kind, each in images.items()}

    alike = [pair for pair in combinations(KINDS, 2) if numpy.abs(shown[pair[0]] - shown[pair[1]]).mean() < 10]
    assert alike == []


VISION = {
    "usual": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
"""Vision -> what it makes of linear red, green and blue (Machado, Oliveira and Fernandes 2009, severity 1)."""
TO_XYZ = [[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0178, 0.1095, 0.8727]]
"""From linear red, green and blue to X, Y and Z, each as a share of that of white."""


def lab(paint: str, vision: str) -> Any:
    """Return a paint in the color space CIE L*a*b*, in which distances are about as they are seen."""
    parts = numpy.frombuffer(bytes.fromhex(paint[1:]), numpy.uint8) / 255
    linear = numpy.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    x, y, z = numpy.cbrt(numpy.array(TO_XYZ) @ numpy.clip(numpy.array(VISION[vision]) @ linear, 0.001, 1))
    return numpy.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize(("vision", "least"), [("usual", 40), ("protan", 13), ("deutan", 18), ("tritan", 20)])
def test_no_two_colors_are_confused(vision: str, least: int) -> None:
    """Color-blind readers keep them apart too, mostly by how light they are."""
    places = {color: lab(paint, vision) for color, paint in PAINTS.items()}
    distances = {pair: numpy.linalg.norm(places[pair[0]] - places[pair[1]]) for pair in combinations(PAINTS, 2)}

    assert {pair: float(found) for pair, found in distances.items() if found < least} == {}
