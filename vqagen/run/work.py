"""Windows of items, the work that engines do with each, and the blocks of records that result.

Workers are processes of this machine, or of a Dask cluster. Works, windows and outcomes travel to them as bytes.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import sys
import threading
import traceback
import warnings
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from queue import SimpleQueue
from typing import Any

from vqagen import __version__
from vqagen.errors import BadInput, InputWarning, Problem, VqagenError, is_out_of_memory, warn
from vqagen.files.formats import Encode, Record
from vqagen.run.windows import Window, block_of
from vqagen.tasks.contract import Item, ItemRecords, Make, Task


@dataclass(frozen=True, slots=True)
class Block:
    """The finished records of consecutive items of one window: what is written and journalled at once."""

    first: int
    """Absolute index of the first item."""
    end: int
    """One behind the last item's."""
    body: bytes
    """The records, as the format of the output encodes them."""
    records: int
    tally: Mapping[str, Any]
    """Counts of the task, as JSON."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Name inside the output folder -> content."""


WindowTask = Callable[[Window], Iterator[Block]]
"""A window's items, from its first one on, to its blocks, in order."""

Engine = Callable[["Work", Iterator[Window]], Generator[Block]]
"""Does the windows of a run somewhere, and yields their blocks in order. Closed early, it leaves nothing running."""


@dataclass(frozen=True)
class Work:
    """Everything a process needs in order to do any window of a run of a task. Can be pickled."""

    task: Task
    hashes: Mapping[str, str]
    """The content hashes of the inputs, by role: every process must read the same."""
    encode: Encode
    first: int
    """The first item that records are written about."""
    loaded: Make | None = field(default=None, compare=False)
    """What this process has loaded; it stays in this process."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "loaded": None}

    def load(self) -> WindowTask:
        """Read what the task needs (domain, templates, …): once in each process. Raises VqagenError."""
        make = self.loaded or self.task.load(self.hashes)

        def blocks(window: Window) -> Iterator[Block]:
            tally = self.task.tally()
            return blocks_of(
                window, lambda items: make(items, self.first, tally), self.task.window, self.encode, tally.take
            )

        return blocks


def blocks_of(
    window: Window,
    make: Callable[[Iterable[Item]], Iterator[ItemRecords]],
    size: int,
    encode: Encode,
    take_tally: Callable[[], Mapping[str, Any]],
) -> Iterator[Block]:
    """Yield the blocks of a window; `size` is that of windows. An error of the task has a note of the item.

    Errors of reading the items pass as they are, and so do problems of the input, which name their place. An error of
    the system that a task meets, such as the time-out of a plug-in, must not look like one of writing.
    """
    current: Item | None = None

    def items() -> Iterator[Item]:
        nonlocal current
        for item in window:
            current = item
            yield item
            current = None

    made = make(items())
    try:
        while True:
            counts, files = dict[int, int](), dict[str, bytes]()
            body = encode(_records(made, size, counts, files))  # records are made while they are encoded
            if not counts:
                return
            first = min(counts)
            yield Block(first, first + len(counts), body, sum(counts.values()), take_tally(), files)
    except Exception as error:
        if current is None or isinstance(error, BadInput):
            raise
        error.add_note(f"while making records about {current}")
        if isinstance(error, OSError) and error.filename is None:
            raise WindowFailed(f"{type(error).__name__}: {error}") from error
        raise


def _records(
    made: Iterator[ItemRecords], size: int, counts: dict[int, int], files: dict[str, bytes]
) -> Iterator[Record]:
    """Yield the records of one block one at a time: the garbage collector goes through all that are held at once.

    `counts` gets the number of records of each item.
    """
    for index, records, added in made:
        counts[index] = 0
        files.update(added)
        for record in records:
            counts[index] += 1
            yield record
        if block_of(index, size) != block_of(index + 1, size):
            return


class WindowFailed(Exception):
    """A mistake of ours, or of the machine's, in a window. The message holds the traceback of where it happened."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a window in another process. Errors come as values: not every exception can be pickled."""

    blocks: Sequence[Block] = ()
    error: VqagenError | WindowFailed | None = None
    warnings: tuple[Problem, ...] = ()

    def unwrap(self) -> Iterator[Block]:
        """Yield the blocks, after issuing the warnings and raising the error."""
        for problem in self.warnings:
            warn(problem)
        if self.error is not None:
            raise self.error
        yield from self.blocks


