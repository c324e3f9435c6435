"""A Dask cluster on this machine, for `--cluster local:N`: a way to try a cluster before there is one."""

from __future__ import annotations

import logging
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory

from vqagen.errors import VqagenError
from vqagen.extras import needed
from vqagen.run.child import end_with_parent, start_python

FAILURES = 2
"""How often a window may lose its worker and be done again."""
CONFIG = {
    "distributed.comm.timeouts.connect": "3s",  # to a worker that has gone; the 30 s of Dask are for networks
    "distributed.admin.low-level-log-length": 10,  # of 1,000 messages, each with a window in it
}

_WORKER_SETTINGS = {
    "DASK_LOGGING__DISTRIBUTED": "critical",
    "DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH": "10",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",  # nobody looks at it
}


@contextmanager
def local_cluster(size: int) -> Iterator[str]:
    """The address of a scheduler that `size` worker processes of one thread each report to. None of them stays behind.

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
        workers = [_Worker(cluster.scheduler_address, scratch) for _ in range(size)]
        for worker in workers:
            started.callback(worker.end)
        _wait_for(lambda: len(cluster.scheduler.workers) >= size, workers)
        yield cluster.scheduler_address


class _Worker:
    """A worker process, and another one whenever it dies."""

    def __init__(self, address: str, scratch: str) -> None:
        self._address, self._scratch = address, scratch
        self._changing = threading.Lock()
        self._ended = False
        self._their_lifeline, self._lifeline = os.pipe()
        self.deaths = 0
        self._process = self._started()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def end(self) -> None:
        """Make sure that the process is gone."""
        with self._changing:
            self._ended = True
            self._process.kill()
        self._keeper.join()
        os.close(self._lifeline)
        os.close(self._their_lifeline)

    def _keep(self) -> None:
        while True:
            self._process.wait()
            with self._changing:
                if self._ended:
                    return
                self.deaths += 1
                self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        serve = f"from vqagen.run.local_cluster import serve; serve({self._their_lifeline})"
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
            raise VqagenError("a Dask worker process could not start on this machine")
        time.sleep(0.02)
