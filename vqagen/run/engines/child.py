"""Processes that this one starts: they find the modules that it finds, and end when it does, however it ends."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Sequence

from vqagen.errors import MEMORY_SIGNS

OUT_OF_MEMORY = errno.ENOMEM
"""The exit code of a process that had too little memory to run its code."""
_RUN = """
import sys
sys.path[:] = {path!r}
try:
    {code}
except Exception as error:
    if isinstance(error, MemoryError) or any(sign in str(error) for sign in {signs!r}):
        sys.exit({out_of_memory})
    raise
"""


def start_python(code: str, passed: Sequence[int]) -> subprocess.Popen[bytes]:
    """Run code in another process, which has the file descriptors `passed`.

    Unlike those of `multiprocessing`, it does not import the user's main module again.
    """
    path = [entry for entry in sys.path if isinstance(entry, str)]  # a `Path` there has no effect, and no literal
    program = _RUN.format(path=path, code=code, signs=MEMORY_SIGNS, out_of_memory=OUT_OF_MEMORY)
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=passed,
        process_group=0,  # Ctrl-C in a terminal is for the parent
    )


def end_with_parent(lifeline: int) -> None:
    """End this process when the other end of a pipe is closed, which the parent's end does at the latest."""
    threading.Thread(target=_wait_and_end, args=(lifeline,), daemon=True).start()


def _wait_and_end(lifeline: int) -> None:
    os.read(lifeline, 1)
    os._exit(0)
