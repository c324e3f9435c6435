"""Stores by their place: a file is SQLite, redis:// and rediss:// are Redis."""

from __future__ import annotations

from pathlib import Path

from vqagen.errors import UsageError
from vqagen.human.store.store import Store

ANSWERS = "answers.sqlite"
STRICT, RELAXED = DURABILITIES = "strict", "relaxed"
"""Redis must keep every acknowledged answer through a loss of power; or may lose the last second."""
_REDIS = "redis://", "rediss://"


def open_store(
    place: str | Path, study: str, *, create: bool, read_only: bool = False, durability: str = STRICT
) -> Store:
    """Open the store at a path, `sqlite:PATH` or `redis[s]://…` that has the answers of this study.

    `create` makes one that does not exist. A read-only store shows one state: that of its opening. StoreError if the
    store is of another study, damaged, unreachable, or (Redis, strict) not safe.
    """
    if is_redis(place):
        from vqagen.human.store.redis import RedisStore

        shown, is_strict = hide_password(place), durability == STRICT
        return RedisStore(str(place), study, shown=shown, create=create, read_only=read_only, is_strict=is_strict)
    from vqagen.human.store.sqlite import SqliteStore

    return SqliteStore(sqlite_path(place), study, create=create, read_only=read_only)


def is_redis(place: str | Path) -> bool:
    """True for the address of a Redis server."""
    return str(place).startswith(_REDIS)


def sqlite_path(place: str | Path) -> Path:
    """Return the path of an SQLite store.

    >>> sqlite_path("sqlite:answers.sqlite"), sqlite_path("sqlite:///var/study/answers.sqlite")
    (PosixPath('answers.sqlite'), PosixPath('/var/study/answers.sqlite'))
    """
    text = str(place)
    if "://" in text and not text.startswith("sqlite://"):
        raise UsageError(f"unknown store {hide_password(text)}; give a path, sqlite:PATH, redis://… or rediss://…")
    return Path(text.removeprefix("sqlite://").removeprefix("sqlite:"))


def hide_password(place: str | Path) -> str:
    """Return a place as it may be shown.

    >>> hide_password("redis://me:secret@host/0"), hide_password("redis://host/0?password=secret")
    ('redis://me:…@host/0', 'redis://host/0?…')
    """
    scheme, mark, rest = str(place).partition("://")
    if not mark:
        return str(place)
    access, at, host = rest.rpartition("@")
    host, options, _ = host.partition("?")
    shown = f"{access.partition(':')[0]}:…@{host}" if at else host
    return f"{scheme}{mark}{shown}{'?…' if options else ''}"
