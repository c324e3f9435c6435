"""Settings of a Redis server under which an acknowledged answer cannot be lost; refused otherwise."""

from __future__ import annotations

import time
from typing import Any

from vqagen.errors import Problem, warn
from vqagen.human.store.log import StoreError

DURABLE_WAIT = ("WAITAOF", 1, 0, 2_000)
"""Wait until the log is on the server's own disk, for two seconds at most."""
_HAS_WAITAOF = (7, 2)
_AT_WORK = ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")
_PATIENCE = 60
"""Seconds that the server may take to write its files anew."""


def check_durability(client: Any, shown: str) -> bool:
    """Return true if each write must wait for the disk (`DURABLE_WAIT`), false if the server always does.

    Raise StoreError with the settings to change if acknowledged answers could be lost.
    """
    information, settings = client.info(), _settings(client)
    waits = _version(information) >= _HAS_WAITAOF
    evicts = information.get("maxmemory") and str(information.get("maxmemory_policy")).startswith("allkeys")
    needs = {
        "appendonly yes": not information.get("aof_enabled"),
        "appendfsync everysec": waits and settings.get("appendfsync") == "no",
        "appendfsync always": not waits and settings.get("appendfsync") != "always",
        "no-appendfsync-on-rewrite no": not waits and settings.get("no-appendfsync-on-rewrite") != "no",
        "maxmemory-policy noeviction": evicts,
    }
    if change := ", ".join(f"CONFIG SET {setting}" for setting, is_needed in needs.items() if is_needed):
        message = f"{shown} could lose answers that were acknowledged: change its settings ({change}; and redis.conf)"
        raise StoreError(f"{message}, or accept that with --redis-durability relaxed")
    return waits


def _version(information: dict[str, Any]) -> tuple[int, ...]:
    """Return the version of Redis that the server is or (Valkey) behaves as."""
    return tuple(int(part) for part in str(information.get("redis_version", "0")).split(".")[:2] if part.isdigit())


def _settings(client: Any) -> dict[str, str]:
    """Return the settings that the server lets this user see; hosts may forbid the command."""
    from redis.exceptions import ResponseError

    names = ("appendfsync", "no-appendfsync-on-rewrite", "save")
    try:
        found = [client.config_get(name) for name in names]  # servers before 7 take one at a time
    except ResponseError:
        return {}
    return {_text(name): _text(value) for each in found for name, value in each.items()}


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def erase_old_files(client: Any, shown: str) -> None:
    """Have the server write its log and its snapshot anew, so that nothing deleted is left in them."""
    from redis.exceptions import ResponseError

    try:
        if client.info("persistence").get("aof_enabled"):
            _run(client, client.bgrewriteaof)
        if _settings(client).get("save"):
            _run(client, client.bgsave)
    except (ResponseError, TimeoutError) as error:
        message = f"its files may keep what was deleted ({error}); run BGREWRITEAOF and BGSAVE there"
        warn(Problem(message, shown))


def _run(client: Any, job: Any) -> None:
    """Run a job of the server after those that are at work, which began before the deletion, and wait for its end."""
    until = time.monotonic() + _PATIENCE
    for work in (None, job):
        if work:
            work()
        while any(client.info("persistence").get(flag) for flag in _AT_WORK):
            if time.monotonic() > until:
                raise TimeoutError("the server is still writing them")
            time.sleep(0.05)
