"""The worker's side of every engine. Works, windows and outcomes travel between processes as bytes."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import sys
import threading
import traceback
import warnings
import zlib
from collections.abc import Sequence
from functools import lru_cache
from multiprocessing.connection import Connection
from queue import SimpleQueue

from vqagen import __version__
from vqagen.errors import InputWarning, VqagenError, is_out_of_memory
from vqagen.run.work import Block, Outcome, WindowFailed, WindowTask, Work, span_of
from vqagen.tasks.contract import Item

_one_at_a_time = threading.Lock()
"""Generating is not made for threads: a Dask worker with several does one window after the other."""


def serve(descriptor: int) -> None:
    """Answer requests as a process of `Processes`, until the other end of the connection is closed.

    Signals are ignored: Ctrl-C and a batch system's SIGTERM reach all processes of a job, and the parent ends them.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdout = sys.stderr  # standard output is for results
    connection, requests = Connection(descriptor), SimpleQueue[tuple[bytes, bytes]]()

    def receive() -> None:
        try:
            while True:
                requests.put(connection.recv())
        except (EOFError, OSError):  # also in the middle of a window
            os._exit(0)

    threading.Thread(target=receive, daemon=True).start()
    try:
        while True:
            connection.send(do_window("", *requests.get()))
    except OSError:
        os._exit(0)


def do_window(run: str, work: bytes, packed: bytes, here: str = "") -> Outcome:
    """Do a window, whose items come pickled, in full, whatever happens.

    The work is loaded once for each `run`: between two runs its files may change. `here` names another machine.
    """
    try:
        return _outcome(_loaded(run, work), packed)
    except VqagenError as error:
        return Outcome(error=VqagenError(f"{here}: {error}") if here else as_value(error, ""))
    except Exception as error:
        return Outcome(error=as_value(error, here or "a worker process could not load its work"))


def do_on_cluster(version: str, run: str, work: bytes, packed: bytes) -> Outcome:
    """Do the same in a Dask worker, if its vqagen is of the `version` that asks. Everything comes packed by zlib."""
    here = f"the worker on {socket.gethostname()}"
    if version != __version__:
        return Outcome(error=VqagenError(f"{here} has vqagen {__version__}; this run is by {version}"))
    with _one_at_a_time:
        return do_window(run, zlib.decompress(work), zlib.decompress(packed), here)


@lru_cache(maxsize=1)
def _loaded(run: str, packed: bytes) -> WindowTask:
    """Load the task of a work, without the warnings, which the asking process has issued.

    The garbage collector takes 1.2 s of the 1.4 s in which 9,000 templates load: it is off meanwhile.
    """
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)
            work: Work = pickle.loads(packed)
            return work.load()
    finally:
        gc.freeze()
        gc.enable()


def _outcome(task: WindowTask, packed: bytes) -> Outcome:
    blocks: Sequence[Block] = ()
    failure: VqagenError | WindowFailed | None = None
    where = "a window that cannot be read"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        try:
            items: Sequence[Item] = pickle.loads(packed)
            where = span_of(items)
            blocks = list(task(items))
        except Exception as error:
            failure = as_value(error, where)
    problems = tuple(each.message.problem for each in caught if isinstance(each.message, InputWarning))
    return Outcome(blocks, failure, problems)


def as_value(error: Exception, where: str) -> VqagenError | WindowFailed:
    """Return an error that can be sent to another process: the user's as it is, any other with its traceback.

    Of a class of somebody else's, such as a plug-in's, only the message can: it may not be made again there.
    """
    if isinstance(error, VqagenError):
        return error if type(error).__module__.startswith("vqagen.") else VqagenError(str(error))
    if is_out_of_memory(error):
        return VqagenError(f"{where}: out of memory in a worker; start fewer workers")
    return WindowFailed(f"{where}:\n{''.join(traceback.format_exception(error))}")


def pack_work(work: Work) -> bytes:
    """Return a work as it is sent to workers. VqagenError if it holds what cannot be sent to another process."""
    try:
        return pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise VqagenError(f"cannot be done by other processes than this one: {error}") from error
