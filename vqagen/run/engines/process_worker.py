"""The worker's side of `run.processes`: loads the work, then does one window after the other."""

from __future__ import annotations

import gc
import os
import signal
import sys
from multiprocessing.connection import Connection

from vqagen.run.engines.child import end_with_parent
from vqagen.run.engines.parcels import as_value, do_window, load_quietly, packed_outcome
from vqagen.run.work import Outcome, WindowTask


def main(connection: int, lifeline: int) -> None:
    """Serve. `connection` and `lifeline` are file descriptors; the lifeline is closed when the parent ends.

    Signals are ignored: a batch system sends SIGTERM to all processes of a job, and the parent ends its workers.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdout = sys.stderr  # standard output is for results
    end_with_parent(lifeline)
    try:
        _serve(Connection(connection))
    except (EOFError, OSError):  # the parent has ended, or needs no more windows
        os._exit(0)


def _serve(connection: Connection) -> None:
    """Answer the work with an outcome that says whether it could be loaded, then each window with its own."""
    work = connection.recv_bytes()
    try:
        task = _loaded(work)
    except Exception as error:
        failure = as_value(error, "a worker process could not load its work")
        connection.send_bytes(packed_outcome(Outcome(error=failure)))
        return
    connection.send_bytes(packed_outcome(Outcome()))
    while True:
        connection.send_bytes(packed_outcome(do_window(task, connection.recv_bytes())))


def _loaded(work: bytes) -> WindowTask:
    """Load the work unseen by the garbage collector, which takes 1.2 s of the 1.4 s in which 9,000 templates load."""
    gc.disable()
    try:
        return load_quietly(work)
    finally:
        gc.freeze()
        gc.enable()
