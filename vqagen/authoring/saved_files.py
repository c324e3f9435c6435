"""Noticing that a file was saved, by looking at it every now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

PAUSE = 0.3
"""Seconds between two looks."""
SETTLING = 0.05
"""Seconds for which nothing may change, so that a file is not read while it is being written."""
FileStates = dict[Path, tuple[int, int] | None]
"""File -> when it was changed last, and its size; None while it is not there, as for a moment when it is replaced."""


def watched(paths: Iterable[Path]) -> FileStates:
    """The state of files, and of all JSON files in folders."""
    found: FileStates = {}
    for path in paths:
        files = sorted(path.rglob("*.json*")) if path.is_dir() else [path]
        found.update((file, _stamp(file)) for file in files)
    return found


def rounds(look: Callable[[], FileStates], sleep: Callable[[float], None] = time.sleep) -> Iterator[None]:
    """One round at once, and another whenever what `look` sees has changed since the one before began."""
    while True:
        seen = look()
        yield
        while look() == seen:
            sleep(PAUSE)
        _settle(look, sleep)


def _settle(look: Callable[[], FileStates], sleep: Callable[[float], None]) -> None:
    before, now = None, look()
    while now != before:
        sleep(SETTLING)
        before, now = now, look()


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
