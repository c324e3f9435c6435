"""From the items of a window to its blocks, for any task about scenes: the part that is no matter of the task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from vqagen.records.layouts import Encode, Record
from vqagen.run.windows import block_of
from vqagen.run.work import Block, Item
from vqagen.world.domain import Domain
from vqagen.world.loading import SceneText, read_scene
from vqagen.world.scene import Scene, compile_scene

Made = TypeVar("Made")


class CompiledScenes:
    """The scenes of a window, each compiled when it is asked for. Raises UnreadableScene, or BadInput."""

    def __init__(self, items: Iterable[Item], domain: Domain) -> None:
        self._items, self._domain = items, domain
        self._asked: Scene | None = None
        """The one that is being asked about."""

    def __iter__(self) -> Iterator[Scene]:
        for item in self._items:
            assert isinstance(item, SceneText)
            self._asked = compile_scene(read_scene(item), self._domain, item.index, item.place)
            yield self._asked
            self._asked = None

    def named_in_errors(self, made: Iterable[Made]) -> Iterator[Made]:
        """What is made of the scenes. Of an error that comes up meanwhile it is noted which of them it is about."""
        try:
            yield from made
        except Exception as error:
            if self._asked is not None:  # what is wrong with a scene itself names it
                error.add_note(f"while asking about scene {self._asked.index} ({self._asked.image or 'of no image'})")
            raise


def blocks_of(
    made: Iterable[tuple[int, Iterable[Record]]], window: int, encode: Encode, counted: Callable[[], Mapping[str, Any]]
) -> Iterator[Block]:
    """The blocks of one window, from the index and the records of each of its scenes.

    `window` is the size of windows; `counted` tells what the task has counted since it was last asked.
    """
    made = iter(made)
    while True:
        done = _Done()
        body = encode(_records(made, window, done))
        if not done.scenes:
            return
        yield Block(done.first, done.first + done.scenes, body, done.records, counted())


@dataclass
class _Done:
    """What is in a block."""

    first: int = 0
    scenes: int = 0
    records: int = 0


def _records(made: Iterator[tuple[int, Iterable[Record]]], window: int, done: _Done) -> Iterator[Record]:
    """Of one block: one at a time, for the garbage collector goes through all that are held at once."""
    for number, records in made:
        if not done.scenes:
            done.first = number
        done.scenes += 1
        for record in records:
            done.records += 1
            yield record
        if block_of(number, window) != block_of(number + 1, window):
            return
