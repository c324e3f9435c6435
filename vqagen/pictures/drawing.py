"""Drawings of items: a list of shapes in the unit square, as a catalogue has it in `art`, read and checked.

    [{"ellipse": [0.5, 0.6, 0.4, 0.3]}, {"line": [[0.5, 0.3], [0.6, 0.1]], "width": 0.05, "fill": "dark"}]

Each shape is an outline of smooth curves, filled or stroked; pictures and SVG are both made of it. To add one: add a
row to SHAPES. Pictures, SVG, the check of catalogues and its messages then know it; tests/pictures/test_art.py fails
until `vqagen/schemas/director.schema.json` lists it for editors.
"""

from __future__ import annotations

from cmath import rect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import ceil, cos, pi, radians, sin, tan
from typing import Any, NamedTuple

from vqagen.errors import BadInput, Fault, Problem, describe, unknown

BASE, DARK, LIGHT, INK, WHITE, GREY, WOOD, METAL = FILLS = (
    *("base", "dark", "light"),
    *("ink", "white", "grey", "wood", "metal"),
)
"""The paints of a shape: the color of the item, two shades of it, and five that are the same for every item."""
COLORED = (BASE, DARK, LIGHT)
FARTHEST = 10.0
"""No number of a shape is larger; what is outside of the unit square has a message of its own."""
TOLERANCE = 1e-6
Point = tuple[float, float]
"""x to the right, y down; (0, 0) is the top left corner of the unit square."""
Curve = tuple[Point, Point, Point]
"""The two control points of a cubic Bézier curve, and its end. It begins where the curve before it ends."""
STEPS = 16
"""Straight pieces that a curve is cut into; for a quarter of a circle the error is 0.1 % of the radius."""
WEIGHTS = tuple(
    ((1 - share) ** 3, 3 * (1 - share) ** 2 * share, 3 * (1 - share) * share**2, share**3)
    for share in (step / STEPS for step in range(1, STEPS + 1))
)
"""The weights of the four points of a curve at the end of each piece."""
ROUND = 4 / 3 * tan(pi / 8)
"""How far control points of a quarter of a circle are from its ends, in radii."""


@dataclass(frozen=True)
class Shape:
    """One shape of a drawing: a closed outline that is filled or, with a `width`, a line stroked with round ends."""

    start: Point
    curves: tuple[Curve, ...]
    is_closed: bool = True
    width: float = 0.0
    fill: str = BASE
    """One of FILLS."""

    @cached_property
    def points(self) -> list[Point]:
        """The outline as the corners of straight pieces."""
        corners = [self.start]
        for first, second, end in self.curves:
            begin = corners[-1]
            if (first, second) == (begin, end):
                corners.append(end)
            else:
                (x1, y1), (x2, y2), (x3, y3), (x4, y4) = begin, first, second, end
                corners += [
                    (a * x1 + b * x2 + c * x3 + d * x4, a * y1 + b * y2 + c * y3 + d * y4) for a, b, c, d in WEIGHTS
                ]
        return corners

    def box(self) -> tuple[float, float, float, float]:
        """Return the left, top, right and bottom of what is painted."""
        columns, rows = zip(*self.points, strict=True)
        half = self.width / 2
        return min(columns) - half, min(rows) - half, max(columns) + half, max(rows) + half

    def turned(self, degrees: float, around: Point) -> Shape:
        """Return the shape turned clockwise around a point."""
        turn, middle = rect(1, radians(degrees)), complex(*around)

        def moved(point: Point) -> Point:
            to = middle + turn * (complex(*point) - middle)
            return to.real, to.imag

        curves = tuple((moved(first), moved(second), moved(end)) for first, second, end in self.curves)
        return replace(self, start=moved(self.start), curves=curves)


Drawing = tuple[Shape, ...]
"""A drawing of an item in the unit square, from the back to the front; the color is given when it is painted."""


# Outlines -----------------------------------------------------------------------------------------------------------


