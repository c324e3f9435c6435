"""A work and a job that need no scenes: the runner and its engines are tested with them.

They lie in a module of their own, so that worker processes can import them.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from waiting import wait_until

from vqagen.errors import BadInput, Problem, VqagenError, warn
from vqagen.files.formats import Arrangement, Encode, Selection, encode_lines
from vqagen.run.blocks import Block
from vqagen.run.windows import MakeBlocks, Window, span_to_read, windows_of
from vqagen.tasks.contract import Item

if TYPE_CHECKING:
    from vqagen.run.output import Output

PER_BLOCK = 2
"""Items of a block: a window of more has several."""


@dataclass(frozen=True, slots=True)
class Number:
    """An item that is nothing but its index."""

    noun: ClassVar[str] = "toy"
    index: int


@dataclass(frozen=True)
class Toy:
    """`index // 2 % 3` records of each item: some blocks are empty, and the first one is.

    `acts` says which of the ACTS happen at some of them besides.
    """

    acts: Mapping[int, str] = field(default_factory=dict)
    loading: str = ""
    """The act when it is loaded."""
    folder: str = ""
    """Gets an empty file for each window that is begun, `<first item>-<process id>`, and `loaded-<process id>`."""
    crowd: int = 0
    """Of so many windows that were begun, an act may wait."""
    encode: Encode = encode_lines

    def load(self) -> MakeBlocks:
        before = self._noted("loaded")
        if self.loading:
            ACTS[self.loading](self, before)
        return self._blocks

    def _blocks(self, items: Iterable[Item], first: int) -> Iterator[Block]:
        before, pending = 0, list[Item]()
        for place, item in enumerate(items):
            before = before if place else self._noted(str(item.index))
            if item.index in self.acts:
                ACTS[self.acts[item.index]](self, before)
            pending += [item] if item.index >= first else []
            if len(pending) == PER_BLOCK:
                yield self._block(pending)
                pending = []
        if pending:
            yield self._block(pending)

    def _noted(self, what: str) -> int:
        """How often that was noted before; makes a note of it."""
        if not self.folder:
            return 0
        before = sum(1 for _ in Path(self.folder).glob(f"{what}-*"))
        Path(self.folder, f"{what}-{os.getpid()}").touch()
        return before

    def _block(self, items: list[Item]) -> Block:
        records = [
            {"question_index": 0, "toy": item.index, "text": f'"question_index":0 of {item.index}'}
            for item in items
            for _ in range(item.index // 2 % 3)
        ]
        return Block(items[0].index, items[-1].index + 1, self.encode(records), len(records), {"toys": len(items)})


def begun(folder: Path | str) -> dict[int, int]:
    """By the first item of each window that was begun: the process that did so last."""
    notes = [name.split("-") for name in os.listdir(folder) if not name.startswith("loaded-")]
    return {int(first): int(process) for first, process in notes}


def loaded(folder: Path | str) -> set[int]:
    """The processes that loaded the work."""
    return {int(name.split("-")[1]) for name in os.listdir(folder) if name.startswith("loaded-")}


# Acts ----------------------------------------------------------------------------------------------------------------

Act = Callable[[Toy, int], object]
"""Done by a toy in a window that was begun so many times before."""


class Stubborn(VqagenError):
    """Cannot be pickled."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.reason = lambda: message


class TwoFold(VqagenError):
    """Can be pickled, and not be made again."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}: {why}")


def _die(toy: Toy, before: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _stay(toy: Toy, before: int) -> None:
    time.sleep(600)


def _wait_for_the_crowd(toy: Toy, before: int) -> None:
    """Wait until so many windows have been begun, and then for more that should not be."""
    wait_until(lambda: len(begun(toy.folder)) >= toy.crowd)
    time.sleep(0.2)


def _raise(make: Callable[[], Exception]) -> Act:
    def act(toy: Toy, before: int) -> NoReturn:
        raise make()

    return act


def _of_the_worker_alone() -> Exception:
    """An error of a class that no other process can find."""
    module = ModuleType("a_module_of_the_worker")
    sys.modules[module.__name__] = module
    kind = type("Foreign", (VqagenError,), {"__module__": module.__name__})
    vars(module)["Foreign"] = kind
    return kind("no such thing")


def _first(times: int, act: Act) -> Act:
    """An act that happens only the first times."""
    return lambda toy, before: act(toy, before) if before < times else None


ACTS: Mapping[str, Act] = {
    "die": _die,
    "die once": _first(1, _die),
    "die twice": _first(2, _die),
    "exit": lambda toy, before: os._exit(7),
    "stay": _stay,
    "stay once": _first(1, _stay),
    "rest": lambda toy, before: time.sleep(0.02),
    "wait for the crowd": _wait_for_the_crowd,
    "mistake": _raise(lambda: BadInput([Problem("no such thing", "toys.json")])),
    "stubborn mistake": _raise(lambda: Stubborn("toys.json: no such thing")),
    "twofold mistake": _raise(lambda: TwoFold("toys.json", "no such thing")),
    "foreign mistake": _raise(_of_the_worker_alone),
    "bug": _raise(lambda: ZeroDivisionError("a bug of ours")),
    "disk": _raise(lambda: FileNotFoundError(2, "No such file or directory", "toys.json")),
    "memory": _raise(MemoryError),
    "doubt": lambda toy, before: warn(Problem("a doubtful toy")),
}


# Jobs ----------------------------------------------------------------------------------------------------------------


def toy_windows(count: int) -> Iterator[tuple[int, Window]]:
    """So many items in windows of two, read as they are asked for."""
    return ((0, window) for window in windows_of((Number(index) for index in range(count)), 2))


@dataclass
class ToyJob:
    """A run over `count` items from `first` on, in windows of `window`."""

    count: int = 9
    window: int = 3
    first: int = 0
    toy: Toy = Toy()
    unreadable: int | None = None
    """The item that cannot be read."""
    why: Exception = field(default_factory=lambda: VqagenError("cannot be read"))
    asked: list[int] = field(default_factory=list)
    """The first items of which windows were asked for."""

    def info(self) -> dict[str, Any]:
        return toy_info()

    def expected(self) -> int:
        return self.count

    def located(self, error: VqagenError) -> VqagenError:
        return error

    def work(self, encode: Encode = encode_lines) -> Toy:
        return replace(self.toy, encode=encode)

    def windows(self, first: int) -> Iterator[Window]:
        self.asked.append(first)
        span = span_to_read(first, self.first + self.count - first, self.window)
        return windows_of(self._numbers(span.first), self.window)

    def _numbers(self, first: int) -> Iterator[Number]:
        for index in range(first, self.first + self.count):
            if index == self.unreadable:
                raise self.why
            yield Number(index)


def toy_info(**more: object) -> dict[str, Any]:
    """The `info` of an output of toys."""
    arrangement = Arrangement("questions", "question_index", "toy", 3)
    return {"made_by": "toys", **more, "generator": {"arrangement": arrangement._asdict()}}


def toy_output(target: Path | str, selection: Selection | None = None, **info: object) -> Output:
    """An output under the name of a file, in the format that its ending asks for."""
    from vqagen.files.formats import FORMATS, choose_format  # these take 0.2 s, which each worker would need
    from vqagen.run.output import Output, make_destination
    from vqagen.tasks.questions.columns import QuestionColumns

    destination = make_destination(str(target), choose_format(str(target), None, FORMATS[:3], "toys"))
    return Output(destination, toy_info(**info), QuestionColumns(), selection)
