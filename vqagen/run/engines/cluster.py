"""The engine for several machines: windows go to the workers of a Dask cluster, and their blocks come back in order.

Dask keeps what it was given until it is done, and does the windows of a lost worker again on another one. All that it
is given is bytes, and functions of the standard library that find ours on the worker (`run.cluster_worker`): a
scheduler needs no vqagen, and a worker without it can be distinguished from other trouble.
"""

from __future__ import annotations

import importlib.util
import operator
import pickle
import pkgutil
import re
import time
import zlib
from collections.abc import Generator, Iterator
from concurrent.futures import wait
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from vqagen import __version__
from vqagen.errors import Problem, UsageError, VqagenError, warn
from vqagen.extras import needed
from vqagen.run.engines.dask_client import connected, in_background, quiet, unwarned
from vqagen.run.engines.ordering import Begun, Ordering
from vqagen.run.engines.parcels import packed_work, unpacked_outcome
from vqagen.run.work import Block, Outcome, Window, WindowFailed, Work, span_of

RUNNING = 2
"""Windows at the cluster for each thread there: one that it does, and the next."""
AHEAD = 4
"""Windows for each thread that may have been begun and not yet been written: this bounds memory."""
LOOK = 1.0
"""Seconds after which the cluster is looked at again: workers come and go."""
PATIENCE = 5.0
"""Seconds without any worker before the user is warned."""


class Cluster:
    """`Cluster("tcp://host:8786")` is the engine that uses a scheduler's workers."""

    def __init__(self, address: str) -> None:
        if not re.fullmatch(r"[a-z]+://[^\s/]+:\d+(/\S*)?", address):
            expected = "the address of a Dask scheduler, such as tcp://host:8786"
            raise UsageError(f"--cluster {address}: expected {expected}")
        self._address = address
        needed("distributed", "cluster", "--cluster")

    def __call__(self, work: Work, windows: Iterator[Window]) -> Generator[Block]:
        """The blocks of all windows, in order. Nothing that was started outlives the generator."""
        with quiet(), connected(self._address) as client:
            yield from _Run(client, self._address, work, windows).blocks()


@dataclass(frozen=True, slots=True)
class _Sent:
    """A window at the cluster."""

    number: int
    made: str
    """What of the input it holds, for people."""


class _Run:
    """The windows of one run: those at the cluster, and those whose turn to be given out has not come."""

    def __init__(self, client: Any, address: str, work: Work, windows: Iterator[Window]) -> None:
        self.client, self.address = client, address
        # Sent with every window: as a result of its own it could be lost with a worker.
        self.work = zlib.compress(packed_work(work))
        self.sent: dict[Any, _Sent] = {}
        self.finished: SimpleQueue[Any] = SimpleQueue()
        self.looked = self.manned = time.monotonic()
        self.threads = self.threads_now()
        self.ordering = Ordering(windows, AHEAD)
        self.told_of_waiting = False

    def blocks(self) -> Iterator[Block]:
        """All blocks in order."""
        self.send()
        while self.sent:
            self.hear()
            self.send()
            yield from self.ordering.blocks()
            self.send()  # more may be begun when some are written
        self.ordering.end()

    def send(self) -> None:
        """Keep all workers busy, as many as there are now."""
        self.look()
        threads = max(1, self.threads)
        self.ordering.ahead = AHEAD * threads
        while len(self.sent) < RUNNING * threads and (window := self.ordering.begin()):
            future = self.submit(window)
            self.sent[future] = _Sent(window.number, span_of(window.items))
            future.add_done_callback(self.finished.put)

    def submit(self, window: Begun) -> Any:
        """A window's future, whose result is a pickled `Outcome`."""
        if self.client.status != "running":
            raise self.lost()
        key = (f"vqagen-{self.client.id}", window.number)
        # A scheduler remembers the last 1,000 messages that it sent.
        packed = zlib.compress(pickle.dumps(window.items), level=1)
        find = (pkgutil.resolve_name, "vqagen.run.engines.cluster_worker:do")
        arguments = (__version__, self.client.id, self.work, packed)
        with unwarned():  # a large window is meant to be one
            return self.client.get({key: (operator.call, find, *arguments)}, key, sync=False)

    def hear(self) -> None:
        """Wait for a window to be done, while there is a cluster that may do it."""
        while True:
            try:
                future = self.finished.get(timeout=LOOK)
                break
            except Empty:
                self.look()
        sent = self.sent.pop(future)
        self.ordering.finish(sent.number, self.outcome(future, sent.made))
        future.release()

    def look(self) -> None:
        """Follow workers that come or go."""
        now = time.monotonic()
        if now - self.looked < LOOK:
            return
        self.looked = now
        threads = self.threads_now()
        if threads:
            self.threads, self.manned = threads, now
        elif now - self.manned > PATIENCE and not self.told_of_waiting:
            self.told_of_waiting = True
            warn(Problem(f"no workers at {self.address}: waiting for some to come"))

    def threads_now(self) -> int:
        """The threads of all workers."""
        if self.client.status != "running":
            raise self.lost()
        try:
            return sum(self.client.nthreads().values())
        except OSError:
            raise self.lost() from None

    def outcome(self, future: Any, made: str) -> Outcome:
        """What became of a window."""
        distributed = needed("distributed", "cluster", "--cluster")
        try:
            packed = self.fetched(future)
        except VqagenError:  # of the cluster, not of the window
            raise
        except distributed.KilledWorker as error:
            # The death of a worker counts against all windows that it had, also those that only waited there.
            them = f"{made}, or what waited beside them, lost their worker {error.allowed_failures + 1} times"
            return Outcome(error=VqagenError(f"given up: {them}; does it run out of memory?"))
        except (OSError, distributed.CancelledError):
            raise self.lost() from None
        except (ModuleNotFoundError, AttributeError) as error:
            return Outcome(error=self.without_us(error))
        except Exception as error:
            return Outcome(error=WindowFailed(f"{made}: {error!r}"))
        return unpacked_outcome(packed)

    def fetched(self, future: Any) -> bytes:
        """What a window that is done came to. Its worker may be lost before it is fetched: then others do it again."""
        coming = in_background(future.result)
        while not wait((coming,), LOOK).done:
            self.look()
        packed: bytes = coming.result()
        return packed

    def lost(self) -> VqagenError:
        return VqagenError(
            f"lost the scheduler at {self.address}; what is done is kept, and --resume goes on from there"
        )

    def without_us(self, error: Exception) -> VqagenError:
        """The error for workers that cannot find this package."""
        found = self.client.run(importlib.util.find_spec, "vqagen", on_error="return")
        bare = sorted(worker for worker, spec in found.items() if spec is None)
        where = ", ".join(bare[:3]) + (f" and {len(bare) - 3} more" if len(bare) > 3 else "")
        wanted = f"every worker needs vqagen {__version__}"
        return VqagenError(
            f"no vqagen on {where}: {wanted}"
            if bare
            else f"a worker's vqagen is of another version: {wanted} ({error})"
        )
