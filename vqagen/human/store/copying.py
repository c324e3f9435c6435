"""Backups: all rows of a store, written into a new SQLite file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from vqagen.errors import UsageError
from vqagen.files.output import settle, sweep
from vqagen.human.store.sqlite import SqliteStore
from vqagen.human.store.store import Row, Store


def rows_of(store: Store) -> Iterator[Row]:
    """Yield all that a store holds, in the order in which `restore` takes it."""
    yield from store.attempts()
    yield from store.people()
    yield from store.assignments()
    yield from store.answers()
    yield from store.events()


def back_up(source: Store, study: str, out: Path, *, force: bool) -> int:
    """Write all rows into a new SQLite file, which gets its name when it is complete; return their number."""
    if out.exists() and not force:
        raise UsageError(f"output {out} exists already; give --force to replace it")
    if out.is_dir() or not out.absolute().parent.is_dir():
        what = "is a folder; name a file" if out.is_dir() else "lies in no folder; create the folder first"
        raise UsageError(f"output {out} {what}")
    sweep(str(out))
    with tempfile.TemporaryDirectory(prefix=f".{out.name[:40]}.", suffix=".part", dir=out.absolute().parent) as folder:
        beside = Path(folder, out.name)
        target = SqliteStore(beside, study, create=True)
        try:
            rows = list(rows_of(source))
            target.restore(rows)
        finally:
            target.close()
        os.replace(beside, out)
    settle(out.absolute().parent)
    return len(rows)
