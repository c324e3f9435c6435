"""The log in Redis: refused where it could lose answers, and used again as soon as the server is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from human_stores import STUDY, open_desk
from redis_servers import RedisServer, redis_server
from waiting import wait_until

from vqagen.errors import UsageError
from vqagen.human.settings import RELAXED
from vqagen.human.store import redis
from vqagen.human.store.facts import StoreError, StoreUnreachable
from vqagen.human.store.opening import open_log


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with redis_server(tmp_path / "redis") as server:
        yield server


UNSAFE = [
    ({"appendonly": "no"}, r"\(CONFIG SET appendonly yes; "),
    ({"appendfsync": "everysec"}, r"\(CONFIG SET appendfsync always; "),
    ({"no-appendfsync-on-rewrite": "yes"}, r"\(CONFIG SET no-appendfsync-on-rewrite no; "),
    ({"maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"}, r"\(CONFIG SET maxmemory-policy noeviction; "),
    ({"appendonly": "no", "appendfsync": "everysec"}, "appendonly yes, CONFIG SET appendfsync always; .*relaxed"),
]


@pytest.mark.slow
def test_a_server_that_could_lose_answers_is_refused(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a server without WAITAOF the log must always be on the disk. Relaxed durability accepts every server."""
    monkeypatch.setattr(redis, "_HAS_WAITAOF", (99, 0))
    with server.client() as client:
        safe = {name: client.config_get(name)[name] for settings, _ in UNSAFE for name in settings}
        for settings, message in UNSAFE:
            for name, value in {**safe, **settings}.items():
                client.config_set(name, value)
            with pytest.raises(StoreError, match=message):
                open_log(server.url, STUDY, create=True)
    desk = open_desk(server.url, durability=RELAXED)
    assert desk.claim("a").assignment == "t-0-0"
    desk.log.close()


class Waiting:
    """A client of a server with WAITAOF, which answers that so many logs are on a disk."""

    def __init__(self, logs: int) -> None:
        self.logs, self.commands = logs, list[tuple[object, ...]]()

    def pipeline(self, transaction: bool) -> Waiting:
        return self

    def execute_command(self, *command: object) -> None:
        self.commands.append(command)

    def execute(self) -> list[object]:
        return [b"done", [self.logs, 0]]


@pytest.mark.parametrize("logs", [1, 0])
def test_where_the_server_can_each_write_waits_for_its_disk(logs: int) -> None:
    """Redis 7.2 and Valkey have WAITAOF. A reply that no log was written is no acknowledgement."""
    log = object.__new__(redis.RedisLog)
    log._waits, log._client, log._shown = True, Waiting(logs), "redis"

    if logs:
        log._write("SET", "x", 1)
    else:
        with pytest.raises(StoreError, match="did not write to its disk"):
            log._write("SET", "x", 1)

    assert log._client.commands == [("SET", "x", 1), ("WAITAOF", 1, 0, 2_000)]


def test_the_version_says_whether_the_server_can_wait() -> None:
    versions = ("6.2.14", "7.0.15", "7.2.4", "8.0.1", "10.0")
    waits = [redis.version_of({"redis_version": each}) >= redis._HAS_WAITAOF for each in versions]

    assert waits == [False, False, True, True, True]


NO_SERVER: list[tuple[str, type[Exception], str]] = [
    (
        "redis://:secret@127.0.0.1:1/0",
        StoreUnreachable,
        r"cannot open redis://:…@127.0.0.1:1.*must run and be reachable",
    ),
    ("redis://localhost:port/0", UsageError, "no address of Redis"),
    ("redis://localhost/study", UsageError, "no address of Redis: databases have numbers, found 'study'"),
    ("mysql://me:secret@host", UsageError, "unknown store mysql://me:…@host"),
]


def test_a_place_without_a_server_is_refused() -> None:
    pytest.importorskip("redis", reason="the extra redis is not installed")
    for place, error, message in NO_SERVER:
        with pytest.raises(error, match=message):
            open_log(place, STUDY, create=True)


@pytest.mark.slow
def test_a_forgotten_rater_is_in_no_file_of_the_server(server: RedisServer) -> None:
    """Neither in its log nor in memory; others still are. (Its log as commands, in which a text can be seen.)"""
    with server.client() as client:
        client.config_set("aof-use-rdb-preamble", "no")
    desk = open_desk(server.url)
    for rater in ("forgotten", "other"):
        desk.answer(desk.claim(rater).assignment, 1, f"answer of {rater}")
    assert b"answer of forgotten" in server.files()
    desk.forget("forgotten")

    wait_until(lambda: b"forgotten" not in server.files())
    assert b"answer of other" in server.files()
    desk.log.close()


# Failures -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_server_whose_answers_were_deleted_is_not_written_to(server: RedisServer) -> None:
    """A study would go on as if nobody had answered yet."""
    desk = open_desk(server.url)
    desk.claim("a")
    with server.client() as client:
        client.flushall()

        with pytest.raises(StoreError, match="answers were deleted"):
            desk.claim("b")
        assert client.keys() == []
    desk.log.close()
