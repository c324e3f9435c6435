"""The process that serves a study: all that must be right before it starts, and a stop that loses nothing."""

from __future__ import annotations

import asyncio
import logging
import resource
import signal
import socket
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files.output import sweep
from vqagen.human.server.app import PageFiles, StudyApp, read_image
from vqagen.human.server.requests import LOG, Buckets, Middleware, safety_headers
from vqagen.human.server.sessions import Sessions
from vqagen.human.settings import ServeSettings
from vqagen.human.store.facts import SERVED, Log, StoreUnreachable
from vqagen.human.store.opening import open_log, study_lock
from vqagen.human.store.study_state import StudyState
from vqagen.human.store.writer import Writer
from vqagen.human.study.study import SERVING_FILE, Study, load_study
from vqagen.human.study.texts import TEXTS_FILE
from vqagen.human.tokens import (
    PROLIFIC_KEYS_FILE,
    SECRET_FILE,
    Participant,
    Secret,
    load_prolific_keys,
    load_secret,
    pseudonym,
)

SESSION_RATE = 5
"""Requests a second of one rater."""
BURST = 4
"""Seconds' worth of requests that may come at once."""
CLAIM_RATE, CLAIM_BURST = 0.1, 30
"""Places a second that raters of one network take, and how many at once, such as a class."""
GRACE = 10
"""Seconds in which requests that have begun are finished when the server stops."""
SILENCE = 30.0
"""Seconds in which a line of the log is not repeated."""
RETRY_EVERY = 1.0
"""Seconds between two attempts to reach the store at the start."""
LONGEST_REQUEST = 15.0
"""Seconds from the connection, or from the first byte of a further request, until a request has arrived as a whole."""
STANDSTILL = 60.0
"""Seconds in which a client must take `LEAST_TAKEN` bytes of a reply that is waiting: large images take longer."""
LEAST_TAKEN = 65_536

_REFUSED = "links, sessions and codes of before are refused, and raters who come again count as other people"
_LOST = f"without it, {_REFUSED}; restore a copy of it, or make a new one with new links by `vqagen human links`"


def serve(
    folder: Path | str, settings: ServeSettings | None = None, on_ready: Callable[[str], object] = lambda _: None
) -> None:
    """Serve a study to raters until SIGTERM or Ctrl-C. `on_ready` is called with its address when raters can come."""
    study, settings = load_study(folder), settings or ServeSettings()
    raise_unfit(study)
    page = PageFiles()
    opens = partial(open_log, settings.store or study.store, study.id, durability=settings.redis_durability)
    _log_to_stderr()
    with study_lock(study.folder):
        sweep(str(study.folder / SECRET_FILE))
        _make_log(opens, study.folder / SERVED)
        with _listening(settings) as listener:
            asyncio.run(_serve(study, settings, page, Writer(opens), listener, on_ready))


def raise_unfit(study: Study) -> None:
    """Raise BadInput if a study must not be shown to raters: texts to fill in, or images that were changed."""
    texts = str(study.folder / TEXTS_FILE)
    problems = [
        Problem(f"{{{{{name}}}}} is not filled in: write its value under `values`, or delete it from the texts", texts)
        for name in study.texts.placeholders()
    ]
    serving = study.serving
    if (
        len(
            {
                bool(part)
                for part in (serving.prolific_audience, serving.prolific_workspace, load_prolific_keys(study.folder))
            }
        )
        > 1
    ):
        message = f"prolific_audience, prolific_workspace and the file {PROLIFIC_KEYS_FILE} beside it need each other"
        problems.append(Problem(message, str(study.folder / SERVING_FILE)))
    with ThreadPoolExecutor(2) as pool:
        images = list(study.images.values())
        contents = pool.map(partial(read_image, study.folder), images)
        changed = [image for image, content in zip(images, contents, strict=True) if content is None]
    message = "changed since the study was made; restore it, or make the study again"
    problems += [Problem(message, str(study.folder / image.file)) for image in changed]
    if problems:
        raise BadInput(problems)


def _make_log(opens: Callable[..., Log], served: Path) -> None:
    """Make the log of the study if it was never served. A server of it that is not there yet is waited for."""
    while True:
        try:
            opens(create=not served.exists()).close()
            return served.touch()
        except StoreUnreachable as error:
            LOG.warning("waiting for the store; Ctrl-C stops: %s", error)
            time.sleep(RETRY_EVERY)


def build_app(
    study: Study, settings: ServeSettings, secret: Secret, page: PageFiles, writer: Writer, **clock: Any
) -> tuple[Middleware, Sessions]:
    """Return the application of a study, and its sessions. `client_rate` 0 sets no limits at all."""
    is_limited = bool(settings.client_rate)
    sessions = Sessions(study, secret, writer, Buckets(CLAIM_RATE * is_limited, CLAIM_BURST), **clock)
    app = StudyApp(sessions, page, writer, Buckets(SESSION_RATE * is_limited, SESSION_RATE * BURST))
    headers = safety_headers(is_https=settings.is_https, frame_ancestors=settings.frame_ancestors)
    parts = urlsplit(settings.public_url)
    limits = Buckets(settings.client_rate, settings.client_rate * BURST)
    return Middleware(app.router(), headers, limits, f"{parts.scheme}://{parts.netloc}"), sessions


