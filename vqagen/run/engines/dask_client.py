"""A client of a Dask scheduler: connected within a time, of any kind of address, and without a word on the terminal."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from vqagen.errors import UsageError
from vqagen.extras import needed

TIMEOUT = 10
"""Seconds in which a scheduler must answer."""
SHORT_MEMORY = {"distributed.admin.low-level-log-length": 10}
"""A Dask client keeps the last 1,000 messages it sent, windows and all: 700 MB after 600 windows of 550 kB each."""
_SECURED = ("tls", "wss")
"""Kinds of address that need certificates."""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the scheduler. Windows that are not done when it closes are dropped by the cluster."""
    try:
        with unwarned(), needed("dask", "cluster", "--cluster").config.set(SHORT_MEMORY):
            client = _within(TIMEOUT + 2, lambda: _client(address))
    except Exception as error:  # every kind of address has errors of its own
        raise UsageError(f"cannot reach the scheduler at {address}: {error or type(error).__name__}") from None
    try:
        yield client
    finally:
        client.close(TIMEOUT)


def _client(address: str) -> Any:
    distributed = needed("distributed", "cluster", "--cluster")
    _check_kind(address, distributed)
    return distributed.Client(address, timeout=TIMEOUT, set_as_default=False)


def _check_kind(address: str, distributed: Any) -> None:
    """ValueError for an address at which no client can be made: one that was made in part spoils the terminal."""
    kind, kinds = address.partition("://")[0], distributed.comm.registry.backends
    if kind not in kinds:
        raise ValueError(f"Dask connects by {', '.join(sorted(kinds))}, not by {kind}")
    if kind in _SECURED and not distributed.Security().get_connection_args("client").get("ssl_context"):
        raise ValueError(f"{kind} needs certificates: say where in Dask's configuration (distributed.comm.tls)")


def _within(seconds: float, action: Callable[[], Any]) -> Any:
    """What the action returns. Dask waits for ever on what is no scheduler, such as its own dashboard's port."""
    try:
        return in_background(action).result(seconds)
    except TimeoutError as error:
        raise TimeoutError(str(error) or "something answers there, but not as a scheduler does") from None


def in_background(action: Callable[[], Any]) -> Future[Any]:
    """What the action will have returned."""
    answer: Future[Any] = Future()

    def act() -> None:
        try:
            answer.set_result(action())
        except Exception as error:
            answer.set_exception(error)

    threading.Thread(target=act, daemon=True).start()
    return answer


@contextmanager
def unwarned() -> Iterator[None]:
    """Without Dask's advice on how to use Dask."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def quiet() -> Iterator[None]:
    """Without Dask's log on the user's terminal: errors report what matters of it."""
    names = ("distributed", "tornado", "asyncio", *logging.root.manager.loggerDict)
    loggers = [logging.getLogger(name) for name in names if name.split(".")[0] in {"distributed", "tornado", "asyncio"}]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
