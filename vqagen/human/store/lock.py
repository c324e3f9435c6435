"""The lock of a study: one process at a time serves or changes it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vqagen.errors import Problem, warn
from vqagen.human.store.opening import StoreError

LOCK = ".lock"
_REMOTE = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "gluster", "lustre", "beegfs", "gpfs", "fuse.sshfs", "fuse.s3fs")
"""Beginnings of the names of file systems on other machines."""


@contextmanager
def study_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a study. Raise StoreError with the process that holds it already."""
    if (system := _file_system(folder)).startswith(_REMOTE):
        message = f"lies on a network file system ({system}), where answers can be lost: keep studies on a local disk"
        warn(Problem(message, str(folder)))
    with (folder / LOCK).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            message = f"{folder} is in use by process {file.read().strip() or 'unknown'}, which serves or changes it"
            raise StoreError(f"{message}; end that process first, or wait until it is done") from None
        except OSError as error:  # some network file systems have no locks
            message = f"cannot be locked ({error.strerror}): take care that no other process serves this study"
            warn(Problem(message, str(folder)))
        file.truncate(0)
        print(os.getpid(), file=file, flush=True)
        yield


def _file_system(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """Return the type of the file system of a folder; "" where the system does not say."""
    with suppress(OSError):
        lines = [line.encode().decode("unicode_escape").split(" ") for line in mounts.read_text("utf-8").splitlines()]
        place = folder.resolve()
        return max((len(line[1]), line[2]) for line in lines if place.is_relative_to(line[1]))[1]
    return ""
