"""The one writer: it acknowledges what the log has, and knows after a failure what the log has."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from human_stores import STUDY, Faulty

from vqagen.human.store.facts import Claimed, StoreError
from vqagen.human.store.opening import read_facts
from vqagen.human.store.study_state import StudyState
from vqagen.human.store.writer import LARGEST_BATCH, Writer

pytestmark = pytest.mark.anyio


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[Faulty]:
    faulty = Faulty(tmp_path / "answers.sqlite")
    yield faulty
    faulty.gate.set()


@pytest.fixture
def writer(faulty: Faulty) -> Writer:
    """A writer, which each test closes."""
    return Writer(faulty)


async def claim(writer: Writer, rater: str) -> str:
    """Let a rater consent; return the assignment when it is acknowledged."""
    study_state = await writer.study_state()
    grant = study_state.claim(Claimed(0, "", rater, 0, "c", 9), {"t": 3}, 600, None, 1)
    await writer.commit(grant.facts)
    return grant.assignment


async def test_commits_that_wait_share_one_batch(faulty: Faulty, writer: Writer) -> None:
    """The first goes alone; all that come while it is being written go together, and closing waits for them."""
    faulty.gate.clear()
    first = asyncio.create_task(claim(writer, "first"))
    await asyncio.to_thread(faulty.is_writing.wait)
    others = [asyncio.create_task(claim(writer, f"r{number}")) for number in range(LARGEST_BATCH + 10)]
    await asyncio.sleep(0)  # every one of them begins and asks
    faulty.gate.set()
    await writer.close()

    made = [task.result() for task in (first, *others)]
    assert faulty.batches == [1, LARGEST_BATCH, 10]
    stored = StudyState(read_facts(faulty.path, STUDY))
    assert list(stored.assignments) == made == [f"t-{number}-0" for number in range(267)]


async def test_a_commit_of_nothing_waits_for_what_took_effect_before(faulty: Faulty, writer: Writer) -> None:
    """So that what is answered from memory is as durable as what is written."""
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
    await writer.close()

    assert ended == ["a", "again"]
    assert faulty.batches == [1]


@pytest.mark.parametrize("is_late", [False, True])
async def test_after_a_failure_the_log_says_what_was_kept(faulty: Faulty, writer: Writer, is_late: bool) -> None:
    """As when the disk was full, or when Redis did it and did not say so. Every waiting commit fails."""
    await writer.study_state()
    faulty.failure, faulty.is_late = StoreError("no answer"), is_late
    failed = await asyncio.gather(*(claim(writer, rater) for rater in "abc"), return_exceptions=True)
    faulty.failure = None
    known = list((await writer.study_state()).assignments)
    made = [await claim(writer, rater) for rater in "da"]
    await writer.close()

    assert [str(each) for each in failed] == ["no answer"] * 3
    assert known == (["t-0-0", "t-1-0", "t-2-0"] if is_late else [])
    assert made == (["t-3-0", "t-0-0"] if is_late else ["t-0-0", "t-1-0"])
    assert faulty.opened == 2
