"""The worker's side of `run.cluster`: Dask calls `do` in a worker process, in any of its threads."""

from __future__ import annotations

import pickle
import socket
import threading
import traceback
import warnings
import zlib
from collections.abc import Sequence
from functools import lru_cache

from vqagen import __version__
from vqagen.errors import InputWarning, VqagenError
from vqagen.run.work import Item, Outcome, WindowFailed, WindowTask, Work, do_window

_one_at_a_time = threading.Lock()
"""Generating is Python, and not made for threads: a process with several does one window after the other."""


def do(version: str, run: str, work: bytes, items: bytes) -> bytes:
    """The pickled `Outcome` of a window whose work and items come pickled too, the items packed by zlib.

    `version` is that of the vqagen that asks.
    """
    if version != __version__:
        return pickle.dumps(Outcome(error=VqagenError(f"{_here()} has vqagen {__version__}; this run is by {version}")))
    with _one_at_a_time:
        return _pickled(_outcome(run, work, items))


def _outcome(run: str, work: bytes, items: bytes) -> Outcome:
    try:
        task = _loaded(run, work)
        window: Sequence[Item] = pickle.loads(zlib.decompress(items))
    except VqagenError as error:
        return Outcome(error=VqagenError(f"{_here()}: {error}"))
    except Exception:  # such as a class that this process cannot import
        return Outcome(error=WindowFailed(f"{_here()}:\n{traceback.format_exc()}"))
    return do_window(task, window)


@lru_cache(maxsize=1)
def _loaded(run: str, work: bytes) -> WindowTask:
    """The task of a run. Workers may outlive runs, and files may change between two: each `run` loads anew."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # the process that asks has loaded the same, and told them
        loading: Work = pickle.loads(work)
        return loading.load()


def _pickled(outcome: Outcome) -> bytes:
    """As bytes, whatever an error holds."""
    try:
        return pickle.dumps(outcome)
    except Exception:
        return pickle.dumps(Outcome(error=WindowFailed(f"{_here()}: {outcome.error!r}")))


def _here() -> str:
    return f"the worker on {socket.gethostname()}"