def straight(points: Sequence[Point], is_closed: bool = True, width: float = 0.0) -> Shape:
    """Return the outline with straight pieces from point to point."""
    ends = [*points[1:], points[0]] if is_closed else points[1:]
    begins = points if is_closed else points[:-1]
    return Shape(points[0], tuple((*pair, pair[1]) for pair in zip(begins, ends, strict=True)), is_closed, width)


def smooth(points: Sequence[Point], is_closed: bool = True, width: float = 0.0) -> Shape:
    """Return the smooth outline through points (a Catmull-Rom spline). A point given twice in a row is a corner."""
    around = [points[-1], *points, points[0], points[1]] if is_closed else [points[0], *points, points[-1]]
    curves = tuple(_between(*around[at : at + 4]) for at in range(len(around) - 3) if around[at + 1] != around[at + 2])
    return Shape(points[0], curves, is_closed, width)


def _between(before: Point, begin: Point, end: Point, after: Point) -> Curve:
    """Return the curve from `begin` to `end`, whose directions there are those from and to the points around."""
    first = (begin[0] + (end[0] - before[0]) / 6, begin[1] + (end[1] - before[1]) / 6)
    second = (end[0] - (after[0] - begin[0]) / 6, end[1] - (after[1] - begin[1]) / 6)
    return first, second, end


def elliptic(x: float, y: float, wide: float, high: float, start: float = 0.0, end: float = 360.0) -> Shape:
    """Return the part of an ellipse around (x, y) from one angle to another: degrees, clockwise from the right."""
    pieces = max(1, ceil(abs(end - start) / 90 - 1e-9))
    angles = [radians(start + (end - start) * piece / pieces) for piece in range(pieces + 1)]
    reach = 4 / 3 * tan((angles[1] - angles[0]) / 4)

    def curves() -> Iterator[Curve]:
        for one, two in pairwise(angles):
            yield (
                (x + wide * (cos(one) - reach * sin(one)), y + high * (sin(one) + reach * cos(one))),
                (x + wide * (cos(two) + reach * sin(two)), y + high * (sin(two) - reach * cos(two))),
                (x + wide * cos(two), y + high * sin(two)),
            )

    return Shape((x + wide * cos(angles[0]), y + high * sin(angles[0])), tuple(curves()))


def rounded(x: float, y: float, wide: float, high: float, radius: float) -> Shape:
    """Return the rectangle whose top left corner is (x, y), with quarters of circles as corners."""
    radius = min(radius, wide / 2, high / 2)
    right, bottom, near = x + wide, y + high, radius * (1 - ROUND)
    start = at = (x + radius, y)
    curves: list[Curve] = []
    for begin, first, second, end in (
        ((right - radius, y), (right - near, y), (right, y + near), (right, y + radius)),
        ((right, bottom - radius), (right, bottom - near), (right - near, bottom), (right - radius, bottom)),
        ((x + radius, bottom), (x + near, bottom), (x, bottom - near), (x, bottom - radius)),
        ((x, y + radius), (x, y + near), (x + near, y), (x + radius, y)),
    ):
        curves += [(at, begin, begin), (first, second, end)]
        at = end
    return Shape(start, tuple(curves))


# The shapes ----------------------------------------------------------------------------------------------------------

Expected = tuple[str, Callable[[Any], bool]]
"""A value as a message says it (`a number above 0`), and its check."""


def _is_number(value: Any, least: float = -FARTHEST, most: float = FARTHEST) -> bool:
    """True for a JSON number from `least` to `most`, which are finite."""
    return type(value) in (int, float) and least <= value <= most


def _numbers(names: str, sizes: int) -> Expected:
    """Return the value that is a list of numbers, the last `sizes` of which are above 0."""
    count = names.count(",") + 1

    def is_right(value: Any) -> bool:
        given = isinstance(value, list) and len(value) == count and all(map(_is_number, value))
        return given and all(size > 0 for size in value[count - sizes :])

    return f"[{names}] with numbers above 0 for the last {sizes}" if sizes > 1 else f"[{names}]", is_right


