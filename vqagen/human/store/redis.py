"""The log in Redis (also Valkey): one stream, whose ids are the numbers of its facts.

Redis refuses an id that is not larger than all before, so a second writer cannot mix its facts with ours. A server
whose settings could lose an acknowledged answer is refused.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from vqagen.errors import Problem, UsageError, warn
from vqagen.extras import needed
from vqagen.human.store.facts import LOST, Fact, StoreError, StoreUnreachable, decoded, hide_password

VERSION = b"2"
_HEAD = "0-1"
"""The id of the entry that has the version; facts are `NUMBER-0`, from 1."""
_TIMEOUT = 5
"""Seconds after which a server that does not answer has failed."""
_PATIENCE = 60
"""Seconds that the server may take to write its files anew."""
_DURABLE_WAIT = ("WAITAOF", 1, 0, 2_000)
"""Wait until the log is on the server's own disk, for two seconds at most."""
_HAS_WAITAOF = (7, 2)
_AT_WORK = ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")
_APPEND = """
if redis.call('EXISTS', KEYS[1]) == 0 then return redis.error_reply('ERR the answers were deleted from the server') end
for place = 1, #ARGV, 2 do
    if ARGV[place + 1] == '' then redis.call('XDEL', KEYS[1], ARGV[place])
    else redis.call('XADD', KEYS[1], ARGV[place], 'fact', ARGV[place + 1]) end
end
"""
"""All or nothing: if the first number is refused, the script ends there. MULTI would go on with the next command."""
_HINTS = {
    "Authentication": "give the right user and password: redis://USER:PASSWORD@HOST:PORT/DB",
    "NoPermission": "the user needs leave for keys vqa:* and for scripts",
    "ReadOnly": "give the address of the primary server, not of a replica",
    "Timeout": "the server does not answer; start it again",
    "Connection": "the server must run and be reachable from here",
    "equal or smaller": "another process writes answers of this study there; end that process",
    "were deleted": "restore a backup of it",
    "": "look at the log of the server",
}
"""Part of an error's name and message -> what to do; the first that fits."""


