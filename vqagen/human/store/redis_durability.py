"""Settings of a Redis server under which an acknowledged answer cannot be lost; refused otherwise."""

from __future__ import annotations

import time
from typing import Any

from vqagen.errors import Problem, warn
from vqagen.human.store.store import StoreError

DURABLE_WAIT = ("WAITAOF", 1, 0, 2_000)
"""Wait until the log is on the server's own disk, for two seconds at most."""
_HAS_WAITAOF = (7, 2)
_PATIENCE = 60
"""Seconds that the server may take to write its files anew."""


def check_durability(client: Any, shown: str) -> bool:
    """Return true if each batch must wait for the disk (`DURABLE_WAIT`), false if the server always does.

    Raise StoreError with the settings to change if acknowledged answers could be lost.
    """
    information = client.info()
    waits = _version(information) >= _HAS_WAITAOF
    settings = _settings(client)
    wrong = []
    if not information.get("aof_enabled"):
        wrong.append("appendonly yes")
    if waits and settings.get("appendfsync") == "no":
        wrong.append("appendfsync everysec")
    if not waits and settings.get("appendfsync") != "always":
        wrong.append("appendfsync always")
    if not waits and settings.get("no-appendfsync-on-rewrite") != "no":
        wrong.append("no-appendfsync-on-rewrite no")
    if information.get("maxmemory") and str(information.get("maxmemory_policy")).startswith("allkeys"):
        wrong.append("maxmemory-policy noeviction")
    if wrong:
        change = ", ".join(f"CONFIG SET {setting}" for setting in wrong)
        message = f"{shown} could lose answers that were acknowledged: change its settings ({change}; and redis.conf)"
        raise StoreError(f"{message}, or accept that with --redis-durability relaxed")
    return waits


def _version(information: dict[str, Any]) -> tuple[int, ...]:
    """Return the version of Redis that the server is or (Valkey) behaves as."""
    return tuple(int(part) for part in str(information.get("redis_version", "0")).split(".")[:2] if part.isdigit())


def _settings(client: Any) -> dict[str, str]:
    """Return the settings that the server lets this user see."""
    from redis.exceptions import ResponseError

    found: dict[Any, Any] = {}
    try:
        for name in ("appendfsync", "no-appendfsync-on-rewrite", "save"):  # servers before 7 take one at a time
            found |= client.config_get(name)
    except ResponseError:  # hosts may forbid the command
        return {}
    return {_text(name): _text(value) for name, value in found.items()}


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def erase_old_files(client: Any, shown: str) -> None:
    """Have the server write its log and its snapshot anew, so that nothing deleted is left in them."""
    from redis.exceptions import ResponseError

    try:
        if client.info("persistence").get("aof_enabled"):
            _begin(client.bgrewriteaof)
            _wait(client, "aof_rewrite_in_progress", "aof_rewrite_scheduled")
        if _settings(client).get("save"):
            _begin(client.bgsave)
            _wait(client, "rdb_bgsave_in_progress")
    except (ResponseError, TimeoutError) as error:
        message = f"its files may keep what was deleted ({error}); run BGREWRITEAOF and BGSAVE there"
        warn(Problem(message, shown))


def _begin(job: Any) -> None:
    """Begin a job of the server. One that is at work already began before the deletion: wait for it."""
    from redis.exceptions import ResponseError

    until = time.monotonic() + _PATIENCE
    while True:
        try:
            job()
            return
        except ResponseError as error:
            if "in progress" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.05)


def _wait(client: Any, *flags: str) -> None:
    until = time.monotonic() + _PATIENCE
    while any(client.info("persistence").get(flag) for flag in flags):
        if time.monotonic() > until:
            raise TimeoutError("the server is still writing them")
        time.sleep(0.05)
