"""The engine for one machine with several cores: windows go to worker processes, and their blocks come back in order.

Each worker has a pipe of its own and one window at a time, so the window that a worker died of is known. A
`multiprocessing.Pool` or a `ProcessPoolExecutor` would not say it.
"""

from __future__ import annotations

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
"""Workers that may die of a window before the run fails."""
AHEAD = 4
"""Windows for each worker that may be begun before the first of them is written."""
DYING = 30.0
"""Seconds to wait for the end of a process whose connection is closed."""


class Processes:
    """The engine with `workers` worker processes."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def __call__(self, work: Work, windows: Iterator[Window]) -> Generator[Block]:
        """Yield the blocks of all windows, in order. No worker outlives the generator."""
        pool = _Pool(work, self.workers, windows)
        try:
            yield from pool.blocks()
        finally:
            pool.end()


@dataclass(slots=True)
class _Assignment:
    """A window for a worker, and how often workers died of it."""

    window: Begun
    deaths: int = 0


class _Pool:
    """The workers of one run, and the windows assigned to them."""

    def __init__(self, work: Work, size: int, windows: Iterator[Window]) -> None:
        self.work, self.size = packed_work(work), size
        self.ordering = Ordering(windows, AHEAD * size)
        self.workers: list[_Worker] = []
        self.again: list[_Assignment] = []

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks, in order."""
        while self.assign_windows():
            self.receive_outcomes()
            self.assign_windows()  # workers continue while blocks are written
            yield from self.ordering.blocks()
        self.ordering.end()

    def assign_windows(self) -> bool:
        """Give each idle worker a window, and start workers for more windows; return True if any worker has one."""
        while (worker := self.idle()) or len(self.workers) < self.size:
            assignment = self.next_assignment()
            if assignment is None:
                break
            (worker or self.start_worker()).give(assignment)
        return any(worker.assignment for worker in self.workers)

    def start_worker(self) -> _Worker:
        """Start a worker, and send it the work."""
        worker = _Worker()
        self.workers.append(worker)  # first: sending may be interrupted, and every worker must be ended
        _send(worker.connection, self.work)
        return worker

    def idle(self) -> _Worker | None:
        """Return a worker without a window."""
        return next((worker for worker in self.workers if worker.assignment is None), None)

    def next_assignment(self) -> _Assignment | None:
        """Return the next window; None if no window may begin now."""
        if self.again:
            return self.again.pop()
        window = self.ordering.begin()
        return _Assignment(window) if window else None

    def receive_outcomes(self) -> None:
        """Wait until a worker has an outcome or is dead, and take every outcome that is there."""
        for connection in wait([worker.connection for worker in self.workers]):
            self.receive_outcome(next(worker for worker in self.workers if worker.connection is connection))

    def receive_outcome(self, worker: _Worker) -> None:
        """Take a worker's outcome: of loading the work first, then of each window."""
        try:
            outcome = unpacked_outcome(worker.connection.recv_bytes())
        except (EOFError, OSError):
            self.remove_dead(worker)
            return
        if worker.is_ready and worker.assignment is not None:
            self.ordering.finish(worker.assignment.window.number, outcome)
            worker.assignment = None
        elif outcome.error is not None:
            self.remove_failed(worker, outcome.error)
        else:
            worker.begin()

    def remove_failed(self, worker: _Worker, error: Exception) -> None:
        """End a worker that could not load the work, and begin no more windows: other workers would fail too."""
        worker.end()
        self.workers.remove(worker)
        self.ordering.stop(error)

    def remove_dead(self, worker: _Worker) -> None:
        """Remove a dead worker, and begin its window again; fail at the last of TRIES."""
        cause = worker.exit_cause()
        self.workers.remove(worker)
        assignment = worker.assignment
        if assignment is None:
            return
        items = span_of(assignment.window.items)
        failure = (
            f"a worker process {cause} {'while doing' if worker.is_ready else 'before it could begin with'} {items}"
        )
        assignment.deaths += 1
        if assignment.deaths == TRIES:
            outcome = Outcome(error=VqagenError(f"{failure}: given up after {TRIES} times"))
            self.ordering.finish(assignment.window.number, outcome)
        else:
            warn(Problem(f"{failure}: begun again"))
            self.again.append(assignment)

    def end(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.end()


class _Worker:
    """A worker process, its connection, and the window that it has."""

    def __init__(self) -> None:
        self.connection, theirs = Pipe()
        lifeline, self._lifeline = Pipe(duplex=False)
        with theirs, lifeline:
            self._process = _start(theirs, lifeline)
        self.is_ready = False
        self.assignment: _Assignment | None = None

    def give(self, assignment: _Assignment) -> None:
        """Assign a window, and send it if the work is loaded."""
        self.assignment = assignment
        if self.is_ready:
            _send(self.connection, pickle.dumps(assignment.window.items))

    def begin(self) -> None:
        """Note that the work is loaded, and send the window."""
        self.is_ready = True
        if self.assignment is not None:
            _send(self.connection, pickle.dumps(self.assignment.window.items))

    def exit_cause(self) -> str:
        """End a process whose connection is closed, and return how it ended."""
        try:
            return _cause(self._process.wait(timeout=DYING))
        except subprocess.TimeoutExpired:
            return "closed its connection"
        finally:
            self.end()

    def end(self) -> None:
        """End the process, and wait until it has ended."""
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
    """Send to a worker that listens. The death of a worker shows when its next outcome is received."""
    try:
        connection.send_bytes(packed)
    except OSError:
        return


def _cause(code: int) -> str:
    """Return how a process with this exit code ended."""
    if code == OUT_OF_MEMORY:
        return "ran out of memory"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:  # most real-time signals have no name
        name = f"signal {-code}"
    return f"was killed by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
