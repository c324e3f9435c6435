"""The one writer of a study: facts take effect in memory at once, and are acknowledged when the log has them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

from vqagen.human.store.facts import Fact, Log, StoreError
from vqagen.human.store.study_state import StudyState

LARGEST_BATCH = 256
"""Commits that share one wait for the disk."""

T = TypeVar("T")
Commit = tuple[Sequence[tuple[int, bytes]], Sequence[int], asyncio.Future[None]]
"""Entries to append, numbers to erase, and who waits for it."""


class Writer:
    """The state of a study, and its log, which a thread of its own writes. For one event loop.

    Decide by the state and commit without awaiting anything between. Make the reply to a rater before the commit is
    awaited, so that it tells of nothing later. After a failure every commit that waits raises StoreError, and the log
    is opened and read again before the next decision: nothing needs a restart.
    """

    def __init__(self, open: Callable[[], Log]) -> None:
        self._open, self._thread, self._reading = open, ThreadPoolExecutor(1, "vqagen-writer"), asyncio.Lock()
        self._log: Log | None = None
        self._study_state: StudyState | None = None
        """None before the log is read, and after a failure: it holds facts that the log may lack."""
        self._waiting: list[Commit] = []
        self._work: asyncio.Task[None] | None = None

    async def study_state(self) -> StudyState:
        """Return the state."""
        while self._study_state is None:
            async with self._reading:
                self._study_state = self._study_state or await self._in_thread(lambda log: StudyState(log.facts()))
        return self._study_state

    def commit(self, facts: Iterable[Fact], erase: Sequence[int] = ()) -> asyncio.Future[None]:
        """Let facts take effect at once. The future is done when they and all that took effect before are durable."""
        assert self._study_state is not None, "decisions are made by the state"
        entries, done = self._study_state.take(facts), asyncio.get_running_loop().create_future()
        if entries or self._work:
            self._waiting.append((entries, erase, done))
            self._work = self._work or asyncio.create_task(self._write())
        else:
            done.set_result(None)
        return done

    async def beat(self) -> None:
        """Return when something was written as durably as facts are."""
        await self.study_state()
        await self._in_thread(lambda log: log.beat())

    async def close(self) -> None:
        """Close the log when all that was committed is in it."""
        if self._work:
            await self._work
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    async def _write(self) -> None:
        """Append what waits, batch by batch."""
        while self._waiting:
            batch, self._waiting = self._waiting[:LARGEST_BATCH], self._waiting[LARGEST_BATCH:]
            failure = None
            try:
                await self._in_thread(partial(_append, batch))
            except Exception as error:  # raised where it is awaited
                failure, self._study_state = error, None
                batch, self._waiting = batch + self._waiting, []
            for *_, done in batch:
                if not done.done():  # a request that is given up cancels it
                    done.set_exception(failure) if failure else done.set_result(None)
        self._work = None

    async def _in_thread(self, work: Callable[[Log], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, work)

    def _run(self, work: Callable[[Log], T]) -> T:
        """Do work with the log. It is closed after an error, and opened again when it is needed next."""
        try:
            self._log = self._log or self._open()
            return work(self._log)
        except Exception:
            self._close()
            raise

    def _close(self) -> None:
        if self._log:
            with suppress(StoreError):
                self._log.close()
            self._log = None


def _append(batch: Sequence[Commit], log: Log) -> None:
    """Append all in one step; a batch may have nothing to append."""
    if entries := [entry for appended, _, _ in batch for entry in appended]:
        log.append(entries, [number for _, erase, _ in batch for number in erase])
