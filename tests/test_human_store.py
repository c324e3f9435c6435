"""Both stores do what plain dictionaries do, keep what they were given, and are opened only as what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from depth import fewer
from human_stores import HOUR, STUDY, claim, claimed, content, one, submit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive_store import NaiveStore
from redis_servers import RedisServer, redis_server

from vqagen.human.store.opening import open_store
from vqagen.human.store.store import (
    CLAIMED,
    Answer,
    Claim,
    Complete,
    Forget,
    Log,
    Reclaim,
    Store,
    StoreError,
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
Opens = Callable[..., Store]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Redis server for the tests of this file."""
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("redis", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store is."""
    if request.param == "sqlite":
        return str(tmp_path / "answers.sqlite")
    server: RedisServer = request.getfixturevalue("server")
    return server.url


@pytest.fixture
def empties(place: str) -> Callable[[], None]:
    """Deletes a store."""

    def empties() -> None:
        if place.startswith("redis"):
            with pytest.importorskip("redis").Redis.from_url(place) as client:
                client.flushall()
        for file in Path(place).parent.glob("answers.sqlite*"):
            file.unlink()

    return empties


@pytest.fixture
def opens(place: str, empties: Callable[[], None]) -> Iterator[Opens]:
    """Opens the same store again and again, the options are those of `open_store`."""
    empties()
    with ExitStack() as stack:

        def opens(study: str = STUDY, **options: Any) -> Store:
            opened = open_store(place, study, **{"create": True, **options})
            stack.callback(opened.close)
            return opened

        yield opens


@pytest.fixture
def store(opens: Opens) -> Store:
    """An empty store."""
    return opens()


def test_a_store_is_opened_again_with_all_it_had(opens: Opens) -> None:
    store = opens()
    claimed(store, "a")
    store.apply([submit("t-0-0", 1, 5)])
    before = content(store)
    store.close()

    assert content(opens(create=False)) == before


def test_a_reader_sees_one_state_and_changes_nothing(opens: Opens) -> None:
    store = opens()
    claimed(store, "a")
    reader = opens(create=False, read_only=True)
    store.apply([claim("b"), submit("t-0-0", 1, 5), Complete("t-0-0", 1, 2)])

    assert [(each.rater, each.state) for each in reader.assignments()] == [("a", CLAIMED)]
    assert [getattr(reader.assignment(id), "state", "") for id in ("t-0-0", "t-1-0")] == [CLAIMED, ""]
    assert list(reader.answers("t-0-0")) == []
    assert [each.id for each in opens(create=False, read_only=True).assignments()] == ["t-0-0", "t-1-0"]
    with pytest.raises(StoreError, match="reading only"):
        reader.apply([claim("c")])


def test_a_store_never_shows_answers_of_another_study(opens: Opens) -> None:
    """A file has one study; a Redis server may have several."""
    claimed(opens(), "a")

    with pytest.raises(StoreError, match=rf"answers of study {STUDY}, not of ffff|no answers at redis"):
        opens("ffff", create=False)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_store_is_made_only_if_asked_for(opens: Opens, read_only: bool) -> None:
    with pytest.raises(StoreError, match="no answers at"):
        opens(create=False, read_only=read_only)


def test_texts_come_back_as_they_were(store: Store) -> None:
    texts = ["", "é", "\x00", "'; DROP TABLE answer; --", "💩" * 100, 'a\\u0000\n"', "nil"]
    for number, text in enumerate(texts):
        made = claimed(store, f"r{number}", slots=9, person=f"P{text}", consent=text)
        store.apply([Log(made.id, "note", text, 1), submit(made.id, 1, 5, idem=text)])

    assert [each.person for each in store.people()] == [f"P{text}" for text in texts]
    assert [each.consent for each in store.assignments()] == texts
    assert [each.idem for each in store.answers()] == texts
    assert [each.detail for each in store.events() if each.kind == "note"] == texts


def test_large_numbers_come_back_as_they_were(store: Store) -> None:
    """Times are milliseconds since 1970, and a page may send any time it took."""
    largest = 2**53
    claimed(store, "a", now=largest - HOUR)
    one(store, submit("t-0-0", 1, 5, rt_ms=largest, shown_ms=largest, blur=largest, now=largest))

    assert list(store.answers()) == [Answer("t-0-0", 1, 5, largest, largest, largest, largest, "t-0-0/1")]
    assert [each.expires for each in store.assignments()] == [largest]


# What plain dictionaries do -----------------------------------------------------------------------------------------


def compare(store: Store, batches: list[list[Write]]) -> None:
    """Apply the same batches to a store and to its plain twin."""
    naive = NaiveStore()
    for batch in batches:
        assert store.apply(batch) == naive.apply(batch), batch
    assert content(store) == naive.content()


def test_a_store_does_what_dictionaries_do(opens: Opens, empties: Callable[[], None]) -> None:
    """Whatever is asked of it in whatever order: outcomes after every batch, and all that is kept at the end."""

    @settings(max_examples=fewer(80), derandomize=True, suppress_health_check=list(HealthCheck))
    @given(batches)
    def check(batches: list[list[Write]]) -> None:
        empties()
        store = opens()
        compare(store, batches)
        store.close()

    check()
