"""The hops of a reasoning, by the points and boxes of its sentences.

    There is one cube, at (212, 140). Left of it are two balls: the red one at (60, 99) and the big one at (81, 150).

has two hops, of one object and of two. A sentence without a place is no hop: it earns and costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from vqagen.items.places import Mark, Spot, Spots, spots_of_boxes
from vqagen.score.answers.places import LEAST_IOU, MOST_MARKS, marks_in, matched, without_tags

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
REACH = 10.0
"""Pixels, across and down, that a point may be away from one of which no box is known."""
MOST_HOPS = 100
"""A reasoning with more says nothing."""


def hops_of_text(text: str) -> list[list[Mark | None]]:
    """Return the points and boxes of each sentence that has any; None for what looks like one and is none.

    >>> hops_of_text("The cube is at (212, 140). It is red. The balls are at [1, 2, 30, 40] and (60, 99.5).")
    [[(212.0, 140.0)], [(1.0, 2.0, 30.0, 40.0), (60.0, 99.5)]]
    """
    marked = ([*marks_in(sentence)] for sentence in _SENTENCE.split(without_tags(text)))
    return [marks for marks in marked if marks]


def shared_hops(said: str, gold: str, boxes: Iterable[Sequence[float]] = ()) -> float | None:
    """Return the share of hops that a reasoning has in common with the right one, in order; None if that has none.

    It is a share of the hops of the longer one: what is added or repeated earns nothing. A hop is right if each of its
    points or boxes is that of another of its objects, and none is missing. `boxes` are those of all objects, by which
    points are known.
    """
    known = [spot.box for spot in spots_of_boxes([*map(list, boxes)]).objects]
    right = [Spots(tuple([_spot(mark, known) for mark in marks if mark])) for marks in hops_of_text(gold)]
    hops = hops_of_text(said)
    if not right:
        return None
    if len(hops) > MOST_HOPS:
        return 0.0
    lengths = [0] * (
        len(right) + 1
    )  # of the longest common part of the hops so far and the first 0, 1, 2, … right ones
    for marks in hops:
        before, lengths = lengths, [0]
        for place, spots in enumerate(right):
            is_same = before[place] + 1 > max(before[place + 1], lengths[-1]) and is_right(marks, spots)
            lengths.append(before[place] + 1 if is_same else max(before[place + 1], lengths[-1]))
    return lengths[-1] / max(len(hops), len(right))


def is_right(marks: Sequence[Mark | None], spots: Spots) -> bool:
    """True if marks are those of all objects, one each: none is missing, repeated, or too much."""
    sound = [mark for mark in marks if mark]
    if not len(set(sound)) == len(marks) == len(spots.objects) <= MOST_MARKS:
        return False
    scores = matched(sound, spots)
    return len(scores) == len(marks) and min(scores, default=1.0) >= LEAST_IOU


def _spot(mark: Mark, boxes: Sequence[Mark]) -> Spot:
    """Return the object of a right mark: of a point it is the box that holds it, whose middle is nearest."""
    if len(mark) == 4:
        return Spot(mark)
    x, y = mark
    around = (x - REACH, y - REACH, x + REACH, y + REACH)
    holding = [box for box in boxes if Spot(box).score(mark)]
    return Spot(
        min(holding, key=lambda box: (box[0] + box[2] - 2 * x) ** 2 + (box[1] + box[3] - 2 * y) ** 2, default=around)
    )
