"""A Dask cluster on this machine, for `--cluster local:N`: a way to try a cluster before there is one."""

from __future__ import annotations

import logging
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import NamedTuple

from vqagen.errors import VqagenError
from vqagen.extras import needed
from vqagen.run.engines.child import end_with_parent, start_python

FAILURES = 2
"""How often a window may lose its worker and be done again."""
CONFIG = {
    "distributed.comm.timeouts.connect": "3s",  # to a worker that has gone; the 30 s of Dask are for networks
    "distributed.admin.low-level-log-length": 10,  # of 1,000 messages, each with a window in it
}

YOUTH = 60.0
"""Seconds: a worker that dies before may be one that cannot live."""
LIVES = 10
"""How many processes may die young one after the other, until no more are started in their place."""
PAUSE = 0.2
"""Seconds before another process takes the place of the second that has died young; twice that after the third, …"""
NO_START = "a Dask worker process could not start on this machine"

_WORKER_SETTINGS = {
    "DASK_LOGGING__DISTRIBUTED": "critical",
    "DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH": "10",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",  # nobody looks at it
}


class LocalCluster(NamedTuple):
    """A scheduler in this process, with worker processes of its own."""

    address: str
    workers: list[_Worker]

    def check(self) -> None:
        """VqagenError if there is a worker that cannot be kept alive."""
        if any(worker.is_given_up for worker in self.workers):
            raise VqagenError(f"a Dask worker process on this machine died {LIVES} times in a row; out of memory?")


@contextmanager
def local_cluster(size: int) -> Iterator[LocalCluster]:
    """A scheduler that `size` worker processes of one thread each report to. None of them stays behind.

    The workers are started by a command of their own. As `LocalCluster` starts them, they would import the user's main
    module again and be hit by Ctrl-C; and its nannies give up when a worker dies of its first window.
    """
    distributed = needed("distributed", "cluster", "--cluster")
    config = needed("dask", "cluster", "--cluster").config.set(CONFIG)
    with config, TemporaryDirectory(prefix="vqagen-") as scratch, ExitStack() as started:
        cluster = started.enter_context(
            distributed.LocalCluster(
                n_workers=0,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",  # of its own: Dask's usual port may be in use
                silence_logs=logging.CRITICAL,
                scheduler_kwargs={"allowed_failures": FAILURES, "local_directory": scratch},
            )
        )
        workers: list[_Worker] = []
        for _ in range(size):
            workers.append(_hired(cluster.scheduler_address, scratch))
            started.callback(workers[-1].end)
        _wait_for(lambda: len(cluster.scheduler.workers) >= size, workers)
        yield LocalCluster(cluster.scheduler_address, workers)


class _Worker:
    """A worker process, and another one whenever it dies, unless it cannot live."""

    def __init__(self, address: str, scratch: str) -> None:
        self._address, self._scratch = address, scratch
        self._changing = threading.Lock()
        self._ended = threading.Event()
        self._their_lifeline, self._lifeline = os.pipe()
        self.deaths = 0
        """One after the other, each soon after its birth."""
        self._process = self._started()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def end(self) -> None:
        """Make sure that the process is gone."""
        with self._changing:
            self._ended.set()
            self._process.kill()
        self._keeper.join()
        os.close(self._lifeline)
        os.close(self._their_lifeline)

    @property
    def is_given_up(self) -> bool:
        return self.deaths >= LIVES

    def _keep(self) -> None:
        while not self.is_given_up:
            born = time.monotonic()
            self._process.wait()
            self.deaths = self.deaths + 1 if time.monotonic() - born < YOUTH else 1
            self._ended.wait(PAUSE * (self.deaths - 1))
            with self._changing:
                if self._ended.is_set():
                    return
                self._replace()

    def _replace(self) -> None:
        """Start another process. If that cannot be, the dead one stays, and its death counts once more."""
        with suppress(OSError):
            self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        serve = f"from vqagen.run.engines.local_cluster import serve; serve({self._their_lifeline})"
        options = ["--no-nanny", "--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard", "--memory-limit", "0"]
        options += ["--local-directory", self._scratch]
        return start_python(serve, [self._their_lifeline], [self._address, *options], _WORKER_SETTINGS)


def serve(lifeline: int) -> None:
    """Be the worker that this process's arguments describe. The lifeline ends when the parent does, however it ends."""
    from distributed.cli.dask_worker import main

    end_with_parent(lifeline)
    main()


def _wait_for(are_ready: Callable[[], bool], workers: list[_Worker]) -> None:
    while not are_ready():
        if any(worker.deaths for worker in workers):
            raise VqagenError(NO_START)
        time.sleep(0.02)


def _hired(address: str, scratch: str) -> _Worker:
    try:
        return _Worker(address, scratch)
    except OSError as error:
        raise VqagenError(f"{NO_START}: {error.strerror or error}") from error
