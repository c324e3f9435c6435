"""The process that serves a study: all that must be right before it starts, and a stop that loses nothing."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import uvicorn

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.human.links.people import Participant, pseudonym
from vqagen.human.links.secret import Secret, load_secret
from vqagen.human.server.app import StudyApp
from vqagen.human.server.connection import TimedConnection
from vqagen.human.server.limits import Buckets
from vqagen.human.server.middleware import LOG, Middleware
from vqagen.human.server.page_files import PageFiles
from vqagen.human.server.replies import safety_headers
from vqagen.human.server.roster import Roster
from vqagen.human.server.sessions import Sessions
from vqagen.human.server.settings import ServeSettings
from vqagen.human.store.committer import Committer
from vqagen.human.store.lock import study_lock
from vqagen.human.store.opening import open_store
from vqagen.human.store.store import StoreError
from vqagen.human.study.images import StudyImage
from vqagen.human.study.study import Study
from vqagen.human.study.texts import TEXTS_FILE

MOST_CONNECTIONS = 4000
"""Connections at once; further ones get 503."""
SESSION_RATE = 5
"""Requests a second of one rater."""
BURST = 4
"""Seconds' worth of requests that may come at once."""
IDLE = 75
"""Seconds until a connection without requests is closed: raters think longer than that of a few seconds."""
GRACE = 10
"""Seconds in which requests that have begun are finished when the server stops."""
LARGEST_HEADERS = 16_384
"""Bytes of the headers of a request."""
RECLAIM_EVERY = 60.0
"""Seconds between two looks for leases that have run out."""

_REFUSED = "links, sessions and codes of before are refused, and raters who come again count as other people"
_LOST = f"without it, {_REFUSED}; restore a copy of it, or make a new one with new links by `vqagen human links`"


def serve_study(study: Study, settings: ServeSettings, on_ready: Callable[[str], object]) -> None:
    """Serve a study until SIGTERM or Ctrl-C. `on_ready` is called with its address when raters can come."""
    raise_unfit(study)
    page = PageFiles()
    with study_lock(study.folder), _listening(settings) as listener, _logging():
        place = settings.store or study.store
        durability = settings.redis_durability
        open_store(place, study.id, create=True, durability=durability).close()
        committer = Committer(lambda: open_store(place, study.id, create=False, durability=durability))
        try:
            asyncio.run(_serve(study, settings, page, committer, listener, on_ready))
        finally:
            committer.stop()


def raise_unfit(study: Study) -> None:
    """Raise BadInput if a study must not be shown to raters: texts to fill in, or images that were changed."""
    texts = str(study.folder / TEXTS_FILE)
    problems = [
        Problem(f"{{{{{name}}}}} is not filled in: write its value under `values`, or delete it from the texts", texts)
        for name in study.texts.placeholders()
    ]
    with ThreadPoolExecutor(2) as pool:
        images = list(study.images.values())
        for image, is_same in zip(images, pool.map(lambda image: _is_unchanged(study, image), images), strict=True):
            if not is_same:
                message = "changed since the study was made; restore it, or make the study again"
                problems.append(Problem(message, str(study.folder / image.file)))
    if problems:
        raise BadInput(problems)


def _is_unchanged(study: Study, image: StudyImage) -> bool:
    try:
        with (study.folder / image.file).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == image.sha256
    except OSError:
        return False


async def build_app(
    study: Study, settings: ServeSettings, secret: Secret, page: PageFiles, committer: Committer, **clock: Any
) -> tuple[Middleware, Sessions]:
    """Return the application of a study whose store is open, and its sessions."""
    roster = Roster(await committer.read(lambda store: list(store.assignments())))
    sessions = Sessions(study, secret, committer, roster, **clock)
    app = StudyApp(sessions, page, committer, _buckets(SESSION_RATE if settings.client_rate else 0))
    headers = safety_headers(is_https=settings.is_https, frame_ancestors=settings.frame_ancestors)
    parts = urlsplit(settings.public_url)
    origins = frozenset([f"{parts.scheme}://{parts.netloc}"] if settings.public_url else [])
    return Middleware(app.starlette(), headers, _buckets(settings.client_rate), origins), sessions


def _buckets(rate: int) -> Buckets:
    return Buckets(rate, rate * BURST)


async def _serve(
    study: Study,
    settings: ServeSettings,
    page: PageFiles,
    committer: Committer,
    listener: socket.socket,
    on_ready: Callable[[str], object],
) -> None:
    secret = await _secret_of_raters(study, committer)
    app, sessions = await build_app(study, settings, secret, page, committer)
    config = uvicorn_config(app, settings)
    reclaiming = asyncio.create_task(_reclaim(sessions))
    try:
        port = listener.getsockname()[1]
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        await _Server(config, lambda: on_ready(settings.public_url or f"http://{host}:{port}")).serve([listener])
    finally:
        reclaiming.cancel()
        with suppress(asyncio.CancelledError):
            await reclaiming


async def _secret_of_raters(study: Study, committer: Committer) -> Secret:
    """Return the secret. Raise BadInput if it was lost since raters joined; warn if they joined by another one."""
    joined = await committer.read(lambda store: next(iter(store.people()), None))
    secret = load_secret(study.folder, missing=_LOST if joined else "")
    if joined and pseudonym(secret, Participant(joined.platform, joined.person)) != joined.rater:
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
        timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=GRACE,
        limit_concurrency=MOST_CONNECTIONS,
        backlog=2048,
        h11_max_incomplete_event_size=LARGEST_HEADERS,
        forwarded_allow_ips=settings.forwarded_allow_ips,
    )


async def _reclaim(sessions: Sessions) -> None:
    while True:
        with suppress(StoreError):
            await sessions.reclaim()
        await asyncio.sleep(RECLAIM_EVERY)


class _Server(uvicorn.Server):
    """A server that ends normally when a signal stops it."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self._on_ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let SIGTERM and Ctrl-C stop the server; uvicorn would raise them once more at the end."""
        signals = (signal.SIGINT, signal.SIGTERM)
        before = {each: signal.signal(each, self.handle_exit) for each in signals}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


@contextmanager
def _listening(settings: ServeSettings) -> Iterator[socket.socket]:
    """Yield a socket that raters can connect to."""
    raise_limit_of_files()
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        place = f"{settings.host}:{settings.port}"
        message = f"cannot listen on {place}: {error.strerror or error}; choose another --port or --host"
        raise UsageError(message) from None
    with listener:
        yield listener


def raise_limit_of_files() -> None:
    """Let this process have as many connections as the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@contextmanager
def _logging() -> Iterator[None]:
    """Write messages about the server itself to standard error. No message has an address, id, token or answer."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s vqagen: %(message)s", "%Y-%m-%d %H:%M:%S"))
    LOG.addHandler(handler)
    LOG.propagate = False
    try:
        yield
    finally:
        LOG.removeHandler(handler)
