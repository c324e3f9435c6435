"""The lock of a study: one process at a time serves or changes it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vqagen.errors import Problem, warn
from vqagen.human.store.log import StoreError

LOCK = ".lock"
_REMOTE = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "gluster", "lustre", "beegfs", "gpfs", "fuse.sshfs", "fuse.s3fs")
"""Beginnings of the names of file systems on other machines."""


@contextmanager
def study_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a study. Raise StoreError with the process that holds it already."""
    warn_if_remote(folder)
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(f"cannot lock {folder}: {error.strerror}") from None
    try:
        _take(handle, folder)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)


def _take(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(handle, 20, 0).decode("ascii", "replace").strip() or "unknown"
        message = f"{folder} is in use by process {holder}, which serves or changes it"
        raise StoreError(f"{message}; end that process first, or wait until it is done") from None
    except OSError as error:  # some network file systems have no locks
        message = f"cannot be locked ({error.strerror}): take care that no other process serves this study"
        warn(Problem(message, str(folder)))


def warn_if_remote(folder: Path) -> None:
    """Warn of a folder on another machine, where locks and the log of SQLite are not reliable."""
    system = _file_system(folder)
    if system.startswith(_REMOTE):
        message = f"lies on a network file system ({system}), where answers can be lost: keep studies on a local disk"
        warn(Problem(message, str(folder)))


def _file_system(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """Return the type of the file system of a folder; "" where the system does not say."""
    try:
        lines = [line.split() for line in mounts.read_text("utf-8", "replace").splitlines()]
        place = folder.resolve()
    except OSError:
        return ""
    found = [(len(line[1]), line[2]) for line in lines if place.is_relative_to(_unescaped(line[1]))]
    return max(found, key=lambda each: each[0])[1] if found else ""


def _unescaped(path: str) -> str:
    for code, sign in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        path = path.replace(code, sign)
    return path
