"""The engine for several machines: windows are done by the workers of a Dask cluster.

Dask keeps what it was given until it is done, and does the windows of a lost worker again on another one. All that it
is given is bytes, and functions of the standard library that find ours on the worker: a scheduler needs no vqagen.
"""

from __future__ import annotations

import logging
import operator
import pickle
import pkgutil
import re
import threading
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from itertools import count
from queue import Empty
from typing import Any

from vqagen import __version__
from vqagen.errors import Problem, UsageError, VqagenError, warn
from vqagen.extras import needed
from vqagen.run.blocks import Block
from vqagen.run.engines import AHEAD, Outcome, WorkerEngine, pack_work, span_of
from vqagen.run.windows import WindowFailed, Work
from vqagen.tasks.contract import Item

TIMEOUT = 10
"""Seconds in which a scheduler must answer."""
PATIENCE = 5.0
"""Seconds without a block after which workers are looked for."""
SHORT_MEMORY = {"distributed.admin.low-level-log-length": 10}
"""A Dask client keeps the last 1,000 messages it sent, windows and all: 700 MB after 600 windows of 550 kB each."""
_ADDRESS = re.compile(r"local:([1-9]\d{0,4})|(tcp|tls|ucx|wss?)://[^\s/]+:\d+(/\S*)?")


class Cluster(WorkerEngine):
    """`Cluster("tcp://host:8786")` uses the workers of a scheduler, `Cluster("local:4")` four of its own here."""

    def __init__(self, address: str) -> None:
        kind = _ADDRESS.fullmatch(address)
        if kind is None:
            expected = "the address of a Dask scheduler, such as tcp://host:8786, or local:N"
            raise UsageError(f"--cluster {address}: expected {expected}")
        self._address, self._local = address, int(kind[1] or 0)
        self._dask = needed("distributed", "cluster", "--cluster")

    @contextmanager
    def opened(self, work: Work) -> Iterator[None]:
        """Connect to the scheduler. Windows that are not done at the end are dropped by it."""
        # Sent with every window: as a result of its own it could be lost with a worker.
        self._work, self._numbers, self._is_warned = zlib.compress(pack_work(work)), count(), False
        with _quiet(), ExitStack() as opened:
            try:
                with needed("dask", "cluster", "--cluster").config.set(SHORT_MEMORY):
                    place: Any = self._address
                    if self._local:
                        place = opened.enter_context(self._dask.LocalCluster(self._local, 1, dashboard_address=None))
                    # Dask waits for ever on what is no scheduler, such as the port of its own dashboard.
                    client = _in_background(lambda: self._dask.Client(place, timeout=TIMEOUT, set_as_default=False))
                    self._client = opened.enter_context(client.result(TIMEOUT + 2))
            except Exception as error:  # every kind of address has errors of its own
                why = str(error) or "something answers there, but not as a scheduler does"
                raise UsageError(f"cannot reach the scheduler at {self._address}: {why}") from None
            yield

    def ahead(self) -> int:
        """Return AHEAD for each worker's thread: workers come and go."""
        return AHEAD * max(1, self._threads())

    def _threads(self) -> int:
        try:
            if self._client.status == "running":
                # `nthreads()` waits for ever if the scheduler dies while it is asked; rarely with its own timeout, too.
                threads = _in_background(self._client.nthreads).result(TIMEOUT)
                return sum(threads.values())
        except OSError:
            pass
        raise self._lost()

    def submit(self, first: int, items: Sequence[Item]) -> Any:
        """Begin a window; its result will be an `Outcome`."""
        key = f"vqagen-{self._client.id}-{next(self._numbers)}"
        find = (pkgutil.resolve_name, "vqagen.run.engines:do_on_cluster")
        # A scheduler remembers the last 1,000 messages that it sent, so they are compressed.
        request = self._work, first, zlib.compress(pickle.dumps(items), level=1)
        return self._client.get({key: (operator.call, find, __version__, self._client.id, request)}, key, sync=False)

    def outcome(self, future: Any, items: Sequence[Item]) -> Outcome:
        """Return the outcome of a window, and find the reason if Dask has not done it."""
        made = span_of(items)
        try:
            result: Outcome = future.result()
            return result
        except self._dask.KilledWorker as error:
            # The death of a worker counts against all windows that it had, also those that only waited there.
            them = f"{made}, or what waited beside them, lost their worker {error.allowed_failures + 1} times"
            return Outcome(VqagenError(f"given up: {them}; does it run out of memory?"))
        except (OSError, self._dask.CancelledError):
            raise self._lost() from None
        except (ModuleNotFoundError, AttributeError) as error:  # of a worker that lacks `do_on_cluster`
            return Outcome(VqagenError(f"every worker needs vqagen {__version__}, and one lacks it: {error}"))
        except Exception as error:
            return Outcome(WindowFailed(f"{made}: {error!r}"))

    def next_finished(self) -> Block | None:
        """Wait for the next block. Warn once when there are no workers; VqagenError if the scheduler is lost."""
        while True:
            try:
                return self.finished.get(timeout=PATIENCE)
            except Empty:
                if not self._threads() and not self._is_warned:
                    self._is_warned = True
                    warn(Problem(f"no workers at {self._address}: waiting for some to come"))

    def _lost(self) -> VqagenError:
        lost = f"lost the scheduler at {self._address}"
        return VqagenError(f"{lost}; what is done is kept, and --resume goes on from there")


def _in_background(action: Callable[[], Any]) -> Future[Any]:
    """Return what the action will have returned."""
    answer: Future[Any] = Future()

    def act() -> None:
        try:
            answer.set_result(action())
        except Exception as error:
            answer.set_exception(error)

    threading.Thread(target=act, daemon=True).start()
    return answer


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's log, and its advice on how to use Dask, off the user's terminal: errors report what matters of it."""
    names = ("distributed", "tornado", "asyncio", *logging.root.manager.loggerDict)
    loggers = [logging.getLogger(name) for name in names if name.split(".")[0] in {"distributed", "tornado", "asyncio"}]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            for package in ("distributed", "dask"):
                warnings.filterwarnings("ignore", module=rf"{package}\b")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
