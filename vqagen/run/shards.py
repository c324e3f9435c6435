"""Shards: a run cut into N runs, each of which can be made on its own and anywhere.

Any cut is right, for a run that begins inside a window replays the beginning of it. Cuts at the borders of windows are
better: nothing is replayed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from vqagen.errors import UsageError
from vqagen.run.windows import Span

_FORM = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


class Shard(NamedTuple):
    """Which one of how many, counted from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def parse_shard(text: str) -> Shard:
    """Return a shard as users write it. Raises UsageError for any other text.

    >>> parse_shard("3/8")
    Shard(number=3, of=8)
    """
    form = _FORM.fullmatch(text)
    shard = Shard(int(form[1]), int(form[2])) if form else Shard(0, 0)
    if not 1 <= shard.number <= shard.of:
        raise UsageError(f"--shard must be K/N with K from 1 to N, such as 3/8; found {text!r}")
    return shard


class ShardPlan(NamedTuple):
    """A shard of a run, the items of the whole run, and those of the shard."""

    shard: Shard
    whole: Span
    own: Span

    def to_record(self) -> dict[str, int]:
        """Return the record for the shard's `info`, by which merging finds missing shards."""
        (number, of), (first, length) = self.shard, self.whole
        return {"number": number, "of": of, "start_index": first, "count": length}


def plan_shard(shard: Shard, whole: Span, there: int, window: int, noun: str = "scene") -> ShardPlan:
    """Plan a shard of a run; UsageError if there is no such shard. One item is called `noun`.

    `there` is how many items the input has from the run's first one on, and `window` the size of a window (0: one for
    all). Shards follow each other, none is empty, and all together are the run. The last one ends as the run does: of a
    run of all items (length 0) it is all that follow.

    >>> [plan_shard(Shard(number, 3), Span(100, 0), 1000, 250).own for number in (1, 2, 3)]
    [Span(first=100, length=400), Span(first=500, length=250), Span(first=750, length=0)]
    """
    length = min(there, whole.length) if whole.length else there
    if shard.of > length:
        raise UsageError(f"--shard {shard}: there are more shards than {noun}s ({length})")
    first, end = _edges(shard.of, whole.first, length, window)[shard.number - 1 : shard.number + 1]
    if shard.number == shard.of:
        end = whole.first + whole.length if whole.length else first
    return ShardPlan(shard, whole, Span(first, end - first))


def _edges(of: int, first: int, length: int, window: int) -> list[int]:
    """Return the first item of each shard, and the end of the last: on borders of windows where there are enough."""
    borders = (first + length - 1) // window - first // window if window else 0
    even = [first + length * number // of for number in range(of + 1)]
    if borders < of - 1:
        return even
    edges, used = [first], 0
    for number in range(1, of):
        nearest = (even[number] + window // 2) // window - first // window
        used = max(used + 1, min(nearest, borders - (of - 1 - number)))  # each later cut needs a border too
        edges.append((first // window + used) * window)
    return [*edges, first + length]
