"""The one writer: it acknowledges what the log has, and knows after a failure what the log has."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from human_stores import STUDY, Faulty

from vqagen.human.store.facts import Claimed
from vqagen.human.store.opening import StoreError, load_roster
from vqagen.human.store.writer import LARGEST_BATCH, Writer


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[Faulty]:
    faulty = Faulty(tmp_path / "answers.sqlite")
    yield faulty
    faulty.gate.set()


def running(faulty: Faulty, work: Callable[[Writer], Coroutine[Any, Any, Any]]) -> Any:
    """Run `work` with a writer, and close it."""

    async def whole() -> Any:
        writer = Writer(faulty)
        try:
            return await work(writer)
        finally:
            faulty.gate.set()
            await writer.close()

    return asyncio.run(whole())


async def claim(writer: Writer, rater: str) -> str:
    """Let a rater consent; return the assignment when it is acknowledged."""
    roster = await writer.roster()
    grant = roster.claim(Claimed(0, "", rater, 0, "c", 9), {"t": 3}, 600, None, 1)
    await writer.commit(grant.facts)
    return grant.assignment


def test_commits_that_wait_share_one_batch(faulty: Faulty) -> None:
    """The first goes alone; all that come while it is being written go together, and closing waits for them."""

    async def work(writer: Writer) -> list[asyncio.Task[str]]:
        faulty.gate.clear()
        first = asyncio.create_task(claim(writer, "first"))
        await asyncio.to_thread(faulty.is_writing.wait)
        others = [asyncio.create_task(claim(writer, f"r{number}")) for number in range(LARGEST_BATCH + 10)]
        await asyncio.sleep(0)  # every one of them begins and asks
        return [first, *others]

    made = [task.result() for task in running(faulty, work)]

    assert faulty.batches == [1, LARGEST_BATCH, 10]
    assert list(load_roster(faulty.path, STUDY).assignments) == made == [f"t-{number}-0" for number in range(267)]


def test_a_commit_of_nothing_waits_for_what_took_effect_before(faulty: Faulty) -> None:
    """So that what is answered from memory is as durable as what is written."""

    async def work(writer: Writer) -> list[str]:
        faulty.gate.clear()
        ended = list[str]()
        first = asyncio.create_task(claim(writer, "a"))
        first.add_done_callback(lambda _: ended.append("a"))
        await asyncio.to_thread(faulty.is_writing.wait)
        again = asyncio.create_task(claim(writer, "a"))
        again.add_done_callback(lambda _: ended.append("again"))
        await asyncio.sleep(0)
        assert ended == []
        faulty.gate.set()
        await asyncio.gather(first, again)
        return ended

    assert running(faulty, work) == ["a", "again"]
    assert faulty.batches == [1]


@pytest.mark.parametrize("is_late", [False, True])
def test_after_a_failure_the_log_says_what_was_kept(faulty: Faulty, is_late: bool) -> None:
    """As when the disk was full, or when Redis did it and did not say so. Every waiting commit fails."""

    async def work(writer: Writer) -> list[Any]:
        await writer.roster()
        faulty.failure, faulty.is_late = StoreError("no answer"), is_late
        failed = await asyncio.gather(*(claim(writer, rater) for rater in "abc"), return_exceptions=True)
        faulty.failure = None
        known = list((await writer.roster()).assignments)
        return [failed, known, await claim(writer, "d"), await claim(writer, "a")]

    failed, known, made, again = running(faulty, work)

    assert [str(each) for each in failed] == ["no answer"] * 3
    assert known == (["t-0-0", "t-1-0", "t-2-0"] if is_late else [])
    assert (made, again) == (("t-3-0", "t-0-0") if is_late else ("t-0-0", "t-1-0"))
    assert faulty.opened == 2
