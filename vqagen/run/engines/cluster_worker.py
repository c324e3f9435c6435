"""The worker's side of `run.cluster`: Dask calls `do` in a worker process, in any of its threads."""

from __future__ import annotations

import socket
import threading
import zlib
from functools import lru_cache

from vqagen import __version__
from vqagen.errors import VqagenError
from vqagen.run.engines.parcels import as_value, do_window, load_quietly, packed_outcome
from vqagen.run.work import Outcome, WindowTask

_one_at_a_time = threading.Lock()
"""Generating is Python, and not made for threads: a process with several does one window after the other."""


def do(version: str, run: str, work: bytes, items: bytes) -> bytes:
    """The packed `Outcome` of a window whose work and items come packed too, by zlib besides.

    `version` is that of the vqagen that asks.
    """
    with _one_at_a_time:
        return packed_outcome(_outcome(version, run, work, items))


def _outcome(version: str, run: str, work: bytes, items: bytes) -> Outcome:
    here = f"the worker on {socket.gethostname()}"
    if version != __version__:
        return Outcome(error=VqagenError(f"{here} has vqagen {__version__}; this run is by {version}"))
    try:
        task = _loaded(run, work)
    except VqagenError as error:
        return Outcome(error=VqagenError(f"{here}: {error}"))
    except Exception as error:  # such as a class that this process cannot import
        return Outcome(error=as_value(error, here))
    return do_window(task, zlib.decompress(items))


@lru_cache(maxsize=1)
def _loaded(run: str, work: bytes) -> WindowTask:
    """The task of a run. Workers may outlive runs, and files may change between two: each `run` loads anew."""
    return load_quietly(zlib.decompress(work))
