"""A work and a job that need no scenes: the runner and its engines are tested with them.

They lie in a module of their own, so that worker processes can import them.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from vqagen.errors import BadInput, Problem, VqagenError, warn
from vqagen.run.layouts import encode_lines
from vqagen.run.output import Keep, Output, layout_of
from vqagen.run.windows import span_to_read, windows_of
from vqagen.run.work import Block, Item, Window, WindowTask

PER_BLOCK = 2
"""Items of a block: a window of more has several."""


class Number(NamedTuple):
    """An item that is nothing but its index."""

    index: int


@dataclass(frozen=True)
class Toy:
    """`index // 2 % 3` records of each item: some blocks are empty, and the first one is.

    `acts` says what else happens at some of them; see `_act`.
    """

    acts: Mapping[int, str] = field(default_factory=dict)
    loading: str = ""
    """What happens when it is loaded."""
    folder: str = ""
    """Gets an empty file for each window that is begun: `<first item>-<process id>`."""
    first: int = 0

    def load(self) -> WindowTask:
        if self.loading:
            self._act(self.loading, self._begun(-1))
        return self._blocks

    def _blocks(self, items: Iterable[Item]) -> Iterator[Block]:
        tries, pending = 0, list[Item]()
        for place, item in enumerate(items):
            tries = tries if place else self._begun(item.index)
            self._act(self.acts.get(item.index, ""), tries)
            pending += [item] if item.index >= self.first else []
            if len(pending) == PER_BLOCK:
                yield block_of(pending)
                pending = []
        if pending:
            yield block_of(pending)

    def _begun(self, first: int) -> int:
        """How often a window was begun before; makes a note of it."""
        if not self.folder:
            return 0
        before = sum(1 for _ in Path(self.folder).glob(f"{first}-*"))
        Path(self.folder, f"{first}-{os.getpid()}").touch()
        return before

    def _act(self, act: str, tries: int) -> None:
        if act == "die" or (act == "die once" and tries == 0) or (act == "die twice" and tries < 2):
            os.kill(os.getpid(), signal.SIGKILL)
        elif act == "exit":
            os._exit(7)
        elif act == "stay":
            time.sleep(600)
        elif act == "rest":
            time.sleep(0.02)
        elif act.startswith("wait for "):
            _wait_for(self.folder, int(act.split()[2]))
        elif act == "mistake":
            raise BadInput([Problem("no such thing", "toys.json")])
        elif act == "bug":
            raise ZeroDivisionError("a bug of ours")
        elif act == "disk":
            raise FileNotFoundError(2, "No such file or directory", "toys.json")
        elif act == "doubt":
            warn(Problem("a doubtful toy"))
        elif act == "print":
            print("printed by a plug-in")
            sys.stdout.flush()


def _wait_for(folder: str, windows: int) -> None:
    """Wait until so many windows have been begun, and then for more that should not be."""
    until = time.monotonic() + 60
    while len(begun(folder)) < windows and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.2)


def begun(folder: Path | str) -> set[int]:
    """The first items of the windows that were begun."""
    return {int(name.rpartition("-")[0]) for name in os.listdir(folder)}


def block_of(items: list[Item]) -> Block:
    """What is made of a few items."""
    records = [
        {"question_index": 0, "toy": item.index, "text": f'"question_index":0 of {item.index}'}
        for item in items
        for _ in range(item.index // 2 % 3)
    ]
    return Block(items[0].index, items[-1].index + 1, encode_lines(records), len(records), {"toys": len(items)})


@dataclass
class ToyJob:
    """A run over `count` items from `first` on, in windows of `size`."""

    count: int = 9
    size: int = 3
    first: int = 0
    toy: Toy = Toy()
    unreadable: int | None = None
    """The item that cannot be read."""
    asked: list[int] = field(default_factory=list)
    """The first items of which windows were asked for."""

    def work(self, first: int) -> Toy:
        return Toy(self.toy.acts, self.toy.loading, self.toy.folder, first)

    def windows(self, first: int) -> Iterator[Window]:
        self.asked.append(first)
        span = span_to_read(first, self.first + self.count - first, self.size)
        return windows_of(self._numbers(span.first), self.size)

    def _numbers(self, first: int) -> Iterator[Number]:
        for index in range(first, self.first + self.count):
            if index == self.unreadable:
                raise VqagenError(f"toy {index} cannot be read")
            yield Number(index)


def toy_output(target: Path | str, select: Callable[[], Keep] | None = None, **info: object) -> Output:
    """An output under the name of a file, in the layout that its ending asks for."""
    from vqagen.exchange.columns import Columns  # takes 0.15 s, which each worker would need

    return Output(str(target), layout_of(str(target)), {"made_by": "toys", **info}, Columns(), select)
