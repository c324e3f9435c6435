"""The log in Redis (also Valkey): one stream, whose ids are the numbers of its facts.

Redis refuses an id that is not larger than all before, so a second writer cannot mix its facts with ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import msgspec

from vqagen.errors import UsageError
from vqagen.extras import needed
from vqagen.human.store.facts import Fact, decode_fact
from vqagen.human.store.log import StoreError, StoreUnreachable
from vqagen.human.store.redis_durability import DURABLE_WAIT, check_durability, erase_old_files

VERSION = b"2"
_HEAD = "0-1"
"""The id of the entry that has the version; facts are `NUMBER-0`, from 1."""
_TIMEOUT = 5
"""Seconds after which a server that does not answer has failed."""
_APPEND = """
if redis.call('EXISTS', KEYS[1]) == 0 then return redis.error_reply('ERR the answers were deleted from the server') end
for place = 1, #ARGV, 2 do
    if ARGV[place + 1] == '' then redis.call('XDEL', KEYS[1], ARGV[place])
    else redis.call('XADD', KEYS[1], ARGV[place], 'fact', ARGV[place + 1]) end
end
"""
"""All or nothing: if the first number is refused, the script ends there. MULTI would go on with the next command."""
_HINTS = {
    "equal or smaller": "another process writes answers of this study there; end that process",
    "were deleted": "restore a backup of it",
}
"""Part of Redis's message -> what to do."""


class RedisLog:
    """Facts of a study on a server, under keys of one hash slot."""

    def __init__(
        self, url: str, study: str, *, shown: str, create: bool, read_only: bool = False, is_strict: bool = True
    ) -> None:
        """Connect; `shown` is the URL without its password, for messages."""
        self._redis = needed("redis", "redis", "a study whose answers are in Redis")
        self._shown = shown
        self._key = f"vqa:{{{study}}}:log"
        self._waits = False
        with self._explained("open"):
            self._client = self._connect(url)
            try:
                self._prepare(create, None if read_only else is_strict)
            except BaseException:
                self._client.close()
                raise

    def _connect(self, url: str) -> Any:
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        try:
            number = urlsplit(url).path.strip("/")
            if number and not number.isdecimal():  # the library would use database 0
                raise ValueError(f"databases have numbers, found {number!r}")
            return self._redis.Redis.from_url(
                url,
                socket_timeout=_TIMEOUT,
                socket_connect_timeout=_TIMEOUT,
                socket_keepalive=True,
                retry=Retry(NoBackoff(), 0),  # the writer opens the log again instead, and sees what is there
                single_connection_client=True,
            )
        except ValueError as error:
            raise UsageError(f"{self._shown} is no address of Redis: {error}") from None

    def _prepare(self, create: bool, is_strict: bool | None) -> None:
        found = self._client.xrange(self._key, _HEAD, _HEAD)
        version = found[0][1].get(b"version") if found else None
        if version is None and not create:
            raise StoreError(f"no answers at {self._shown}: the study was not served yet, or its answers are elsewhere")
        if version not in (None, VERSION):
            raise StoreError(f"{self._shown} was written by a newer vqagen; install that version")
        if is_strict is not None:
            self._waits = is_strict and check_durability(self._client, self._shown)
            if version is None:
                self._write("XADD", self._key, _HEAD, "version", VERSION)

    def append(self, entries: Sequence[tuple[int, bytes]], erase: Sequence[int] = ()) -> None:
        """Do all in one script, and wait until the server has it on its disk."""
        arguments = [part for number, line in (*entries, *((each, b"") for each in erase)) for part in (number, line)]
        with self._explained("write"):
            self._write("EVAL", _APPEND, 1, self._key, *arguments)

    def facts(self) -> Iterator[tuple[int, Fact]]:
        """Read all at once."""
        with self._explained("read"):
            found = self._client.xrange(self._key, "1-0")
        for id, fields in found:
            number = int(id.partition(b"-")[0])
            try:
                yield number, decode_fact(fields[b"fact"])
            except (msgspec.DecodeError, UnicodeDecodeError, KeyError):
                raise StoreError(f"{self._shown} is damaged at entry {number}; restore a backup of it") from None

    def purge(self) -> None:
        """Have the server write its files anew."""
        with self._explained("forget"):
            erase_old_files(self._client, self._shown)

    def beat(self) -> None:
        """Set a key beside the stream."""
        with self._explained("write"):
            self._write("SET", f"{self._key}:beat", 1)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _write(self, *command: Any) -> None:
        """Run a command and wait until it is on the disk."""
        pipeline = self._client.pipeline(transaction=False)
        pipeline.execute_command(*command)
        if self._waits:
            pipeline.execute_command(*DURABLE_WAIT)
        replies = pipeline.execute()
        if self._waits and replies[-1][0] < 1:
            message = f"{self._shown} did not write to its disk within {DURABLE_WAIT[-1]} ms"
            raise StoreError(f"{message}; look at its disk and its settings appendonly and appendfsync")

    @contextmanager
    def _explained(self, job: str) -> Iterator[None]:
        try:
            yield
        except (self._redis.RedisError, OSError) as error:
            raise self._failed(job, error) from None

    def _failed(self, job: str, error: Exception) -> StoreError:
        library = self._redis.exceptions
        known: list[tuple[type[Exception], type[StoreError], str]] = [
            (
                library.AuthenticationError,
                StoreError,
                "give the right user and password: redis://USER:PASSWORD@HOST/DB",
            ),
            (library.NoPermissionError, StoreError, "the user needs leave for keys vqa:* and for scripts"),
            (library.ReadOnlyError, StoreError, "give the address of the primary server, not of a replica"),
            (library.TimeoutError, StoreUnreachable, "the server does not answer; start it again"),
            (library.ConnectionError, StoreUnreachable, "the server must run and be reachable from here"),
        ]
        hint = next((hint for part, hint in _HINTS.items() if part in str(error)), "look at the log of the server")
        kind, hint = next((each[1:] for each in known if isinstance(error, each[0])), (StoreError, hint))
        return kind(f"cannot {job} {self._shown}: {str(error).rstrip('.')}; {hint}")
