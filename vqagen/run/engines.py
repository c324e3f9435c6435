"""Engines do the windows of a run in several processes of this machine, and yield their blocks; the workers' side too.

Works, windows and outcomes travel to workers as bytes. An engine for other workers, such as those of a Dask cluster, is
a subclass of `WorkerEngine` with four short methods.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import traceback
import warnings
import zlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from vqagen import __version__
from vqagen.errors import InputWarning, Problem, VqagenError, is_out_of_memory, warn
from vqagen.run.blocks import Block
from vqagen.run.windows import MakeBlocks, Window, WindowFailed, Windows, Work
from vqagen.tasks.contract import Item

AHEAD = 4
"""Windows for each worker that may be begun before the first of them is done: this bounds memory."""
TRIES = 3
"""Workers that may die of a window before the run fails."""


Request = tuple[bytes, int, bytes]
"""A pickled work, the first item of a window to write records about, and the pickled items of the window."""


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


def pack_work(work: Work) -> bytes:
    """Return a work as it is sent to workers. Raises VqagenError if a part of it cannot be pickled."""
    try:
        return pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise VqagenError(f"cannot be done by other processes than this one: {error}") from error


class WorkerEngine(ABC):
    """Workers, here or elsewhere: windows are begun in order and finished in any."""

    def __call__(self, work: Work, windows: Windows) -> Generator[Block]:
        """Yield blocks as they are finished.

        An error of a window, or of reading one, is raised when all windows before it are done.
        """
        begun: deque[tuple[Sequence[Item], Any]] = deque()
        failure: Exception | None = None
        self.finished = SimpleQueue[Block | None]()
        with self.opened(work):
            while True:
                ahead = self.ahead()
                try:
                    while failure is None and len(begun) < ahead and (window := next(windows, None)):
                        begun.append(self._begin(*window))
                except Exception as error:  # of any kind: the blocks of begun windows come first
                    failure = error
                if not begun:
                    break
                items, future = begun.popleft()
                while not (future.done() and self.finished.empty()):
                    if block := self.next_finished():
                        yield block
                outcome = self.outcome(future, items)
                yield from outcome.blocks
                for problem in outcome.warnings:
                    warn(problem)
                if outcome.error is not None:
                    raise outcome.error
        if failure is not None:
            raise failure

    def _begin(self, first: int, window: Window) -> tuple[Sequence[Item], Any]:
        items = list(window)
        future = self.submit(first, items)
        future.add_done_callback(lambda _: self.finished.put(None))
        return items, future

    def next_finished(self) -> Block | None:
        """Wait for the next block; None if a window was done instead."""
        return self.finished.get()

    @abstractmethod
    def opened(self, work: Work) -> AbstractContextManager[None]:
        """Start workers for a work; when the context ends, end all that was started."""

    @abstractmethod
    def ahead(self) -> int:
        """Return how many windows may be begun before the first of them is done."""

    @abstractmethod
    def submit(self, first: int, items: Sequence[Item]) -> Any:
        """Begin a window, and return its future; until that is done, `finished` may get blocks of the window."""

    @abstractmethod
    def outcome(self, future: Any, items: Sequence[Item]) -> Outcome:
        """Return the outcome of a window that is done. Errors of the window are in it; lost workers are raised."""


class Processes(WorkerEngine):
    """The engine with `workers` processes of this machine.

    Each process is driven by a thread of this one, which gives it one window at a time and reads its outcome: so the
    window that a process died of is known. A `ProcessPoolExecutor` breaks as a whole when one of its processes dies.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers

    @contextmanager
    def opened(self, work: Work) -> Iterator[None]:
        """Start threads; a process is started when a window needs one."""
        self._work, self._is_closed = pack_work(work), False
        self._started: list[_Process] = []
        self._idle: SimpleQueue[_Process | None] = SimpleQueue()
        for _ in range(self.workers):
            self._idle.put(None)
        self._threads = ThreadPoolExecutor(self.workers)
        try:
            yield
        finally:
            self._is_closed = True
            for process in self._started:
                process.end()
            self._threads.shutdown(cancel_futures=True)

    def ahead(self) -> int:
        """Return AHEAD for each process."""
        return AHEAD * self.workers

    def submit(self, first: int, items: Sequence[Item]) -> Future[Outcome]:
        """Begin a window as soon as a process is idle."""
        return self._threads.submit(self._do, first, items)

    def outcome(self, future: Future[Outcome], items: Sequence[Item]) -> Outcome:
        """Return the outcome of a window."""
        return future.result()

    def _do(self, first: int, items: Sequence[Item]) -> Outcome:
        """Do a window in a process, and the rest of it in another one if that dies; give up at the last of TRIES."""
        process, packed, deaths = self._idle.get(), pickle.dumps(items), list[str]()
        try:
            while len(deaths) < TRIES:
                process = process or self._start()
                try:
                    answer = process.ask((self._work, first, packed))
                    while isinstance(answer, Block):
                        self.finished.put(answer)
                        first = answer.end
                        answer = process.answer()
                    return replace(answer, warnings=(*_begun_again(deaths), *answer.warnings))
                except (EOFError, OSError):
                    deaths.append(f"a worker process {process.end()} while doing {span_of(items)}")
                    process = None
            *before, last = deaths
            return Outcome(VqagenError(f"{last}: given up after {TRIES} times"), _begun_again(before))
        finally:
            self._idle.put(process)

    def _start(self) -> _Process:
        process = _Process()
        self._started.append(process)
        if self._is_closed:  # since this thread last looked: `opened` may have missed it
            process.end()
            raise CancelledError
        return process


def _begun_again(deaths: Sequence[str]) -> tuple[Problem, ...]:
    return tuple(Problem(f"{death}: begun again") for death in deaths)


class _Process:
    """A worker process and the connection to it. It ends when this process does, however that ends.

    Unlike those of `multiprocessing`, it does not import the user's main module again.
    """

    def __init__(self) -> None:
        self._connection, theirs = Pipe()
        path = [entry for entry in sys.path if isinstance(entry, str)]  # a `Path` there has no effect, and no literal
        code = f"import sys; sys.path[:] = {path!r}; from vqagen.run.engines import serve; serve({theirs.fileno()})"
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl-C in a terminal is for the parent
            )
        except OSError as error:
            raise VqagenError(f"cannot start a worker process: {error.strerror or error}") from error
        finally:
            theirs.close()

    def ask(self, request: Request) -> Block | Outcome:
        """Send a request and return the first answer. Raises EOFError or OSError if the process is dead."""
        self._connection.send(request)
        return self.answer()

    def answer(self) -> Block | Outcome:
        """Return the next answer: each block of the window, and its outcome at the end."""
        answer: Block | Outcome = self._connection.recv()
        return answer

    def end(self) -> str:
        """End the process, unless it has ended, and return how it ended."""
        self._process.kill()
        code = self._process.wait()
        if code == -signal.SIGKILL:
            return "was killed by SIGKILL (out of memory?)"
        return f"ended with exit code {code}" if code >= 0 else f"was killed ({signal.strsignal(-code)})"


# The worker's side of every engine -----------------------------------------------------------------------------------

_one_at_a_time = threading.Lock()
"""Generating is not made for threads: a Dask worker with several does one window after the other."""


def serve(descriptor: int) -> None:
    """Answer requests as a process of `Processes`, until the other end of the connection is closed.

    Signals are ignored: Ctrl-C and a batch system's SIGTERM reach all processes of a job, and the parent ends them.
    """
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