def span_of(items: Sequence[Item]) -> str:
    """Name items for people: `scene 4`, `scenes 4 to 7`."""
    noun, first, last = items[0].noun, items[0].index, items[-1].index
    return f"{noun} {first}" if first == last else f"{noun}s {first} to {last}"


# The worker's side of every engine -----------------------------------------------------------------------------------

_one_at_a_time = threading.Lock()
"""Generating is not made for threads: a Dask worker with several does one window after the other."""


def serve(descriptor: int) -> None:
    """Answer requests as a process of `Processes`, until the other end of the connection is closed.

    Signals are ignored: Ctrl-C and a batch system's SIGTERM reach all processes of a job, and the parent ends them.
    """
    from multiprocessing.connection import Connection  # a run in one process needs none of it

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdout = sys.stderr  # standard output is for results
    connection, requests = Connection(descriptor), SimpleQueue[tuple[bytes, bytes]]()

    def receive() -> None:
        try:
            while True:
                requests.put(connection.recv())
        except (EOFError, OSError):  # also in the middle of a window
            os._exit(0)

    threading.Thread(target=receive, daemon=True).start()
    try:
        while True:
            connection.send(do_window("", *requests.get()))
    except OSError:
        os._exit(0)


def do_window(run: str, work: bytes, packed: bytes, here: str = "") -> Outcome:
    """Do a window, whose items come pickled, in full, whatever happens.

    The work is loaded once for each `run`: between two runs its files may change. `here` names another machine.
    """
    try:
        return _outcome(_loaded(run, work), packed)
    except VqagenError as error:
        return Outcome(error=VqagenError(f"{here}: {error}") if here else as_value(error, ""))
    except Exception as error:
        return Outcome(error=as_value(error, here or "a worker process could not load its work"))


def do_on_cluster(version: str, run: str, work: bytes, packed: bytes) -> Outcome:
    """Do the same in a Dask worker, if its vqagen is of the `version` that asks. Everything comes packed by zlib."""
    here = f"the worker on {socket.gethostname()}"
    if version != __version__:
        return Outcome(error=VqagenError(f"{here} has vqagen {__version__}; this run is by {version}"))
    with _one_at_a_time:
        return do_window(run, zlib.decompress(work), zlib.decompress(packed), here)


@lru_cache(maxsize=1)
def _loaded(run: str, packed: bytes) -> WindowTask:
    """Load the task of a work, without the warnings, which the asking process has issued.

    The garbage collector takes 1.2 s of the 1.4 s in which 9,000 templates load: it is off meanwhile.
    """
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)
            work: Work = pickle.loads(packed)
            return work.load()
    finally:
        gc.freeze()
        gc.enable()


def _outcome(task: WindowTask, packed: bytes) -> Outcome:
    blocks: Sequence[Block] = ()
    failure: VqagenError | WindowFailed | None = None
    where = "a window that cannot be read"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        try:
            items: Sequence[Item] = pickle.loads(packed)
            where = span_of(items)
            blocks = list(task(items))
        except Exception as error:
            failure = as_value(error, where)
    problems = tuple(each.message.problem for each in caught if isinstance(each.message, InputWarning))
    return Outcome(blocks, failure, problems)


def as_value(error: Exception, where: str) -> VqagenError | WindowFailed:
    """Return an error that can be sent to another process: the user's as it is, any other with its traceback.

    Of a class of somebody else's, such as a plug-in's, only the message can: it may not be made again there.
    """
    if isinstance(error, VqagenError):
        return error if type(error).__module__.startswith("vqagen.") else VqagenError(str(error))
    if is_out_of_memory(error):
        return VqagenError(f"{where}: out of memory in a worker; start fewer workers")
    return WindowFailed(f"{where}:\n{''.join(traceback.format_exception(error))}")


def pack_work(work: Work) -> bytes:
    """Return a work as it is sent to workers. VqagenError if it holds what cannot be sent to another process."""
    try:
        return pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise VqagenError(f"cannot be done by other processes than this one: {error}") from error
