"""A small work for tests of engines that do windows in other processes, which find it in this module."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from vqagen.errors import BadInput, Problem, VqagenError, warn
from vqagen.run.work import Block, Item, Window, WindowTask


class Number(NamedTuple):
    """An item that is nothing but its index."""

    index: int
    size: int = 1
    """Bytes of its record."""


@dataclass(frozen=True)
class Spelling:
    """Writes the index of each item, one block a window.

    Windows that begin with a scene named here take that many seconds, fail, warn, or kill their worker.
    """

    folder: str = ""
    """Gets a file for each begun window, `<first>-<process id>`, and for each loading, `loaded-<process id>`."""
    slow: tuple[tuple[int, float], ...] = ()
    wrong: tuple[int, ...] = ()
    broken: tuple[int, ...] = ()
    warned: tuple[int, ...] = ()
    deadly: tuple[int, ...] = ()
    deadly_once: tuple[int, ...] = ()
    unreadable: bool = False

    def load(self) -> WindowTask:
        if self.unreadable:
            raise BadInput([Problem("cannot be read", source="templates.json")])
        self._note(f"loaded-{os.getpid()}")
        return self._do

    def _do(self, items: Iterable[Item]) -> Iterator[Block]:
        items = list(items)
        first = items[0].index
        before = self._begun(first)
        self._note(f"{first}-{os.getpid()}")
        time.sleep(dict(self.slow).get(first, 0))
        if first in self.deadly or (first in self.deadly_once and not before):
            os.kill(os.getpid(), signal.SIGKILL)
        if first in self.wrong:
            raise VqagenError(f"scene {first} is wrong")
        if first in self.warned:
            warn(Problem(f"scene {first} is doubtful"))
        if first in self.broken:
            raise ZeroDivisionError
        body = b"".join(str(item.index).encode().ljust(getattr(item, "size", 1), b".") + b"\n" for item in items)
        yield Block(first, items[-1].index + 1, body, len(items), {"pairs": len(items) // 2})

    def _begun(self, first: int) -> bool:
        return bool(self.folder) and any(Path(self.folder).glob(f"{first}-*"))

    def _note(self, name: str) -> None:
        if self.folder:
            (Path(self.folder) / name).touch()


def windows(number: int, size: int = 2, record_size: int = 1) -> Iterator[Window]:
    """Windows of `size` items each, read as they are asked for."""
    for place in range(number):
        yield Window(place, (Number(index, record_size) for index in range(place * size, place * size + size)))
