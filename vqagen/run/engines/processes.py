"""The engine for one machine with several cores: windows go to worker processes, and their blocks come back in order.

Each worker has a pipe of its own and one window at a time, so that it is known which window a worker died of; neither a
`multiprocessing.Pool` nor a `ProcessPoolExecutor` tells.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait

from vqagen.errors import Problem, VqagenError, warn
from vqagen.run.engines.child import OUT_OF_MEMORY, start_python
from vqagen.run.engines.ordering import Begun, Ordering
from vqagen.run.engines.parcels import packed_work, unpacked_outcome
from vqagen.run.work import Block, Outcome, Window, Work, span_of

TRIES = 3
"""How often a window is begun before it is given up, if its workers die of it."""
AHEAD = 4
"""Windows for each worker that may have been begun and not yet been written."""
DYING = 30.0
"""Seconds that a process may take to end when its connection is closed."""


def available_cores() -> int:
    """The cores that this process may use: a batch system may leave it fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Processes:
    """`Processes(4)` is the engine with four workers."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def __call__(self, work: Work, windows: Iterator[Window]) -> Generator[Block]:
        """The blocks of all windows, in order. No worker outlives the generator."""
        crew = _Crew(work, self.workers, windows)
        try:
            yield from crew.blocks()
        finally:
            crew.end()


@dataclass(slots=True)
class _Assignment:
    """A window that is being done, or has to be done again."""

    window: Begun
    tries: int = 0


class _Crew:
    """The workers of one run, and what they are at."""

    def __init__(self, work: Work, size: int, windows: Iterator[Window]) -> None:
        self.work, self.size = packed_work(work), size
        self.ordering = Ordering(windows, AHEAD * size)
        self.workers: list[_Worker] = []
        self.again: list[_Assignment] = []

    def blocks(self) -> Iterator[Block]:
        """All blocks in order."""
        while self.is_at_work():
            self.listen()
            self.set_to_work()  # they go on while blocks are written
            yield from self.ordering.blocks()
        self.ordering.end()

    def is_at_work(self) -> bool:
        """Begin all windows that may begin; return true if any is being done."""
        self.set_to_work()
        return any(worker.assignment for worker in self.workers)

    def set_to_work(self) -> None:
        """Give each idle worker a window; hire workers while there are windows for them."""
        while (worker := self.idle()) or len(self.workers) < self.size:
            assignment = self.next_assignment()
            if assignment is None:
                return
            (worker or self.hired()).give(assignment)

    def hired(self) -> _Worker:
        """A new worker."""
        worker = _Worker()
        self.workers.append(worker)  # before it is sent anything, which may last and be interrupted
        _send(worker.connection, self.work)
        return worker

    def idle(self) -> _Worker | None:
        return next((worker for worker in self.workers if worker.assignment is None), None)

    def next_assignment(self) -> _Assignment | None:
        """A window to be done."""
        if self.again:
            return self.again.pop()
        window = self.ordering.begin()
        return _Assignment(window) if window else None

    def listen(self) -> None:
        """Wait until workers have something to say."""
        for connection in wait([worker.connection for worker in self.workers]):
            self.hear(next(worker for worker in self.workers if worker.connection is connection))

    def hear(self, worker: _Worker) -> None:
        """Take what a worker has to say, be it by its death."""
        try:
            outcome = unpacked_outcome(worker.connection.recv_bytes())
        except (EOFError, OSError):
            self.bury(worker)
            return
        if worker.is_ready and worker.assignment is not None:
            self.ordering.finish(worker.assignment.window.number, outcome)
            worker.assignment = None
        elif outcome.error is not None:
            self.dismiss(worker, outcome.error)
        else:
            worker.begin()

    def dismiss(self, worker: _Worker, error: Exception) -> None:
        """Let a worker go that could not load the work: no other would be able to."""
        worker.end()
        self.workers.remove(worker)
        self.ordering.stop(error)

    def bury(self, worker: _Worker) -> None:
        """Let a dead worker go; its window is done again."""
        cause = worker.last_words()
        self.workers.remove(worker)
        assignment = worker.assignment
        if assignment is None:
            return
        made = span_of(assignment.window.items)
        failure = (
            f"a worker process {cause} {'while doing' if worker.is_ready else 'before it could begin with'} {made}"
        )
        assignment.tries += 1
        if assignment.tries == TRIES:
            outcome = Outcome(error=VqagenError(f"{failure}: given up after {TRIES} times"))
            self.ordering.finish(assignment.window.number, outcome)
        else:
            warn(Problem(f"{failure}: begun again"))
            self.again.append(assignment)

    def end(self) -> None:
        for worker in self.workers:
            worker.end()


class _Worker:
    """A worker process: its connection, and the window it was given."""

    def __init__(self) -> None:
        self.connection, theirs = Pipe()
        lifeline, self._lifeline = Pipe(duplex=False)
        with theirs, lifeline:
            self._process = _start(theirs, lifeline)
        self.is_ready = False
        self.assignment: _Assignment | None = None

    def give(self, assignment: _Assignment) -> None:
        """Have a window done, as soon as the work is loaded."""
        self.assignment = assignment
        if self.is_ready:
            _send(self.connection, pickle.dumps(assignment.window.items))

    def begin(self) -> None:
        """The work is loaded."""
        self.is_ready = True
        if self.assignment is not None:
            _send(self.connection, pickle.dumps(self.assignment.window.items))

    def last_words(self) -> str:
        """How a process ended whose connection is closed; makes sure that it did."""
        try:
            return _cause(self._process.wait(timeout=DYING))
        except subprocess.TimeoutExpired:
            return "closed its connection"
        finally:
            self.end()

    def end(self) -> None:
        """Make sure that the process is gone."""
        self.connection.close()
        self._lifeline.close()
        self._process.kill()
        self._process.wait()


def _start(connection: Connection, lifeline: Connection) -> subprocess.Popen[bytes]:
    passed = (connection.fileno(), lifeline.fileno())
    try:
        return start_python(f"from vqagen.run.engines.process_worker import main; main{passed}", passed)
    except OSError as error:
        raise VqagenError(f"cannot start a worker process: {error.strerror or error}") from error


def _send(connection: Connection, packed: bytes) -> None:
    """Send to a worker that listens. If it is dead, the next attempt to hear from it tells."""
    try:
        connection.send_bytes(packed)
    except OSError:
        return


def _cause(code: int) -> str:
    if code == OUT_OF_MEMORY:
        return "ran out of memory"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:  # most real-time signals have no name
        name = f"signal {-code}"
    return f"was killed by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
