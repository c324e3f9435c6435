"""The one writer: it acknowledges what the log has, and knows after a failure what the log has."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from human_stores import STUDY

from vqagen.human.store.facts import Claimed
from vqagen.human.store.opening import Log, StoreError, load_roster, open_log
from vqagen.human.store.writer import LARGEST_BATCH, Writer


class Control:
    """Opens a log that can be made to wait or to fail, and notes how many entries came together."""

    def __init__(self, path: Path) -> None:
        self.path, self.gate, self.batches = path, threading.Event(), list[int]()
        self.is_writing = threading.Event()
        self.failure: Exception | None = None
        self.is_late = False
        self.opened = 0
        self.gate.set()

    def open(self) -> Log:
        self.opened += 1
        log = open_log(self.path, STUDY, create=True)
        append = log.append

        def watched(entries: Sequence[tuple[int, bytes]], erase: Sequence[int] = ()) -> None:
            self.is_writing.set()
            self.gate.wait()
            self.batches.append(len(entries))
            if self.failure is None or self.is_late:
                append(entries, erase)
            if self.failure is not None:
                raise self.failure

        log.append = watched  # type: ignore[method-assign]
        return log


@pytest.fixture
def control(tmp_path: Path) -> Iterator[Control]:
    control = Control(tmp_path / "answers.sqlite")
    yield control
    control.gate.set()


def running(control: Control, work: Callable[[Writer], Coroutine[Any, Any, Any]]) -> Any:
    """Run `work` with a writer, and close it."""

    async def whole() -> Any:
        writer = Writer(control.open)
        try:
            return await work(writer)
        finally:
            control.gate.set()
            await writer.close()

    return asyncio.run(whole())


async def claim(writer: Writer, rater: str) -> str:
    """Let a rater consent; return the assignment when it is acknowledged."""
    roster = await writer.roster()
    grant = roster.claim(Claimed(0, "", rater, 0, "c", 9), {"t": 3}, 600, None, 1)
    await writer.commit(grant.facts)
    return grant.assignment


def test_commits_that_wait_share_one_batch(control: Control) -> None:
    """The first goes alone; all that come while it is being written go together, and closing waits for them."""

    async def work(writer: Writer) -> list[asyncio.Task[str]]:
        control.gate.clear()
        first = asyncio.create_task(claim(writer, "first"))
        await asyncio.to_thread(control.is_writing.wait)
        others = [asyncio.create_task(claim(writer, f"r{number}")) for number in range(LARGEST_BATCH + 10)]
        await asyncio.sleep(0)  # every one of them begins and asks
        return [first, *others]

    made = [task.result() for task in running(control, work)]

    assert control.batches == [1, LARGEST_BATCH, 10]
    assert list(load_roster(control.path, STUDY).assignments) == made == [f"t-{number}-0" for number in range(267)]


def test_a_commit_of_nothing_waits_for_what_took_effect_before(control: Control) -> None:
    """So that what is answered from memory is as durable as what is written."""

    async def work(writer: Writer) -> list[str]:
        control.gate.clear()
        ended = list[str]()
        first = asyncio.create_task(claim(writer, "a"))
        first.add_done_callback(lambda _: ended.append("a"))
        await asyncio.to_thread(control.is_writing.wait)
        again = asyncio.create_task(claim(writer, "a"))
        again.add_done_callback(lambda _: ended.append("again"))
        await asyncio.sleep(0)
        assert ended == []
        control.gate.set()
        await asyncio.gather(first, again)
        return ended

    assert running(control, work) == ["a", "again"]
    assert control.batches == [1]


@pytest.mark.parametrize("is_late", [False, True])
def test_after_a_failure_the_log_says_what_was_kept(control: Control, is_late: bool) -> None:
    """As when the disk was full, or when Redis did it and did not say so. Every waiting commit fails."""

    async def work(writer: Writer) -> list[Any]:
        await writer.roster()
        control.failure, control.is_late = StoreError("no answer"), is_late
        failed = await asyncio.gather(*(claim(writer, rater) for rater in "abc"), return_exceptions=True)
        control.failure = None
        known = list((await writer.roster()).assignments)
        return [failed, known, await claim(writer, "d"), await claim(writer, "a")]

    failed, known, made, again = running(control, work)

    assert [str(each) for each in failed] == ["no answer"] * 3
    assert known == (["t-0-0", "t-1-0", "t-2-0"] if is_late else [])
    assert (made, again) == (("t-3-0", "t-0-0") if is_late else ("t-0-0", "t-1-0"))
    assert control.opened == 2
