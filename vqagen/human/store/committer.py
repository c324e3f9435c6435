"""The one thread that writes: it gathers waiting writes, stores them in one step, and only then says so."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from vqagen.human.store.store import Outcome, Store, StoreError, Write

LARGEST_BATCH = 256
"""Writes that share one wait for the disk."""

T = TypeVar("T")
Read = Callable[[Store], Any]


@dataclass(frozen=True, slots=True)
class _Job:
    """A write or a read that somebody waits for."""

    work: Write | Read
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


class Committer:
    """Writes and reads of one store, asked for by any event loop and done in one thread.

    A write returns when it is durable. It raises StoreError if it may not be: the store failed, or the committer was
    stopped before. After a failure the store is opened again for the next batch, so that nothing needs a restart.
    """

    def __init__(self, open: Callable[[], Store]) -> None:
        """Open the store by calling `open` in the thread; raise what that raises."""
        self._open = open
        self._store: Store | None = None
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._stopping = threading.Event()
        self._gate = threading.Lock()
        self._failure: BaseException | None = None
        opened = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(opened,), name="vqagen-committer", daemon=True)
        self._thread.start()
        opened.wait()
        if self._failure is not None:
            self._thread.join()
            raise self._failure

    async def write(self, write: Write) -> Outcome:
        """Return the outcome of a write when it is durable."""
        outcome: Outcome = await self._wait(write)
        return outcome

    async def read(self, read: Callable[[Store], T]) -> T:
        """Return the result of a function of the store, called in the thread. It sees all acknowledged writes."""
        result: T = await self._wait(read)
        return result

    def stop(self) -> None:
        """Finish what was asked for, close the store and end the thread. Later requests raise StoreError."""
        with self._gate:
            if not self._stopping.is_set():
                self._stopping.set()
                self._jobs.put(None)
        self._thread.join()

    async def _wait(self, work: Write | Read) -> Any:
        loop = asyncio.get_running_loop()
        job = _Job(work, loop, loop.create_future())
        with self._gate:
            if self._stopping.is_set():
                raise StoreError("the store is closed: the server is stopping")
            self._jobs.put(job)
        return await job.future

    # In the thread ---------------------------------------------------------------------------------------------------

    def _run(self, opened: threading.Event) -> None:
        try:
            self._store = self._open()
        except BaseException as error:
            self._failure = error
            return
        finally:
            opened.set()
        jobs: list[_Job] | None = None
        try:
            while (jobs := self._gather()) is not None:
                self._finish(jobs)
        finally:
            self._refuse_rest(jobs or [])
            self._close()

    def _gather(self) -> list[_Job] | None:
        """Wait for a job; return it with all that wait behind it. None when all is done."""
        first = self._jobs.get()
        if first is None:
            return None
        jobs = [first]
        with suppress(Empty):
            while len(jobs) < LARGEST_BATCH:
                job = self._jobs.get_nowait()
                if job is None:
                    self._jobs.put(None)  # the next round ends
                    break
                jobs.append(job)
        return jobs

    def _finish(self, jobs: Sequence[_Job]) -> None:
        """Do the writes in one step, then the reads."""
        writes = [job for job in jobs if not callable(job.work)]
        if writes:
            self._answer(writes, self._commit([job.work for job in writes]))  # type: ignore[misc]
        for job in jobs:
            if callable(job.work):
                self._answer([job], [self._attempt(job.work)])

    def _commit(self, writes: list[Write]) -> list[Outcome | BaseException]:
        done = self._attempt(lambda store: store.apply(writes))
        if isinstance(done, StoreError):
            return [StoreError(str(done)) for _ in writes]
        if isinstance(done, BaseException):  # a mistake in one write must not fail the others
            return [done] if len(writes) == 1 else [self._commit([write])[0] for write in writes]
        return list(done)

    def _attempt(self, work: Read) -> Any:
        """Return the result or the error. After a StoreError the store is opened again when it is needed next."""
        try:
            if self._store is None:
                self._store = self._open()
            return work(self._store)
        except StoreError as error:
            self._close()
            return error
        except Exception as error:  # raised where it is awaited
            return error

    def _refuse_rest(self, unfinished: list[_Job]) -> None:
        """Fail what is still asked for, so that nobody waits in vain if the thread ends by a mistake of ours."""
        with self._gate:
            self._stopping.set()
        with suppress(Empty):
            while True:
                if (job := self._jobs.get_nowait()) is not None:
                    unfinished.append(job)
        self._answer(unfinished, [StoreError("the store is closed by an internal error") for _ in unfinished])

    def _close(self) -> None:
        if self._store is not None:
            with suppress(StoreError):
                self._store.close()
            self._store = None

    def _answer(self, jobs: Sequence[_Job], results: Sequence[Any]) -> None:
        """Hand results over, with one call for each event loop."""
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = {}
        for job, result in zip(jobs, results, strict=True):
            by_loop.setdefault(job.loop, []).append((job.future, result))
        for loop, pairs in by_loop.items():
            with suppress(RuntimeError):  # the loop was closed: nobody waits
                loop.call_soon_threadsafe(_settle, pairs)


def _settle(pairs: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, result in pairs:
        if future.done():  # cancelled: the request was given up
            continue
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)
