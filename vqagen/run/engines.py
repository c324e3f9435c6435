"""Engines do the windows of a run and yield their blocks in order: in this process, or in several on this machine.

An engine for other workers (see `cluster`) is a class with `submit`, `outcome`, `ahead` and `close`, and `in_order`.
"""

from __future__ import annotations

import pickle
import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from multiprocessing import get_context
from types import ModuleType
from typing import Protocol, TypeVar

from vqagen.errors import Problem, VqagenError, warn
from vqagen.run.work import Block, Outcome, Window, Work, span_of
from vqagen.run.worker import begin_process, do_window, pack_work, unpack_outcome
from vqagen.tasks.contract import Item

AHEAD = 4
"""Windows for each worker that may be begun before the first of them is written: this bounds memory."""
TRIES = 3
"""Deaths of workers over a window before the run fails."""
Promise = TypeVar("Promise")


class Workers(Protocol[Promise]):
    """Processes that do windows, here or elsewhere. Closed, they leave nothing running."""

    def ahead(self) -> int:
        """Return how many windows may be begun before the first of them is written."""

    def submit(self, items: Sequence[Item]) -> Promise:
        """Begin a window."""

    def outcome(self, promise: Promise, items: Sequence[Item]) -> Outcome:
        """Wait for a window that was begun. Errors of the window are in its outcome; lost workers are raised."""

    def close(self) -> None:
        """End what was begun."""


def in_process(work: Work, windows: Iterator[Window]) -> Generator[Block]:
    """Yield the blocks of all windows, which are read, done and written one after the other in this process."""
    task = work.load()
    for window in windows:
        yield from task(window)


def in_order(workers: Workers[Promise], windows: Iterator[Window]) -> Generator[Block]:
    """Yield the blocks of all windows in order. An error of a window, or of reading one, is raised in its turn."""
    begun: deque[tuple[Sequence[Item], Promise]] = deque()
    failure: Exception | None = None
    with closing(workers):
        while True:
            ahead = workers.ahead()
            while failure is None and len(begun) < ahead:
                try:
                    items = list(next(windows, ()))
                except Exception as error:  # of any kind: the blocks of begun windows come first
                    failure = error
                    break
                if not items:
                    break
                begun.append((items, workers.submit(items)))
            if not begun:
                break
            window, promise = begun.popleft()
            yield from workers.outcome(promise, window).unwrap()
    if failure is not None:
        raise failure


class Processes:
    """The engine with `workers` processes of this machine."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def __call__(self, work: Work, windows: Iterator[Window]) -> Generator[Block]:
        """Yield the blocks of all windows, in order. No worker outlives the generator."""
        yield from in_order(_ProcessPool(work, self.workers), windows)


class _ProcessPool:
    """A pool of processes for one work; the executor is made anew when a process has died."""

    def __init__(self, work: Work, size: int) -> None:
        self._work, self._size = pack_work(work), size
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")  # forked processes would inherit locks that other threads hold
        lifeline, self._lifeline = context.Pipe(duplex=False)
        self._executor = ProcessPoolExecutor(self._size, context, begin_process, (lifeline,))

    def ahead(self) -> int:
        return AHEAD * self._size

    def submit(self, items: Sequence[Item]) -> Future[bytes]:
        """Begin a window. If a process has died, the pool is broken: start another one."""
        packed = pickle.dumps(items)
        with main_not_imported():
            try:
                return self._executor.submit(do_window, "", self._work, packed)
            except BrokenProcessPool:
                warn(Problem("a worker process died (was it killed, or out of memory?): its windows are begun again"))
                self.close()
                self._start()
                return self._executor.submit(do_window, "", self._work, packed)
            except OSError as error:
                raise VqagenError(f"cannot start a worker process: {error.strerror or error}") from error

    def outcome(self, promise: Future[bytes], items: Sequence[Item]) -> Outcome:
        """Wait for a window. If a process died over any window, do this one again, now alone in a pool.

        The second death may be that of a later window, which was begun meanwhile. At the third it was alone.
        """
        for attempt in range(TRIES):
            try:
                return unpack_outcome((self.submit(items) if attempt else promise).result())
            except BrokenProcessPool:
                continue
        died = f"a worker process died {TRIES} times while doing {span_of(items)}"
        return Outcome(error=VqagenError(f"given up: {died}; was it killed, or out of memory?"))

    def close(self) -> None:
        self._lifeline.close()  # a busy process would not end by the executor alone
        self._executor.shutdown(cancel_futures=True)


@contextmanager
def main_not_imported() -> Iterator[None]:
    """Start processes that do not import the user's main module again, so that a script needs no guard against it."""
    main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
