"""Answers that are places: read from replies as models write them, and matched with the objects that are meant.

    [{"bbox_2d": [180, 110, 244, 171], "label": "cube"}]    JSON, also in a fence; point_2d, bbox, box and point too
    <point x="212" y="140">  <points x1="212" y1="140" x2="60" y2="99">
    (212, 140)  [180, 110, 244, 171]                        points and boxes as they stand in texts
    none  []                                                there is no such object

Each mark is matched with one object at most, so that the sum of their scores is as large as it can be. A box is right
from an IoU of .5 on, a point if it is on the object.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from vqagen.extras import needed
from vqagen.items.answers import NO_VOCABULARY, PLACES, plain, read_answer
from vqagen.items.places import MARK_KEYS, Mark, Spots

PIXELS, THOUSAND = COORDINATES = "pixels", "1000"
"""What coordinates count: pixels of the picture, or thousandths of its width and height."""
LEAST_IOU = 0.5
BEYOND = 0.05
"""Share of a picture's width or height by which a mark may be beyond its edge, as models are not exact."""
UNCLEAR = "predictions have coordinates: say by --coordinates whether these are pixels, or 0 to 1000"
NO_SIZE = "the size of the pictures is not known: give --scenes, those that `vqagen scenes draw` or `render` wrote"
NO_SPOTS = "places cannot be scored, as nothing says where objects are: give --scenes, with boxes, of the pictures"
MOST_MARKS = 100
"""A reply with more says nothing."""
_LARGEST = 1e6
_NUMBER = r"\s*(-?\d{1,9}(?:\.\d{0,9})?)\s*"
SHAPE = re.compile(rf"\[{','.join([_NUMBER] * 4)}\]|\({_NUMBER},{_NUMBER}\)", re.ASCII)
_POINTS = re.compile(r"<points?\s([^<>]{0,5000})>(?:[^<>]{0,200}</points?>)?", re.IGNORECASE)
_X_AND_Y = re.compile(r"""x(\d*)\s*=\s*["']?([-\d.]{1,20})["']?\s+y\1\s*=\s*["']?([-\d.]{1,20})""", re.IGNORECASE)
_FENCE = re.compile(r"```(?:json)?", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;.]*(?:and)?[\s,;.]*")
_LIST = re.compile(r"\[(\s*\[.*\]\s*)\]", re.DOTALL)
"""A list of lists; its parts are boxes or points."""


class PlaceScore(NamedTuple):
    """How well marks say where objects are."""

    iou: float
    """The mean score of matched marks, over objects or marks, of whichever there are more; 1 for none of none."""
    f1: float
    """Of the marks and objects the share that is matched and right; 1 for none of none."""
    marks: int
    is_outside: bool = False
    """True if a mark goes beyond the picture, or what coordinates count."""


def without_tags(reply: str) -> str:
    """Return a reply with points in place of the tags of points, which are no reasoning.

    >>> without_tags('<points x1="1" y1="2" x2="30.5" y2="4" alt="cubes">cubes</points>')
    '(1, 2) (30.5, 4)'
    """
    return _POINTS.sub(lambda tag: " ".join(f"({x}, {y})" for _, x, y in _X_AND_Y.findall(tag[1])), reply)


def read_marks(text: str, strict: bool = False) -> list[Mark] | None:
    """Return the points and boxes of an answer, [] if it is that there are none; None if it says no place.

    With `strict` it must be nothing else.

    >>> read_marks("They are at (212, 140) and [1, 2, 30, 40]."), read_marks("none"), read_marks("a cube")
    ([(212.0, 140.0), (1.0, 2.0, 30.0, 40.0)], [], None)
    """
    text = _FENCE.sub("", text).strip()
    if plain(text) in ("none", "nothing", "there are none") or re.fullmatch(r"\[\s*\]", text):
        return []
    if "{" in text:
        numbers = _of_json(text, strict)
    else:
        found = list(SHAPE.finditer(text))
        if strict and _BETWEEN.sub("", SHAPE.sub("", _LIST.sub(r"\1", text))):
            return None
        numbers = [_numbers(each) for each in found]
    marks = [_mark(each) for each in numbers] if numbers and len(numbers) <= MOST_MARKS else [None]
    return [each for each in marks if each] if None not in marks else None


def _of_json(text: str, strict: bool) -> list[Any]:
    """Return what stands under the keys of marks in JSON."""
    start, end = (0, len(text)) if strict else (min(text.find(mark) % len(text) for mark in "[{"), _end(text))
    try:
        document = orjson.loads(text[start:end])
    except orjson.JSONDecodeError:
        return []
    listed = document if isinstance(document, list) else [document]
    marks = []
    for each in listed:
        named = [each[key] for key in MARK_KEYS if key in each] if isinstance(each, Mapping) else [each]
        marks.append(named[0] if len(named) == 1 or (named and not strict) else None)
    return marks


def _end(text: str) -> int:
    return max(text.rfind("]"), text.rfind("}")) + 1


def _numbers(found: re.Match[str]) -> list[float]:
    return [float(each) for each in found.groups() if each is not None]


def _mark(numbers: Any) -> Mark | None:
    """Return a point or a box of so many numbers; None if they are none."""
    if not isinstance(numbers, list) or len(numbers) not in (2, 4) or {*map(type, numbers)} - {int, float}:
        return None
    mark = tuple(map(float, numbers))
    if not all(math.isfinite(each) and abs(each) < _LARGEST for each in mark):
        return None
    return mark if len(mark) == 2 or (mark[0] < mark[2] and mark[1] < mark[3]) else None


def said_objects(text: str) -> tuple[int, ...] | None:
    """Return the numbers of objects that an answer names as files have them: "0, 3"; None for another answer."""
    found = read_answer(text, PLACES, NO_VOCABULARY)
    return found if isinstance(found, tuple) and found else None


def in_pixels(marks: Sequence[Mark], coordinates: str, size: tuple[int, int] | None) -> list[Mark]:
    """Return marks in pixels of a picture of a size, which must be known where thousandths are given."""
    if coordinates == PIXELS or size is None:
        return list(marks)
    return [tuple([each * size[i % 2] / 1000 for i, each in enumerate(mark)]) for mark in marks]


def score_marks(marks: Sequence[Mark], places: Spots) -> PlaceScore:
    """Return how well marks in pixels say where objects are."""
    scores = matched(marks, places)
    most, hits = max(len(marks), len(places.objects)), sum(score >= LEAST_IOU for score in scores)
    total = len(marks) + len(places.objects)
    is_outside = places.size is not None and any(_goes_beyond(mark, places.size) for mark in marks)
    return PlaceScore(sum(scores) / most if most else 1.0, 2 * hits / total if total else 1.0, len(marks), is_outside)


def matched(marks: Sequence[Mark], places: Spots) -> list[float]:
    """Return the scores of the marks that are matched with objects."""
    scores = [[place.score(mark) for place in places.objects] for mark in marks]
    if not scores or not scores[0]:
        return []
    match = needed("scipy.optimize", "stats", "the score of places").linear_sum_assignment
    return [scores[i][j] for i, j in zip(*match(scores, maximize=True), strict=True)]


def _goes_beyond(mark: Mark, size: tuple[int, int]) -> bool:
    return any(not -BEYOND <= each / size[i % 2] <= 1 + BEYOND for i, each in enumerate(mark))


def marks_in(text: str) -> Iterator[Mark | None]:
    """Yield the points and boxes that stand in a text, in order; None for what looks like one and is none."""
    for found in SHAPE.finditer(text):
        yield _mark(_numbers(found))
