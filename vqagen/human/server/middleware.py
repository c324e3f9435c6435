"""Middleware before all routes: who may ask, how often, the headers of every reply, and mistakes that stay inside."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vqagen.human.server.payload import Failure, reply
from vqagen.human.store.opening import StoreError

LOG = logging.getLogger("vqagen.human")
LONGEST_REPLY = 15.0
"""Seconds until a request whose answer is not ready is given up; the page sends it again."""
_RETRY_AFTER = {429: "1", 503: "2"}
"""Seconds until the page should try again."""
_UNLIMITED = ("/static/", "/healthz")
"""Beginnings of paths whose replies come from memory."""
MOST_BUCKETS = 20_000
"""Buckets that are kept; the one that was not used for longest goes first, and is full when it is needed again."""
PREFIXES = {4: 24, 6: 64}
"""Version of an address -> its bits that a bucket is for."""
_UNUSED_FEATURES = (
    *("accelerometer", "autoplay", "browsing-topics", "camera", "display-capture", "encrypted-media", "geolocation"),
    *("gyroscope", "magnetometer", "microphone", "midi", "payment", "publickey-credentials-get", "screen-wake-lock"),
    *("usb", "xr-spatial-tracking"),
)


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
            answer = reply({"error": failure.code, "message": str(failure), **failure.more}, failure.status)
            if failure.status in _RETRY_AFTER:
                answer.headers["Retry-After"] = _RETRY_AFTER[failure.status]
            await answer(scope, receive, send_safely)

    def _refusal(self, scope: Scope) -> Failure | None:
        path: str = scope["path"]
        if path.startswith(_UNLIMITED):
            return None
        if path.startswith("/api/") and not self._is_own_page(Headers(scope=scope)):
            return Failure(403, "forbidden", "this request comes from another site")
        client = scope.get("client")
        if client and not self._limits.take(network_of(client[0]), asyncio.get_running_loop().time()):
            return Failure(429, "too_many", "too many requests from this network; wait a second")
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
            return Failure(405, "invalid", "the method is not allowed here")
        case HTTPException():
            return Failure(404, "not_found", "there is nothing here")
        case ClientDisconnect():
            return Failure(400, "invalid", "the request is not complete")
        case TimeoutError():
            return Failure(503, "unavailable", "this took too long; try again")
        case StoreError():
            LOG.error("answers cannot be stored: %s", error)
            return Failure(503, "unavailable", "answers cannot be stored at the moment; try again")
    places = traceback.extract_tb(error.__traceback__)
    shown = " < ".join(f"{place.filename.rpartition('/')[2]}:{place.lineno}" for place in reversed(places[-4:]))
    LOG.error("mistake of the server: %s at %s", type(error).__name__, shown)
    return Failure(500, "error", "the server made a mistake")


def safety_headers(*, is_https: bool, frame_ancestors: str = "'none'") -> Mapping[str, str]:
    """Return the headers of every reply. No script of others runs in the page, and nothing passes its address on."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        f"base-uri 'none'; form-action 'none'; frame-ancestors {frame_ancestors}; require-trusted-types-for 'script'"
    )
    headers = {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": ", ".join(f"{feature}=()" for feature in _UNUSED_FEATURES),
        "X-Robots-Tag": "noindex, nofollow",
    }
    if is_https:
        headers["Strict-Transport-Security"] = "max-age=31536000"
    return headers


class Buckets:
    """A token bucket for each key: `rate` requests a second, `burst` at once. A rate of 0 sets no limit."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self._burst = rate, burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, now: float) -> bool:
        """Take one token at a time in seconds; return False if there is none."""
        tokens, before = self._buckets.pop(key, (self._burst, now))
        tokens = min(self._burst, tokens + (now - before) * self.rate)
        is_enough = tokens >= 1 or not self.rate
        self._buckets[key] = (tokens - is_enough, now)
        if len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
        return is_enough


@lru_cache(4096)
def network_of(client: str) -> str:
    """Return the part of the network that an address lies in.

    >>> network_of("198.51.100.7"), network_of("2001:db8:1:2:3::4"), network_of("unix")
    ('198.51.100.0', '2001:db8:1:2::', 'unix')
    """
    with suppress(ValueError):
        address = ip_address(client.partition("%")[0])
        return str(ip_network((address, PREFIXES[address.version]), strict=False).network_address)
    return client
