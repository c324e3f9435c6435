"""Logs by their place: a file is SQLite, redis:// and rediss:// are Redis. Light to import: the help needs it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from vqagen.errors import UsageError

if TYPE_CHECKING:
    from vqagen.human.store.facts import Fact
    from vqagen.human.store.log import Log
    from vqagen.human.store.roster import Roster

ANSWERS = "answers.sqlite"
STRICT, RELAXED = DURABILITIES = "strict", "relaxed"
"""Redis must keep every acknowledged answer through a loss of power; or may lose the last second."""


def open_log(
    place: str | Path, study: str, *, create: bool = False, read_only: bool = False, durability: str = STRICT
) -> Log:
    """Open the log of a study at a path, `sqlite:PATH` or `redis[s]://…`; `create` makes one that does not exist.

    StoreError if it is of another study, damaged, unreachable, or (Redis, strict) not safe.
    """
    if is_redis(place):
        from vqagen.human.store.redis import RedisLog

        shown, is_strict = hide_password(place), durability == STRICT
        return RedisLog(str(place), study, shown=shown, create=create, read_only=read_only, is_strict=is_strict)
    from vqagen.human.store.sqlite import SqliteLog

    return SqliteLog(sqlite_path(place), study, create=create, read_only=read_only)


def read_facts(place: str | Path, study: str) -> list[tuple[int, Fact]]:
    """Return all facts of a study with their numbers, beside a server that is writing too: as of one moment."""
    with closing(open_log(place, study, read_only=True)) as log:
        return list(log.facts())


def load_roster(place: str | Path, study: str) -> Roster:
    """Return the state of a study, beside a server that is writing too: as of one moment."""
    from vqagen.human.store.roster import Roster

    return Roster(read_facts(place, study))


def is_redis(place: str | Path) -> bool:
    """True for the address of a Redis server."""
    return str(place).startswith(("redis://", "rediss://"))


def sqlite_path(place: str | Path) -> Path:
    """Return the path of an SQLite file.

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
