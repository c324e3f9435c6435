"""Middleware before all routes: who may ask, how often, the headers of every reply, and mistakes that stay inside."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vqagen.human.server.limits import Buckets, network_of
from vqagen.human.server.replies import (
    FORBIDDEN,
    INVALID,
    NOT_FOUND,
    TOO_MANY,
    UNAVAILABLE,
    Failure,
    error_reply,
)
from vqagen.human.store.opening import StoreError

LOG = logging.getLogger("vqagen.human")
LONGEST_REPLY = 15.0
"""Seconds until a request whose answer is not ready is given up; the page sends it again."""
_UNLIMITED = ("/static/", "/healthz")
"""Beginnings of paths whose replies come from memory."""


class Middleware:
    """Wrap an application: refuse requests before it, add headers to its replies, and reply where it fails."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str], limits: Buckets, origin: str = "") -> None:
        """`origin` is that of the public URL, beside the one that `Host` names."""
        self._app, self._limits, self._origin = app, limits, origin
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        assert scope["type"] == "http", scope["type"]
        has_begun = False

        async def send_safely(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        scope["app"] = self  # routes raise HTTPException only inside of an application
        failure = self._refusal(scope)
        try:
            if failure is None:
                async with asyncio.timeout(LONGEST_REPLY):
                    await self._app(scope, receive, send_safely)
        except Exception as error:
            failure = failure_of(error)
        if failure and not has_begun:
            await error_reply(failure)(scope, receive, send_safely)

    def _refusal(self, scope: Scope) -> Failure | None:
        path: str = scope["path"]
        if path.startswith(_UNLIMITED):
            return None
        if path.startswith("/api/") and not self._is_own_page(Headers(scope=scope)):
            return Failure(403, FORBIDDEN, "this request comes from another site")
        client = scope.get("client")
        if client and not self._limits.take(network_of(client[0]), asyncio.get_running_loop().time()):
            return Failure(429, TOO_MANY, "too many requests from this network; wait a second")
        return None

    def _is_own_page(self, headers: Headers) -> bool:
        """False if the browser says that a page of another site asks. Programs that are no browser say nothing."""
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None or origin is None:
            return site in (None, "same-origin")
        with suppress(ValueError):
            parts = urlsplit(origin)
            is_host = parts.scheme in ("http", "https") and parts.netloc and parts.netloc == headers.get("host")
            return origin == self._origin or bool(is_host)
        return False


def failure_of(error: Exception) -> Failure:
    """Return what to reply; log what the operator should know. Messages of mistakes may hold what a rater sent."""
    match error:
        case Failure():
            return error
        case HTTPException(status_code=405):
            return Failure(405, INVALID, "the method is not allowed here")
        case HTTPException():
            return Failure(404, NOT_FOUND, "there is nothing here")
        case ClientDisconnect():
            return Failure(400, INVALID, "the request is not complete")
        case TimeoutError():
            return Failure(503, UNAVAILABLE, "this took too long; try again")
        case StoreError():
            LOG.error("answers cannot be stored: %s", error)
            return Failure(503, UNAVAILABLE, "answers cannot be stored at the moment; try again")
    places = traceback.extract_tb(error.__traceback__)
    shown = " < ".join(f"{place.filename.rpartition('/')[2]}:{place.lineno}" for place in reversed(places[-4:]))
    LOG.error("mistake of the server: %s at %s", type(error).__name__, shown)
    return Failure(500, "error", "the server made a mistake")
