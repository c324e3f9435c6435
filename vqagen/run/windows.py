"""Windows: what is generated for a scene depends on the scenes before it in its window, and on no others.

Windows are counted by absolute scene index (`index // size`), so that a shard may begin anywhere: it replays the
beginning of its first window without giving it out, and shards laid end to end equal one run (DESIGN: law 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import NamedTuple, TypeVar

from vqagen.world.scene import Scene

Result = TypeVar("Result")
WindowTask = Callable[[Iterable[Scene]], Iterator[tuple[Scene, Result]]]
"""A pure function from one window's scenes, from its first one on, to a result for each of them."""


class Span(NamedTuple):
    """Which scenes to read: from `first` on, `length` of them; a length of 0 means all."""

    first: int
    length: int


def span_to_read(start_index: int, count: int, size: int) -> Span:
    """The scenes a run needs: those asked for, and the beginning of the first one's window.

    >>> span_to_read(260, 50, 250)
    Span(first=250, length=60)
    """
    start = start_index - start_index % size if size else 0
    return Span(start, count + start_index - start if count else 0)


def run_windows(
    scenes: Iterable[Scene], size: int, start_index: int, task: WindowTask[Result]
) -> Iterator[tuple[Scene, Result]]:
    """Give each window to the task, and give out the results of the scenes from `start_index` on, in order."""
    for _, window in groupby(scenes, key=lambda scene: scene.index // size if size else 0):
        for scene, result in task(window):
            if scene.index >= start_index:
                yield scene, result