def _points(least: int) -> Expected:
    def is_right(value: Any) -> bool:
        given = isinstance(value, list) and len(value) >= least
        are_points = given and all(isinstance(at, list) and len(at) == 2 and all(map(_is_number, at)) for at in value)
        return are_points and any(point != value[0] for point in value)

    return f"at least {least} points [x, y], not all the same", is_right


_DEGREES = ("degrees from -720 to 720", lambda value: _is_number(value, -720, 720))
OPTIONS: Mapping[str, tuple[Expected, Any]] = {
    "width": (("a number above 0", lambda value: _is_number(value) and value > 0), None),
    "round": (("a number, 0 or more", lambda value: _is_number(value, 0)), 0.0),
    "smooth": (("true or false", lambda value: isinstance(value, bool)), False),
    "start": (_DEGREES, None),
    "end": (_DEGREES, None),
    "points": (("a whole number from 3 to 60", lambda value: type(value) is int and 3 <= value <= 60), 5),
    "inner": (("a number from 0.05 to 1", lambda value: _is_number(value, 0.05, 1)), 0.45),
    "rotate": (_DEGREES, 0),
}
"""Option -> its value, and its default; None where it must be given."""
OF_ALL = ("fill", "rotate", "comment")
"""The keys that every shape may have."""
AROUND = _numbers("center x, center y, radius x, radius y", 2)


def _rect(place: Sequence[float], round: float) -> Shape:
    left, top, wide, high = place
    if round:
        return rounded(left, top, wide, high, round)
    return straight([(left, top), (left + wide, top), (left + wide, top + high), (left, top + high)])


def _line(place: Sequence[Point], width: float, **options: bool) -> Shape:
    make = smooth if options["smooth"] else straight
    return make(place, is_closed=False, width=width)


def _arc(place: Sequence[float], width: float, start: float, end: float) -> Shape:
    x, y, wide, high = place
    return replace(elliptic(x, y, wide, high, start, end), is_closed=False, width=width)


def _star(place: Sequence[float], points: int, inner: float) -> Shape:
    x, y, radius = place
    reaches = [radius * (inner if at % 2 else 1) for at in range(2 * points)]
    angles = [pi * at / points for at in range(2 * points)]
    corners = zip(reaches, angles, strict=True)
    return straight([(x + reach * sin(angle), y - reach * cos(angle)) for reach, angle in corners])


class ShapeKind(NamedTuple):
    """One shape of the language: the function that makes its outline, and how it is written."""

    make: Callable[..., Shape]
    place: Expected
    """Its points or numbers, which are written under the name of the shape."""
    options: tuple[str, ...] = ()
    has_center: bool = True
    """True if its first two numbers are the point that it is turned around; else it is turned around its middle."""


SHAPES: Mapping[str, ShapeKind] = {
    "ellipse": ShapeKind(lambda place: elliptic(*place), AROUND),
    "rect": ShapeKind(_rect, _numbers("left, top, width, height", 2), ("round",), has_center=False),
    "polygon": ShapeKind(straight, _points(3), has_center=False),
    "curve": ShapeKind(smooth, _points(3), has_center=False),
    "line": ShapeKind(_line, _points(2), ("width", "smooth"), has_center=False),
    "arc": ShapeKind(_arc, AROUND, ("width", "start", "end")),
    "ring": ShapeKind(lambda place, width: replace(elliptic(*place), width=width), AROUND, ("width",)),
    "star": ShapeKind(_star, _numbers("center x, center y, radius", 1), ("points", "inner")),
}
"""Name -> shape. A point of a curve or smooth line that is given twice in a row is a corner. An arc goes clockwise from
one angle to another; 0 is right, 90 is down. `inner` is the radius of a star's dents, as a share of its radius."""


# Reading and checking ------------------------------------------------------------------------------------------------


