"""Notices that a file was saved, by looking at it several times a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

PAUSE = 0.3
"""Seconds between two looks."""
SETTLING = 0.05
"""Seconds without a change after which a file counts as written."""
FileStates = dict[Path, tuple[int, int] | None]
"""File -> its time of change and its size; None while it is missing, as for a moment when it is replaced."""


def watched(paths: Iterable[Path]) -> FileStates:
    """Return the state of files, and of all JSON files in folders."""
    found: FileStates = {}
    for path in paths:
        files = sorted(path.rglob("*.json*")) if path.is_dir() else [path]
        found.update((file, _stamp(file)) for file in files)
    return found


def rounds(look: Callable[[], FileStates], sleep: Callable[[float], None] = time.sleep) -> Iterator[None]:
    """Yield at once, and again whenever the result of `look` has changed since the previous yield."""
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