async def _serve(
    study: Study,
    settings: ServeSettings,
    page: PageFiles,
    writer: Writer,
    listener: socket.socket,
    on_ready: Callable[[str], object],
) -> None:
    try:
        secret = _secret_of_raters(study, await writer.study_state())
        app, _ = build_app(study, settings, secret, page, writer)
        server = uvicorn.Server(uvicorn_config(app, settings))
        server.capture_signals = nullcontext  # type: ignore[method-assign,assignment]  # would end the process by the signal
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, server.handle_exit, number, None)
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        on_ready(settings.public_url or f"http://{host}:{listener.getsockname()[1]}")
        watching = asyncio.create_task(watch(server.server_state.connections))
        await server.serve([listener])
        watching.cancel()
    finally:
        await writer.close()


def _secret_of_raters(study: Study, study_state: StudyState) -> Secret:
    """Return the secret. Raise BadInput if it was lost since raters joined; warn if they joined by another one."""
    joined = next(iter(study_state.people.items()), None)
    secret = load_secret(study.folder, missing=_LOST if joined else "")
    if joined and pseudonym(secret, Participant(*joined[1])) != joined[0]:
        LOG.warning("the secret is not the one by which raters joined: %s; restore it", _REFUSED)
    return secret


def uvicorn_config(app: Middleware, settings: ServeSettings) -> uvicorn.Config:
    """Return how uvicorn is to serve an application."""
    return uvicorn.Config(
        app,
        http=TimedConnection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=75,  # seconds: raters think longer than uvicorn's 5
        timeout_graceful_shutdown=GRACE,
        limit_concurrency=4000,  # further connections get 503
        backlog=2048,
        h11_max_incomplete_event_size=16_384,  # bytes of headers
        forwarded_allow_ips=settings.forwarded_allow_ips,
    )


@contextmanager
def _listening(settings: ServeSettings) -> Iterator[socket.socket]:
    """Yield a socket that raters can connect to."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):  # as many connections as the system allows
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        address, reason = f"{settings.host}:{settings.port}", error.strerror or error
        raise UsageError(f"cannot listen on {address}: {reason}; choose another --port or --host") from None
    with listener:
        yield listener


def throttle() -> Callable[[logging.LogRecord], bool]:
    """Return a filter that lets a line of the log through once in `SILENCE` seconds, without a traceback."""
    until: dict[str, float] = {}

    def is_new(record: logging.LogRecord) -> bool:
        record.exc_info = None
        now, line = time.monotonic(), record.getMessage()
        if now < until.get(line, 0):
            return False
        until[line] = now + SILENCE
        return True

    return is_new


def _log_to_stderr() -> None:
    """Write messages of the server to standard error. None has an address, id, token or answer."""
    handler = logging.StreamHandler()
    handler.addFilter(throttle())
    logging.basicConfig(handlers=[handler], format="%(asctime)s vqagen: %(message)s", datefmt="%Y-%m-%d %H:%M:%S")


# Connections ----------------------------------------------------------------------------------------------------------
#
# HTTP by uvicorn and h11, with limits on the time that a client may take: uvicorn has no limit on how long a request
# may take to arrive, so that a few hundred clients which send a byte now and then ("slowloris") would hold their
# connections for ever.


class JoinedWrites:
    """A transport that sends at once all that is written in one step: h11 gives head and body of a reply one by one.

    One system call less for each reply saves nearly half of its time (`scripts/bench human load`).
    """

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, part: bytes) -> None:
        """Send a part at the end of this step."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(part)

    def close(self) -> None:
        """Send what is left, and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            self._transport.write(b"".join(parts))


class TimedConnection(H11Protocol):
    """A connection that `watch` closes if its client is too slow."""

    awaited_since: float | None = None
    """When the request began that has not arrived as a whole."""
    standstill: tuple[float, int] | None = None
    """When a reply was waiting, and how many bytes of it."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(JoinedWrites(transport, self.loop))  # type: ignore[arg-type]
        self.awaited_since = self.loop.time()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        state = self.conn.their_state
        is_part = state is h11.SEND_BODY or (state is h11.IDLE and bool(self.conn.trailing_data[0]))
        self.awaited_since = (self.awaited_since or self.loop.time()) if is_part else None

    def close_if_slow(self, now: float) -> None:
        """Close the connection if the client sends or takes too slowly."""
        is_slow = self.awaited_since is not None and now - self.awaited_since >= LONGEST_REQUEST
        waiting = self.transport.get_write_buffer_size()
        if not waiting or self.standstill is None:
            self.standstill = (now, waiting) if waiting else None
        elif now - self.standstill[0] >= STANDSTILL:
            is_slow |= waiting > self.standstill[1] - LEAST_TAKEN
            self.standstill = now, waiting
        if is_slow:
            self.transport.abort()


async def watch(connections: Collection[Any]) -> None:
    """Close slow connections, as long as the server runs."""
    while True:
        await asyncio.sleep(1)
        for connection in list(connections):
            connection.close_if_slow(asyncio.get_running_loop().time())
