"""The worker's side of `run.processes`: loads the work, then does one window after the other."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
import warnings
from multiprocessing.connection import Connection

from vqagen.errors import InputWarning, VqagenError
from vqagen.run.child import end_with_parent
from vqagen.run.work import Outcome, WindowFailed, WindowTask, Work, do_window


def main(connection: int, lifeline: int) -> None:
    """Serve. `connection` and `lifeline` are file descriptors; the lifeline ends when the parent does, however it ends.

    A batch system's SIGTERM reaches all processes of a job at once: what is to become of workers, the parent decides.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdout = sys.stderr  # standard output is for results
    end_with_parent(lifeline)
    try:
        _serve(Connection(connection))
    except (EOFError, OSError):  # the parent has gone, or wants no more
        os._exit(0)


def _serve(connection: Connection) -> None:
    task = _load(connection.recv_bytes())
    if isinstance(task, Exception):
        connection.send(Outcome(error=task))
        return
    connection.send(Outcome())
    while True:
        connection.send(do_window(task, connection.recv()))


def _load(pickled: bytes) -> WindowTask | VqagenError | WindowFailed:
    """The task of a pickled `Work`, or why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)  # the parent has loaded the same, and told them
            work: Work = pickle.loads(pickled)
            return work.load()
    except VqagenError as error:
        return error
    except Exception:
        return WindowFailed(f"a worker process could not load its work:\n{traceback.format_exc()}")
