"""The thread that writes: it says that an answer is kept only when it is."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from human_stores import STUDY, claim, submit

from vqagen.human.store.committer import LARGEST_BATCH, Committer
from vqagen.human.store.opening import open_store
from vqagen.human.store.store import Outcome, Store, StoreError, Write

PLACE = "answers.sqlite"


class Watched:
    """A store that can be made to wait or to fail, and notes how many writes came together."""

    def __init__(self, store: Store, control: Control) -> None:
        self._store, self._control = store, control

    def apply(self, writes: Sequence[Write]) -> list[Outcome]:
        self._control.is_writing.set()
        self._control.gate.wait()
        self._control.batches.append(len(writes))
        if self._control.failure is not None:
            raise self._control.failure
        return self._store.apply(writes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class Control:
    """Opens a watched store and steers it."""

    def __init__(self, path: Path) -> None:
        self.path, self.gate, self.batches = path, threading.Event(), list[int]()
        self.is_writing = threading.Event()
        self.failure: Exception | None = None
        self.opened = 0
        self.gate.set()

    def open(self) -> Any:
        self.opened += 1
        return Watched(open_store(self.path, STUDY, create=True), self)


@pytest.fixture
def control(tmp_path: Path) -> Iterator[Control]:
    control = Control(tmp_path / PLACE)
    yield control
    control.gate.set()


def running(control: Control, work: Callable[[Committer], Coroutine[Any, Any, Any]]) -> Any:
    """Run `work` with a committer, and stop it."""
    committer = Committer(control.open)
    try:
        return asyncio.run(work(committer))
    finally:
        control.gate.set()
        committer.stop()


def test_writes_that_wait_share_one_batch(control: Control) -> None:
    """The first goes alone; all that come while it is being written go together."""

    async def work(committer: Committer) -> list[Outcome]:
        control.gate.clear()
        first = asyncio.create_task(committer.write(claim("a", slots=600)))
        await asyncio.to_thread(control.is_writing.wait)
        others = [asyncio.create_task(committer.write(claim(f"r{n}", slots=600))) for n in range(LARGEST_BATCH + 10)]
        await asyncio.sleep(0)  # every one of them begins and asks
        control.gate.set()
        return await asyncio.gather(first, *others)

    outcomes = running(control, work)

    assert control.batches == [1, LARGEST_BATCH, 10]
    assert [each.id for each in outcomes] == [f"t-{number}-0" for number in range(LARGEST_BATCH + 11)]


def test_every_write_of_a_failed_batch_fails_and_the_next_is_kept(control: Control) -> None:
    """As when the disk is full, and then is not."""

    async def work(committer: Committer) -> list[Any]:
        control.failure = StoreError("the disk is full")
        failed = await asyncio.gather(*(committer.write(claim(r)) for r in "abc"), return_exceptions=True)
        control.failure = None
        return [*failed, await committer.write(claim("d"))]

    *failed, made = running(control, work)

    assert [str(each) for each in failed] == ["the disk is full"] * 3
    assert made.id == "t-0-0"
    assert control.opened == 2


def test_a_write_that_cannot_be_stored_fails_alone(control: Control) -> None:
    """A number that is too large for the database, in a batch with answers of others."""

    async def work(committer: Committer) -> list[Any]:
        await asyncio.gather(committer.write(claim("a")), committer.write(claim("b")))
        writes = [submit("t-0-0", 1, 5), submit("t-1-0", 1, 2**70), submit("t-1-0", 2, 5)]
        return await asyncio.gather(*map(committer.write, writes), return_exceptions=True)

    outcomes = running(control, work)

    assert [type(each).__name__ for each in outcomes] == ["Submitted", "OverflowError", "Submitted"]


def test_stopping_keeps_all_that_was_asked_for_and_refuses_the_rest(control: Control) -> None:
    async def work(committer: Committer) -> list[Any]:
        control.gate.clear()
        asked = [asyncio.create_task(committer.write(claim(f"r{n}", slots=600))) for n in range(300)]
        await asyncio.sleep(0)  # every one of them begins and asks
        stopping = asyncio.create_task(asyncio.to_thread(committer.stop))
        await asyncio.to_thread(committer._stopping.wait)
        with pytest.raises(StoreError, match="stopping"):
            await committer.write(claim("late"))
        control.gate.set()
        await stopping
        return await asyncio.gather(*asked)

    made = running(control, work)

    kept = open_store(control.path, STUDY, create=False, read_only=True)
    assert {each.id for each in kept.assignments()} == {each.id for each in made}
    assert len(made) == 300
    kept.close()
