"""The shapes of the drawing language.

To add one: write a function here under `@shape`, with the values that it takes. Pictures, SVG, the check of catalogues
and its messages then know it; tests/test_art.py fails until `vqagen/schemas/director.schema.json` lists it for editors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import cos, pi, sin
from typing import Any

from vqagen.pictures.outline import Outline, Point, elliptic, rounded, smooth, straight

FARTHEST = 10.0
"""No number of a shape is larger; what is outside of the unit square has a message of its own."""


@dataclass(frozen=True)
class Value:
    """A value that a shape takes."""

    expected: str
    """As a message says it: `a number above 0`."""
    is_right: Callable[[Any], bool]
    default: Any = None
    """None where the value must be given."""


@dataclass(frozen=True)
class ShapeKind:
    """One shape of the language: how it is written, and the function that makes its outline."""

    name: str
    place: Value
    """Its points or numbers, which are written under the name of the shape."""
    options: Mapping[str, Value]
    make: Callable[..., Outline]
    has_center: bool
    """True if its first two numbers are the point that it is turned around; else it is turned around its middle."""


SHAPES: dict[str, ShapeKind] = {}
"""Name -> shape, in the order of this file."""


def shape(place: Value, *, has_center: bool = False, **options: Value) -> Callable[[Make], Make]:
    """Register a function as the shape of its name."""

    def register(make: Make) -> Make:
        SHAPES[make.__name__] = ShapeKind(make.__name__, place, options, make, has_center)
        return make

    return register


Make = Callable[..., Outline]


def is_number(value: Any, least: float = -FARTHEST, most: float = FARTHEST) -> bool:
    """Return True for a JSON number from `least` to `most`, which are finite."""
    return type(value) in (int, float) and least <= value <= most


def _above_zero(value: Any) -> bool:
    return is_number(value) and value > 0


def _numbers(names: str, sizes: int) -> Value:
    """Return the value that is a list of numbers, the last `sizes` of which are above 0."""
    count = names.count(",") + 1

    def is_right(value: Any) -> bool:
        given = isinstance(value, list) and len(value) == count and all(map(is_number, value))
        return given and all(map(_above_zero, value[count - sizes :]))

    return Value(f"[{names}] with numbers above 0 for the last {sizes}" if sizes > 1 else f"[{names}]", is_right)


def _points(least: int) -> Value:
    def is_right(value: Any) -> bool:
        given = isinstance(value, list) and len(value) >= least and all(map(_is_point, value))
        return given and any(point != value[0] for point in value)

    return Value(f"at least {least} points [x, y], not all the same", is_right)


def _is_point(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(is_number, value))


def _angle() -> Value:
    return Value("degrees from -720 to 720", lambda value: is_number(value, -720, 720))


WIDTH = Value("a number above 0", _above_zero)
AROUND = _numbers("center x, center y, radius x, radius y", 2)
YES_OR_NO = Value("true or false", lambda value: isinstance(value, bool), False)


@shape(AROUND, has_center=True)
def ellipse(place: Sequence[float]) -> Outline:
    """A filled ellipse."""
    return elliptic(*place)


@shape(
    _numbers("left, top, width, height", 2),
    round=Value("a number, 0 or more", lambda value: is_number(value, 0), 0.0),
)
def rect(place: Sequence[float], round: float) -> Outline:
    """A filled rectangle; `round` is the radius of its corners."""
    left, top, wide, high = place
    if round:
        return rounded(left, top, wide, high, round)
    return straight([(left, top), (left + wide, top), (left + wide, top + high), (left, top + high)])


@shape(_points(3))
def polygon(place: Sequence[Point]) -> Outline:
    """A filled polygon."""
    return straight([(x, y) for x, y in place])


@shape(_points(3))
def curve(place: Sequence[Point]) -> Outline:
    """A filled smooth outline through points; a point given twice in a row is a corner."""
    return smooth([(x, y) for x, y in place])


@shape(_points(2), width=WIDTH, smooth=YES_OR_NO)
def line(place: Sequence[Point], width: float, **options: bool) -> Outline:
    """A line with round ends; with `smooth` a smooth one, in which a point given twice in a row is a corner."""
    make = smooth if options["smooth"] else straight
    return make([(x, y) for x, y in place], is_closed=False, width=width)


@shape(AROUND, has_center=True, width=WIDTH, start=_angle(), end=_angle())
def arc(place: Sequence[float], width: float, start: float, end: float) -> Outline:
    """A line along an ellipse, clockwise from one angle to another; 0 is right, 90 is down."""
    x, y, wide, high = place
    return replace(elliptic(x, y, wide, high, start, end), is_closed=False, width=width)


@shape(AROUND, has_center=True, width=WIDTH)
def ring(place: Sequence[float], width: float) -> Outline:
    """A closed line along an ellipse."""
    return replace(elliptic(*place), width=width)


@shape(
    _numbers("center x, center y, radius", 1),
    has_center=True,
    points=Value("a whole number from 3 to 60", lambda value: type(value) is int and 3 <= value <= 60, 5),
    inner=Value("a number from 0.05 to 1", lambda value: is_number(value, 0.05, 1), 0.45),
)
def star(place: Sequence[float], points: int, inner: float) -> Outline:
    """A star; `inner` is the radius of its dents, as a share of its radius."""
    x, y, radius = place
    corners = [
        (x + reach * sin(pi * at / points), y - reach * cos(pi * at / points))
        for at in range(2 * points)
        for reach in [radius * (inner if at % 2 else 1)]
    ]
    return straight(corners)
