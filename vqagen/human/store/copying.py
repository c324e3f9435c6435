"""Copies of stores: all rows of one written into another."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from vqagen.errors import UsageError
from vqagen.files.output import settle, sweep
from vqagen.human.store.opening import RELAXED, open_store
from vqagen.human.store.store import Row, Store, StoreError


def rows_of(store: Store) -> Iterator[Row]:
    """Yield all that a store holds, in the order in which `restore` takes it."""
    yield from store.attempts()
    yield from store.people()
    yield from store.assignments()
    yield from store.answers()
    yield from store.events()


def copy_rows(source: Store, target: Store, name: str) -> int:
    """Copy all rows into an empty store, whose `name` is for messages; return their number."""
    if any(True for _ in target.attempts()) or any(True for _ in target.events()):
        raise StoreError(f"{name} has answers already; name an empty store")
    rows = list(rows_of(source))
    target.restore(rows)
    return len(rows)


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
        target = open_store(beside, study, create=True, durability=RELAXED)
        try:
            number = copy_rows(source, target, str(out))
        finally:
            target.close()
        os.replace(beside, out)
    settle(out.absolute().parent)
    return number