def read_drawing(art: object, source: str = "drawing") -> Drawing:
    """Return the drawing that a kind's `art` describes. Raise BadInput with every fault; `source` names the place."""
    faults = list(drawing_faults(art))
    if faults or not isinstance(art, list):
        raise BadInput([Problem(message, source, path) for path, message in faults])
    return tuple(map(_shape, art))


def _shape(entry: Mapping[str, Any]) -> Shape:
    (name,) = (key for key in entry if key in SHAPES)
    kind = SHAPES[name]
    place: list[Any] = [tuple(part) if isinstance(part, list) else part for part in entry[name]]
    options = {option: entry.get(option, OPTIONS[option][1]) for option in kind.options}
    shape = replace(kind.make(place, **options), fill=entry.get("fill", BASE))
    if not entry.get("rotate"):
        return shape
    left, top, right, bottom = shape.box()
    around = (place[0], place[1]) if kind.has_center else ((left + right) / 2, (top + bottom) / 2)
    return shape.turned(entry["rotate"], around)


def drawing_faults(art: object) -> Iterator[Fault]:
    """Yield (JSON path inside of `art`, message) of each mistake."""
    if not isinstance(art, list) or not art:
        yield "", f"expected a list of shapes, found {describe(art)}"
        return
    for number, entry in enumerate(art):
        yield from ((f"[{number}]{path}", message) for path, message in _shape_faults(entry))
    fills = [entry.get("fill", BASE) for entry in art if isinstance(entry, Mapping)]
    if len(fills) == len(art) and all(fill in FILLS and fill not in COLORED for fill in fills):
        yield "", "no shape shows the item's color; give one the fill 'base'"


def _shape_faults(entry: object) -> Iterator[Fault]:
    if not isinstance(entry, Mapping):
        yield "", f"expected an object with a shape, found {describe(entry)}"
        return
    names = [key for key in entry if key in SHAPES]
    strange = [key for key in entry if key not in SHAPES and key not in OPTIONS and key not in OF_ALL]
    if len(names) == 1:
        faults = list(_value_faults(entry, names[0]))
        yield from faults or _outside(_shape(entry))
    elif names:
        yield "", f"{len(names)} shapes in one object: {', '.join(names)}; write one object for each"
    elif strange:
        yield from ((f".{key}", unknown("shape", key, tuple(SHAPES))) for key in strange)
    else:
        yield "", f"missing shape; known: {', '.join(SHAPES)}"


def _value_faults(entry: Mapping[str, Any], name: str) -> Iterator[Fault]:
    """Yield what is wrong with the keys and values of an object with one shape."""
    kind = SHAPES[name]
    known = (*kind.options, *OF_ALL)
    for key in entry:
        if key != name and key not in known:
            yield f".{key}", unknown(f"option of {name}", key, known)
    for key in kind.options:
        (expected, _), default = OPTIONS[key]
        if default is None and key not in entry:
            yield "", f"missing key {key!r} of {name}: {expected}"
    for key in (name, *kind.options, "rotate"):
        expected, is_right = kind.place if key == name else OPTIONS[key][0]
        if key in entry and not is_right(entry[key]):
            yield f".{key}", f"expected {expected}, found {describe(entry[key])}"
    if entry.get("fill", BASE) not in FILLS:
        yield ".fill", unknown("fill", entry["fill"], FILLS)


def _outside(shape: Shape) -> Iterator[Fault]:
    """Yield the fault of a shape that leaves the unit square."""
    left, top, right, bottom = shape.box()
    over = {"left": -left, "top": -top, "right": right - 1, "bottom": bottom - 1}
    sides = [f"{side} by {much:.3g}" for side, much in over.items() if much > TOLERANCE]
    if sides:
        yield "", f"leaves the unit square at the {', '.join(sides)}; move it or make it smaller"


def box_of(drawing: Drawing) -> tuple[float, float, float, float]:
    """Return the left, top, right and bottom of all shapes of a drawing."""
    lefts, tops, rights, bottoms = zip(*(shape.box() for shape in drawing), strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
