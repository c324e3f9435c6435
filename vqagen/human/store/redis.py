"""The Redis store (also Valkey): every batch is one script, and acknowledged when the server's log is on its disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from vqagen.errors import UsageError
from vqagen.extras import needed
from vqagen.human.store.redis_durability import DURABLE_WAIT, check_durability, erase_old_files
from vqagen.human.store.redis_records import (
    Content,
    decode_answers,
    decode_assignment,
    decode_content,
    decode_outcome,
    encode_writes,
)
from vqagen.human.store.store import (
    Answer,
    Assignment,
    Event,
    Forget,
    Outcome,
    Person,
    SlotAttempts,
    StoreError,
    Write,
)

VERSION = b"1"
"""Version of the keys and their values."""
_TIMEOUT = 5
"""Seconds after which a server that does not answer has failed."""
_FIELDS = ("task", "slot", "rater", "state", "consent", "claimed", "expires", "ended")


def _script(name: str) -> str:
    return files("vqagen.human.store").joinpath(name).read_text("utf-8")


def _no_retry() -> Any:
    """A write that is sent twice would be two events; the committer opens the store again instead."""
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return Retry(NoBackoff(), 0)


class RedisStore:
    """Answers of a study in Redis, under keys of one hash slot. A read-only one has the state of its opening."""

    def __init__(
        self, url: str, study: str, *, shown: str, create: bool, read_only: bool = False, is_strict: bool = True
    ) -> None:
        """Connect; `shown` is the URL without its password, for messages."""
        self._redis = needed("redis", "redis", "a study whose answers are in Redis")
        self._shown, self._read_only = shown, read_only
        self._base = f"vqa:{{{study}}}:"
        self._waits = False
        self._apply = _script("apply.lua")
        self._client = self._connect(url)
        try:
            self._guarded("open", self._prepare, create, is_strict)
        except BaseException:
            self._client.close()
            raise

    def _connect(self, url: str) -> Any:
        try:
            number = urlsplit(url).path.strip("/")
            if number and not number.isdecimal():  # the library would use database 0
                raise ValueError(f"databases have numbers, found {number!r}")
            return self._redis.Redis.from_url(
                url,
                socket_timeout=_TIMEOUT,
                socket_connect_timeout=_TIMEOUT,
                socket_keepalive=True,
                retry=_no_retry(),
                single_connection_client=True,
            )
        except ValueError as error:
            raise UsageError(f"{self._shown} is no address of Redis: {error}") from None
        except self._redis.RedisError as error:
            raise self._failed("open", error) from None

    def _prepare(self, create: bool, is_strict: bool) -> None:
        key = self._base + "study"
        version = self._client.get(key)
        if version is None and (self._read_only or not create):
            raise StoreError(f"no answers at {self._shown}: the study was not served yet, or its answers are elsewhere")
        if version not in (None, VERSION):
            raise StoreError(f"{self._shown} was written by a newer vqagen; install that version")
        if self._read_only:
            self._content()
            return
        self._waits = is_strict and check_durability(self._client, self._shown)
        if version is None:
            self._commit([("SET", key, VERSION)])

    def apply(self, writes: Sequence[Write]) -> list[Outcome]:
        """Do all writes in one atomic step. They are on the disk of the server when this returns."""
        if self._read_only:
            raise StoreError(f"{self._shown} was opened for reading only")
        argument = encode_writes(writes)
        command = ("EVAL", self._apply, 1, self._base + "study", self._base, argument)
        outcomes = [decode_outcome(reply) for reply in self._guarded("write", self._commit, [command])[0]]
        if any(isinstance(write, Forget) for write in writes):
            self._guarded("forget", erase_old_files, self._client, self._shown)
        return outcomes

    def _commit(self, commands: Iterable[Sequence[Any]]) -> list[Any]:
        """Run commands and wait until they are on the disk."""
        pipeline = self._client.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        if self._waits:
            pipeline.execute_command(*DURABLE_WAIT)
        replies: list[Any] = pipeline.execute()
        if self._waits and replies.pop()[0] < 1:
            message = f"{self._shown} did not write to its disk within {DURABLE_WAIT[-1]} ms"
            raise StoreError(f"{message}; look at its disk and its settings appendonly and appendfsync")
        return replies

    def assignment(self, id: str) -> Assignment | None:
        """Return one assignment."""
        if self._read_only:
            return self._kept_assignments.get(id)
        values = self._guarded("read", self._client.hmget, f"{self._base}s:{id}", _FIELDS)
        return decode_assignment([id.encode(), *values]) if values[0] is not None else None

    def assignments(self) -> Iterator[Assignment]:
        """Yield all assignments, sorted by id."""
        return iter(self._content().assignments)

    def answers(self, assignment: str | None = None) -> Iterator[Answer]:
        """Yield the answers of one assignment or of all, sorted by assignment and trial."""
        if assignment is None:
            return iter(self._content().answers)
        if self._read_only:
            return iter([each for each in self._kept.answers if each.assignment == assignment])
        found = self._guarded("read", self._client.hgetall, f"{self._base}a:{assignment}")
        return decode_answers(assignment, found.items())

    def events(self) -> Iterator[Event]:
        """Yield the log."""
        return iter(self._content().events)

    def people(self) -> Iterator[Person]:
        """Yield who the raters are, sorted by rater."""
        return iter(self._content().people)

    def attempts(self) -> Iterator[SlotAttempts]:
        """Yield how often each slot was taken, sorted by task and slot."""
        return iter(self._content().attempts)

    def _content(self) -> Content:
        return self._kept if self._read_only else self._read()

    @cached_property
    def _kept(self) -> Content:
        return self._read()

    @cached_property
    def _kept_assignments(self) -> dict[str, Assignment]:
        return {each.id: each for each in self._kept.assignments}

    def _read(self) -> Content:
        key, base = self._base + "study", self._base
        return decode_content(self._guarded("read", self._client.eval, _script("read.lua"), 1, key, base))

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _guarded(self, job: str, work: Any, *arguments: Any) -> Any:
        try:
            return work(*arguments)
        except (self._redis.RedisError, OSError) as error:
            raise self._failed(job, error) from None

    def _failed(self, job: str, error: Exception) -> StoreError:
        known = {
            self._redis.AuthenticationError: "give the right user and password: redis://USER:PASSWORD@HOST:PORT/DB",
            self._redis.exceptions.NoPermissionError: "the user needs leave for keys vqa:* and for scripts",
            self._redis.exceptions.ReadOnlyError: "give the address of the primary server, not of a replica",
            self._redis.TimeoutError: "the server does not answer; start it again",
            self._redis.ConnectionError: "the server must run and be reachable from here",
        }
        hint = next((hint for kind, hint in known.items() if isinstance(error, kind)), "look at the log of the server")
        return StoreError(f"cannot {job} {self._shown}: {str(error).rstrip('.')}; {hint}")
