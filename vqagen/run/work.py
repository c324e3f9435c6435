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
from dataclasses import dataclass, field, replace
from functools import lru_cache
from queue import SimpleQueue
from typing import Any

from vqagen import __version__
from vqagen.errors import BadInput, InputWarning, Problem, VqagenError, is_out_of_memory
from vqagen.files.formats import Encode, Record
from vqagen.run.blocks import Block
from vqagen.run.windows import Window, block_of
from vqagen.tasks.contract import Item, ItemRecords, Make, Task

MakeBlocks = Callable[[Window, int], Iterator[Block]]
"""(a window's items from its first one on, the first to write records about) -> its blocks, in order."""

Windows = Iterator[tuple[int, Window]]
"""Windows, each after the first of its items to write records about."""

Engine = Callable[["Work", Windows], Generator[Block]]
"""Does windows somewhere, and yields each block as it is finished: the blocks of a window in order, windows in any.

Closed early, it leaves nothing running.
"""


@dataclass(frozen=True)
class Work:
    """Everything a process needs in order to do any window of a run of a task. Can be pickled."""

    task: Task
    hashes: Mapping[str, str]
    """The content hashes of the inputs, by role: every process must read the same."""
    encode: Encode
    loaded: Make | None = field(default=None, compare=False)
    """What this process has loaded; it stays in this process."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "loaded": None}

    def load(self) -> MakeBlocks:
        """Read what the task needs (domain, templates, …): once in each process. Raises VqagenError."""
        make = self.loaded or self.task.load(self.hashes)

        def blocks(window: Window, first: int) -> Iterator[Block]:
            tally = self.task.tally()
            return blocks_of(window, lambda items: make(items, first, tally), self.task.window, self.encode, tally.take)

        return blocks


def blocks_of(
    window: Window,
    make: Callable[[Iterable[Item]], Iterator[ItemRecords]],
    size: int,
    encode: Encode,
    take_tally: Callable[[], Mapping[str, Any]],
) -> Iterator[Block]:
    """Yield the blocks of a window; `size`: items in a window. An error of the task gets a note that names the item.

    An error of reading the items passes unchanged, and so does BadInput, which names its place. An OSError of a task,
    such as the time-out of a plug-in, becomes WindowFailed: the runner would report it as an error of writing.
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
    """How a window ended in another process. Errors come as values: not every exception can be pickled."""

    error: VqagenError | WindowFailed | None = None
    warnings: tuple[Problem, ...] = ()
    blocks: Sequence[Block] = ()
    """Blocks of the window that have not been handed over yet."""


def span_of(items: Sequence[Item]) -> str:
    """Name items for people: `scene 4`, `scenes 4 to 7`."""
    noun, first, last = items[0].noun, items[0].index, items[-1].index
    return f"{noun} {first}" if first == last else f"{noun}s {first} to {last}"


# The worker's side of every engine -----------------------------------------------------------------------------------

_one_at_a_time = threading.Lock()
"""Generating is not made for threads: a Dask worker with several does one window after the other."""


Request = tuple[bytes, int, bytes]
"""A pickled work, the first item of a window to write records about, and the pickled items of the window."""


def serve(descriptor: int) -> None:
    """Answer requests as a process of `Processes`, until the other end of the connection is closed.

    Signals are ignored: Ctrl-C and a batch system's SIGTERM reach all processes of a job, and the parent ends them.
    """
    from multiprocessing.connection import Connection  # a run in one process needs none of it

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdout = sys.stderr  # standard output is for results
    connection, requests = Connection(descriptor), SimpleQueue[Request]()

    def receive() -> None:
        try:
            while True:
                requests.put(connection.recv())
        except (EOFError, OSError):  # also in the middle of a window
            os._exit(0)

    threading.Thread(target=receive, daemon=True).start()
    try:
        while True:
            connection.send(do_window("", requests.get(), connection.send))
    except OSError:
        os._exit(0)


def do_window(run: str, request: Request, hand_over: Callable[[Block], object], worker: str = "") -> Outcome:
    """Do a window, and hand over each block when it is finished; nothing is raised.

    The work is loaded once for each `run`: between two runs its files may change. `worker` names one on another machine
    in errors.
    """
    work, first, items = request
    try:
        make_blocks = _loaded(run, work)
    except VqagenError as error:
        return Outcome(VqagenError(f"{worker}: {error}") if worker else as_value(error, ""))
    except Exception as error:
        return Outcome(as_value(error, worker or "a worker process could not load its work"))
    failure, where = None, "a window that cannot be read"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        try:
            window: Sequence[Item] = pickle.loads(items)
            where = span_of(window)
            for block in make_blocks(window, first):
                hand_over(block)
        except Exception as error:
            failure = as_value(error, where)
    return Outcome(failure, tuple(one.message.problem for one in caught if isinstance(one.message, InputWarning)))


def do_on_cluster(version: str, run: str, request: Request) -> Outcome:
    """Do a window in a Dask worker, if its vqagen has the `version` of the run. Work and items are packed by zlib."""
    worker = f"the worker on {socket.gethostname()}"
    if version != __version__:
        return Outcome(VqagenError(f"{worker} has vqagen {__version__}; this run is by {version}"))
    work, first, items = request
    blocks = list[Block]()
    with _one_at_a_time:
        outcome = do_window(run, (zlib.decompress(work), first, zlib.decompress(items)), blocks.append, worker)
    return replace(outcome, blocks=blocks)


@lru_cache(maxsize=1)
def _loaded(run: str, packed: bytes) -> MakeBlocks:
    """Load a work, without the warnings, which the asking process has issued.

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


def as_value(error: Exception, where: str) -> VqagenError | WindowFailed:
    """Return an error that can be sent to another process: the user's as it is, any other with its traceback.

    The other process may not have an error class of a plug-in, so only the message of such an error is sent.
    """
    if isinstance(error, VqagenError):
        return error if type(error).__module__.startswith("vqagen.") else VqagenError(str(error))
    if is_out_of_memory(error):
        return VqagenError(f"{where}: out of memory in a worker; start fewer workers")
    return WindowFailed(f"{where}:\n{''.join(traceback.format_exception(error))}")


def pack_work(work: Work) -> bytes:
    """Return a work as it is sent to workers. Raises VqagenError if a part of it cannot be pickled."""
    try:
        return pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise VqagenError(f"cannot be done by other processes than this one: {error}") from error
