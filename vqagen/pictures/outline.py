"""The outline of a shape in the unit square: smooth curves, filled or stroked. Pictures and SVG are both made of it."""

from __future__ import annotations

from cmath import rect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import ceil, cos, pi, radians, sin, tan

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
class Outline:
    """A closed outline that is filled or, with a `width`, a line that is stroked with round ends."""

    start: Point
    curves: tuple[Curve, ...]
    is_closed: bool = True
    width: float = 0.0

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

    def turned(self, degrees: float, around: Point) -> Outline:
        """Return the outline turned clockwise around a point."""
        turn, middle = rect(1, radians(degrees)), complex(*around)

        def moved(point: Point) -> Point:
            to = middle + turn * (complex(*point) - middle)
            return to.real, to.imag

        curves = tuple((moved(first), moved(second), moved(end)) for first, second, end in self.curves)
        return replace(self, start=moved(self.start), curves=curves)


def straight(points: Sequence[Point], is_closed: bool = True, width: float = 0.0) -> Outline:
    """Return the outline with straight pieces from point to point."""
    ends = [*points[1:], points[0]] if is_closed else points[1:]
    begins = points if is_closed else points[:-1]
    return Outline(points[0], tuple((*pair, pair[1]) for pair in zip(begins, ends, strict=True)), is_closed, width)


def smooth(points: Sequence[Point], is_closed: bool = True, width: float = 0.0) -> Outline:
    """Return the smooth outline through points (a Catmull-Rom spline). A point given twice in a row is a corner."""
    around = [points[-1], *points, points[0], points[1]] if is_closed else [points[0], *points, points[-1]]
    curves = tuple(_between(*around[at : at + 4]) for at in range(len(around) - 3) if around[at + 1] != around[at + 2])
    return Outline(points[0], curves, is_closed, width)


def _between(before: Point, begin: Point, end: Point, after: Point) -> Curve:
    """Return the curve from `begin` to `end`, whose directions there are those from and to the points around."""
    first = (begin[0] + (end[0] - before[0]) / 6, begin[1] + (end[1] - before[1]) / 6)
    second = (end[0] - (after[0] - begin[0]) / 6, end[1] - (after[1] - begin[1]) / 6)
    return first, second, end


def elliptic(x: float, y: float, wide: float, high: float, start: float = 0.0, end: float = 360.0) -> Outline:
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

    return Outline((x + wide * cos(angles[0]), y + high * sin(angles[0])), tuple(curves()))


def rounded(x: float, y: float, wide: float, high: float, radius: float) -> Outline:
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
    return Outline(start, tuple(curves))
