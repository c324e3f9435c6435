"""Drawings of items: the language, its faults, and the pictures and SVG that are made of it."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from vqagen.errors import BadInput
from vqagen.files.schema import schema_text
from vqagen.pictures.drawing import FILLS, OF_ALL, OPTIONS, SHAPES, drawing_faults, read_drawing
from vqagen.pictures.sprites import picture_sprite, sprite, svg_of
from vqagen.tasks.director.catalogue import catalogue_faults

RED = "#d62f2f"
SCHEMA = json.loads(schema_text("director"))["$defs"]["shape"]["properties"]

EXAMPLES: dict[str, dict[str, Any]] = {
    "ellipse": {"ellipse": [0.5, 0.4, 0.4, 0.3], "rotate": 30},
    "rect": {"rect": [0.1, 0.2, 0.8, 0.5], "round": 0.1},
    "polygon": {"polygon": [[0.1, 0.1], [0.9, 0.3], [0.3, 0.9]]},
    "curve": {"curve": [[0.1, 0.1], [0.1, 0.1], [0.8, 0.3], [0.4, 0.8]]},
    "line": {"line": [[0.1, 0.2], [0.5, 0.8], [0.9, 0.2]], "width": 0.15, "smooth": True},
    "arc": {"arc": [0.5, 0.5, 0.4, 0.3], "width": 0.15, "start": 150, "end": 400},
    "ring": {"ring": [0.5, 0.5, 0.4, 0.3], "width": 0.15},
    "star": {"star": [0.5, 0.5, 0.45], "points": 6},
}
"""A shape of each name, in the color of the item."""


# The language -------------------------------------------------------------------------------------------------------


def test_the_schema_lists_the_shapes_their_options_and_fills() -> None:
    """So that an editor completes what the language has."""
    assert set(SCHEMA) == {*SHAPES, *OPTIONS, *OF_ALL}
    assert tuple(SCHEMA["fill"]["enum"]) == FILLS


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", SHAPES)
def test_the_svg_of_a_shape_shows_the_pixels_of_its_picture(name: str) -> None:
    """Two renderers of one description: the paths of the SVG are rastered here in the plainest way."""
    drawing = read_drawing([EXAMPLES[name]])
    picture = sprite(drawing, RED, 20)
    plain = rastered(svg_of(drawing, RED, 0, 0, 20), 20)

    differ = [at for at, color in plain.items() if not alike(picture.getpixel(at), color)]
    assert len(plain) > 150, "most pixels are inside of one color, or outside of all"
    assert differ == []


def alike(pixel: Any, color: tuple[int, ...] | None) -> bool:
    return pixel[3] == 0 if color is None else (pixel[3], *pixel[:3]) == (255, *color)


def rastered(svg: str, side: int) -> dict[tuple[int, int], tuple[int, ...] | None]:
    """Return the colors of the pixels of an SVG group that are not near a border between two colors."""
    move = re.search(r'translate\((\S+) (\S+)\) scale\((\S+)\)"', svg)
    assert move
    left, top, scale = map(float, move.groups())
    layers: list[tuple[list[complex], float, Any]] = []
    for place, attributes in re.findall(r'<path d="([^"]*)"([^>]*)/>', svg):
        points = [complex(left, top) + point * scale for point in flattened(place)]
        given = dict(re.findall(r'([a-z-]+)="([^"]*)"', attributes))
        if given["fill"] != "none":
            layers.append((points, 0, rgb(given["fill"])))
        if "stroke" in given:
            layers.append((points, float(given["stroke-width"]) * scale / 2, rgb(given["stroke"])))
    found: dict[tuple[int, int], tuple[int, ...] | None] = {}
    for x in range(side):
        for y in range(side):
            corners = {colored(layers, complex(x + dx, y + dy)) for dx in (-0.1, 0.5, 1.1) for dy in (-0.1, 0.5, 1.1)}
            if len(corners) == 1:
                found[x, y] = corners.pop()
    return found


def colored(layers: list[tuple[list[complex], float, Any]], at: complex) -> Any:
    """Return the color of the topmost layer that covers a point, or None."""
    covering = (color for points, half, color in reversed(layers) if covers(points, half, at))
    return next(covering, None)


def covers(points: list[complex], half: float, at: complex) -> bool:
    pairs = list(pairwise(points))
    if half:
        return any(distance(at, begin, end) <= half for begin, end in pairs)
    crossed = (
        (begin.imag > at.imag) != (end.imag > at.imag)
        and at.real < begin.real + (at.imag - begin.imag) / (end.imag - begin.imag) * (end.real - begin.real)
        for begin, end in [*pairs, (points[-1], points[0])]
    )
    return sum(crossed) % 2 == 1


def distance(at: complex, begin: complex, end: complex) -> float:
    along = end - begin
    share = ((at - begin) * along.conjugate()).real / abs(along) ** 2 if along else 0
    return abs(at - begin - min(1, max(0, share)) * along)


def flattened(place: str) -> list[complex]:
    """Return the points of the path of an SVG with absolute M, L, C and Z."""
    points: list[complex] = []
    for step, numbers in re.findall(r"([MLCZ])([^MLCZ]*)", place):
        values = [float(number) for number in numbers.split()]
        ends = [complex(*values[at : at + 2]) for at in range(0, len(values), 2)]
        if step == "C":
            a, b, c, d = points[-1], *ends
            shares = [at / 8 for at in range(1, 9)]
            points += [(1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d for t in shares]
        else:
            points += ends or points[:1]
    return points


def rgb(color: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(color[1:]))


FAULTS: list[tuple[object, list[str]]] = [
    ({}, [": expected a list of shapes, found an object"]),
    ([], [": expected a list of shapes, found a list of 0"]),
    ([3], ["[0]: expected an object with a shape, found 3"]),
    ([{"elipse": [0, 0, 1, 1]}], ["[0].elipse: unknown shape 'elipse'; did you mean 'ellipse'?"]),
    ([{"fill": "base"}], ["[0]: missing shape; known: ellipse, rect, polygon, curve, line, arc, ring, star"]),
    (
        [{"star": [0.5, 0.5, 0.5], "rect": [0, 0, 1, 1]}],
        ["[0]: 2 shapes in one object: star, rect; write one object for each"],
    ),
    (
        [{"rect": [0, 0, 1], "fil": "base"}, {"ring": [0.5, 0.5, 0.2, 0.2], "rotate": "a"}],
        [
            "[0].fil: unknown option of rect 'fil'; did you mean 'fill'?",
            "[0].rect: expected [left, top, width, height] with numbers above 0 for the last 2, found a list of 3",
            "[1]: missing key 'width' of ring: a number above 0",
            "[1].rotate: expected degrees from -720 to 720, found 'a'",
        ],
    ),
    ([{"ellipse": [0.5, 0.5, 0.1, -0.1]}], ["[0].ellipse: expected [center x, center y, radius x, radius y] with "
     "numbers above 0 for the last 2, found a list of 4"]),
    ([{"ellipse": [0.5, 0.5, 0.1, 0]}], ["[0].ellipse: expected [center x, center y, radius x, radius y] with "
     "numbers above 0 for the last 2, found a list of 4"]),
    ([{"polygon": [[0, 0], [1, 1]]}], ["[0].polygon: expected at least 3 points [x, y], not all the same, "
     "found a list of 2"]),
    ([{"curve": [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]}], ["[0].curve: expected at least 3 points [x, y], not all the "
     "same, found a list of 3"]),
    ([{"star": [0.5, 0.5, 0.4], "points": 2.0}], ["[0].points: expected a whole number from 3 to 60, found 2.0"]),
    ([{"line": [[0, 0], [1, 1]], "width": True}], ["[0].width: expected a number above 0, found true"]),
    ([{"star": [0.5, 0.5, 0.4], "fill": "gray"}], ["[0].fill: unknown fill 'gray'; did you mean 'grey'?"]),
    ([{"star": [0.5, 0.5, 0.4], "fill": []}], ["[0].fill: unknown fill []; known: base, dark, light, ink, white, grey, "
     "wood, metal"]),
    (
        [{"ellipse": [0.9, 0.5, 0.2, 0.1]}, {"line": [[0, 0], [1, 0.5]], "width": 0.2}],
        [
            "[0]: leaves the unit square at the right by 0.1; move it or make it smaller",
            "[1]: leaves the unit square at the left by 0.1, top by 0.1, right by 0.1; move it or make it smaller",
        ],
    ),
    ([{"star": [0.5, 0.5, 0.4], "fill": "ink"}], [": no shape shows the item's color; give one the fill 'base'"]),
    ([{"star": [float("nan"), 0.5, 1e400]}], ["[0].star: expected [center x, center y, radius], found a list of 3"]),
]  # fmt: skip


def test_each_fault_of_a_drawing_is_named_with_its_place() -> None:
    for art, messages in FAULTS:
        assert [f"{path}: {message}" for path, message in drawing_faults(art)] == messages
    with pytest.raises(BadInput, match=r"^mine.json: \[0\].stair: unknown shape 'stair'; did you mean 'star'\?"):
        read_drawing([{"stair": [0.5, 0.5, 0.5]}], "mine.json")


def test_a_catalogue_names_each_fault_of_its_drawings_once() -> None:
    art = [{"ellipse": [0.5, 0.5, 0.4], "fill": "gray"}]
    catalogue = {"adjectives": [{"class": "color", "values": {}}], "sizes": [1], "kinds": {"a": {"art": art}}}

    assert [path for path, _ in catalogue_faults(catalogue, Path()) if path.startswith("kinds.a.")] == [
        "kinds.a.art[0].ellipse",
        "kinds.a.art[0].fill",
    ]


# Pictures of users --------------------------------------------------------------------------------------------------


def test_a_picture_of_any_mode_keeps_its_aspect_and_its_greys(tmp_path: Path) -> None:
    """In the middle, however long it is. Pillow's own conversion made nearly all greys of 16 bits white."""
    path = tmp_path / "mine.png"
    for mode in ("RGB", "RGBA", "P", "L", "1"):
        Image.new("RGB", (200, 100), (255, 255, 255)).convert(mode).save(path)
        picture = picture_sprite(path, 40)
        assert (picture.mode, picture.size, picture.getbbox()) == ("RGBA", (40, 40), (0, 10, 40, 30))
    Image.new("RGB", (4000, 2)).save(path)
    assert picture_sprite(path, 40).getbbox() == (0, 19, 40, 20)
    Image.new("I;16", (8, 8), 100 * 256).save(path)
    assert picture_sprite(path, 4).getpixel((1, 1)) == (100, 100, 100, 255)
    path.write_bytes(b"not a picture")
    with pytest.raises(BadInput, match=r"mine\.png: not a readable picture"):
        picture_sprite(path, 40)
    with pytest.raises(BadInput, match=r"other\.png: no such file"):
        picture_sprite(tmp_path / "other.png", 40)