class RedisLog:
    """Facts of a study on a server, under keys of one hash slot."""

    def __init__(self, url: str, study: str, *, create: bool, read_only: bool = False, is_strict: bool = True) -> None:
        self._redis = needed("redis", "redis", "a study whose answers are in Redis")
        self._shown = hide_password(url)
        self._key = f"vqa:{{{study}}}:log"
        self._waits = False
        with self._explained("open"):
            self._client = self._connect(url)
            try:
                self._check(create, read_only, is_strict)
            except BaseException:
                self.close()
                raise

    def _connect(self, url: str) -> Any:
        number = urlsplit(url).path.strip("/")
        try:
            if number and not number.isdecimal():  # the library would use database 0
                raise ValueError(f"databases have numbers, found {number!r}")
            return self._redis.Redis.from_url(
                url,
                socket_timeout=_TIMEOUT,
                socket_connect_timeout=_TIMEOUT,
                socket_keepalive=True,
                retry=None,  # the writer opens the log again instead, and sees what is there
                single_connection_client=True,
            )
        except ValueError as error:
            raise UsageError(f"{self._shown} is no address of Redis: {error}") from None

    def _check(self, create: bool, read_only: bool, is_strict: bool) -> None:
        """Raise StoreError if the answers are not there or not safe there; begin a new log."""
        head = self._client.xrange(self._key, _HEAD, _HEAD)
        if not head and not create:
            raise StoreError(f"no answers at {self._shown}: the study was not served yet, or {LOST}")
        if head and head[0][1] != {b"version": VERSION}:
            raise StoreError(f"{self._shown} was written by a newer vqagen; install that version")
        if is_strict and not read_only:
            self._waits = self._check_durability()
        if not head:
            self._write("XADD", self._key, _HEAD, "version", VERSION)

    def _check_durability(self) -> bool:
        """Return true if each write must wait for the disk (`_DURABLE_WAIT`), false if the server always does.

        Raise StoreError with the settings to change if acknowledged answers could be lost.
        """
        information, settings = self._client.info(), self._settings()
        waits = version_of(information) >= _HAS_WAITAOF
        needs = {
            "appendonly yes": not information.get("aof_enabled"),
            "appendfsync everysec": waits and settings.get("appendfsync") == "no",
            "appendfsync always": not waits and settings.get("appendfsync") != "always",
            "no-appendfsync-on-rewrite no": not waits and settings.get("no-appendfsync-on-rewrite") != "no",
            "maxmemory-policy noeviction": information.get("maxmemory")
            and str(information.get("maxmemory_policy")).startswith("allkeys"),
        }
        if change := ", ".join(f"CONFIG SET {setting}" for setting, is_needed in needs.items() if is_needed):
            message = f"{self._shown} could lose answers that were acknowledged: change its settings"
            way = "or accept that with --redis-durability relaxed"
            raise StoreError(f"{message} ({change}; and redis.conf), {way}")
        return waits

    def _settings(self) -> dict[str, str]:
        """Return the settings that the server lets this user see; hosts may forbid the command."""
        names = ("appendfsync", "no-appendfsync-on-rewrite", "save")  # servers before 7 take one at a time
        try:
            return {name: value for setting in names for name, value in self._client.config_get(setting).items()}
        except self._redis.ResponseError:
            return {}

    def append(self, entries: Sequence[tuple[int, bytes]], erase: Sequence[int] = ()) -> None:
        """Do all in one script, and wait until the server has it on its disk."""
        arguments = [part for entry in (*entries, *((number, b"") for number in erase)) for part in entry]
        with self._explained("write"):
            self._write("EVAL", _APPEND, 1, self._key, *arguments)

    def _write(self, *command: Any) -> None:
        """Run a command and wait until it is on the disk."""
        pipeline = self._client.pipeline(transaction=False)
        pipeline.execute_command(*command)
        if self._waits:
            pipeline.execute_command(*_DURABLE_WAIT)
        replies = pipeline.execute()
        if self._waits and replies[-1][0] < 1:
            message = f"{self._shown} did not write to its disk within {_DURABLE_WAIT[-1]} ms"
            raise StoreError(f"{message}; look at its disk and its settings appendonly and appendfsync")

    def facts(self) -> Iterator[tuple[int, Fact]]:
        """Read all at once."""
        with self._explained("read"):
            entries = self._client.xrange(self._key, "1-0")
        return decoded(((int(id.partition(b"-")[0]), fields.get(b"fact")) for id, fields in entries), self._shown)

    def purge(self) -> None:
        """Have the server write its log and its snapshot anew."""
        try:
            with self._explained("forget"):
                if self._client.info("persistence").get("aof_enabled"):
                    self._run(self._client.bgrewriteaof)
                if self._settings().get("save"):
                    self._run(self._client.bgsave)
        except StoreError as error:
            warn(
                Problem(
                    f"its files may keep what was deleted ({error}); run BGREWRITEAOF and BGSAVE there", self._shown
                )
            )

    def _run(self, job: Any) -> None:
        """Run a job of the server after those at work, which began before the deletion, and wait for its end."""
        until = time.monotonic() + _PATIENCE
        for work in (lambda: None, job):
            work()
            while any(self._client.info("persistence").get(flag) for flag in _AT_WORK):
                if time.monotonic() > until:
                    raise StoreError("the server is still writing them")
                time.sleep(0.05)

    def beat(self) -> None:
        """Set a key beside the stream."""
        with self._explained("write"):
            self._write("SET", f"{self._key}:beat", 1)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    @contextmanager
    def _explained(self, job: str) -> Iterator[None]:
        try:
            yield
        except (self._redis.RedisError, OSError) as error:
            text = f"{type(error).__name__} {error}"
            part, hint = next((part, hint) for part, hint in _HINTS.items() if part in text)
            kind = StoreUnreachable if part in ("Timeout", "Connection") else StoreError
            raise kind(f"cannot {job} {self._shown}: {str(error).rstrip('.')}; {hint}") from None


def version_of(information: dict[str, Any]) -> tuple[int, ...]:
    """Return the version of Redis that the server is or (Valkey) behaves as."""
    return tuple(int(part) for part in str(information.get("redis_version", "0")).split(".")[:2] if part.isdigit())
