"""Both stores do what plain dictionaries do, whatever is asked of them in whatever order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from human_stores import STORES, STUDY, content
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive_store import NaiveStore
from redis_servers import redis_server

from vqagen.human.store.opening import open_store
from vqagen.human.store.store import (
    Claim,
    Complete,
    Forget,
    Log,
    Reclaim,
    Store,
    Submit,
    Withdraw,
    Write,
)

RATERS, TASKS = "abcd", ("s", "t", "u-1")
ASSIGNMENTS = [f"{task}-{slot}-{attempt}" for task in TASKS for slot in (0, 1) for attempt in (0, 1)]

raters, assignments = st.sampled_from(RATERS), st.sampled_from(ASSIGNMENTS)
times = st.integers(0, 20)
tasks = st.lists(st.sampled_from(TASKS), min_size=1, unique=True).map(tuple)
texts = st.sampled_from(["", "x", "é", "answer_new", "1 2 3 "])
claims = st.builds(
    Claim,
    rater=raters,
    platform=st.just("id"),
    person=texts,
    tasks=tasks,
    slots=st.just(2),
    only_slot=st.sampled_from([None, None, 0, 1]),
    most=st.integers(1, 3),
    consent=st.just("c"),
    lease=st.integers(1, 10),
    now=times,
)
submits = st.builds(
    Submit,
    assignment=assignments,
    trial=st.integers(1, 3),
    value=st.integers(1, 3),
    rt_ms=times,
    shown_ms=times,
    blur=times,
    idem=st.sampled_from(["", "x", "y", "z"]),
    now=times,
)
others = st.one_of(
    st.builds(Complete, assignments, st.integers(0, 2), times),
    st.builds(Withdraw, assignments, st.booleans(), times),
    st.builds(Reclaim, times),
    st.builds(Log, assignments, st.sampled_from(["focus", "answered"]), texts, times),
)
forgets = st.builds(Forget, st.lists(raters, max_size=2).map(tuple), times)
writes: st.SearchStrategy[Write] = st.one_of(claims, claims, submits, submits, submits, others, others, forgets)
batches = st.lists(st.lists(writes, min_size=1, max_size=4), max_size=12)


@pytest.fixture(scope="module", params=STORES)
def emptied(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Store]]:
    """Opens an empty store."""
    with ExitStack() as stack:
        if request.param == "redis":
            server = stack.enter_context(redis_server(tmp_path_factory.mktemp("redis")))
            client = stack.enter_context(server.client())

            def emptied() -> Store:
                client.flushall()
                return open_store(server.url, STUDY, create=True)
        else:
            path = tmp_path_factory.mktemp("sqlite") / "answers.sqlite"

            def emptied() -> Store:
                for file in path.parent.iterdir():
                    file.unlink()
                return open_store(path, STUDY, create=True)

        yield emptied


def compare(emptied: Callable[[], Store], batches: list[list[Write]]) -> None:
    """Apply the same batches to a store and to its plain twin."""
    store, naive = emptied(), NaiveStore()
    try:
        for batch in batches:
            assert store.apply(batch) == naive.apply(batch), batch
        assert content(store) == naive.content()
    finally:
        store.close()


def test_a_store_does_what_dictionaries_do(emptied: Callable[[], Store]) -> None:
    """Outcomes after every batch, and all that is kept at the end."""

    @settings(max_examples=15, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(batches)
    def check(batches: list[list[Write]]) -> None:
        compare(emptied, batches)

    check()


@pytest.mark.slow
def test_a_store_does_what_dictionaries_do_in_three_hundred_stories(emptied: Callable[[], Store]) -> None:
    @settings(max_examples=300, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(batches)
    def check(batches: list[list[Write]]) -> None:
        compare(emptied, batches)

    check()
