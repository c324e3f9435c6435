"""What all requests share: bodies and replies, who may ask, how often, headers, and mistakes that stay inside.

Requests are read strictly, so that nothing but what the page sends has an effect.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Annotated, Literal, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vqagen.human.store.facts import StoreError
from vqagen.human.tokens import LONGEST, TOKEN, Participant

LARGEST_BODY = 16_384
"""Bytes of a body: the longest text that an item may ask for, in any script, and all else."""
NO_STORE = {"Cache-Control": "no-store"}
_CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
"""Control characters but for tabs and ends of lines, and halves of characters."""
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
Token = Annotated[str, Meta(pattern=rf"\A{TOKEN}\Z")]
Written = Annotated[str, Meta(pattern=rf"\A[^{_CONTROL}]*\Z")]
Milliseconds = Annotated[int, Meta(ge=0, le=7 * 24 * 3_600_000)]
Count = Annotated[int, Meta(ge=0, le=100_000)]

T = TypeVar("T")


class SessionBody(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Asks where a rater is."""

    token: Token
    participant: Participant | None = None
    """Who the address of the page says that its rater is."""
    prolific_token: Annotated[str, Meta(max_length=4096)] | None = None
    """Parameters that Prolific signed."""
    bearer: Annotated[str, Meta(max_length=LONGEST)] | None = None
    """Of an assignment of before, kept by the page: it proves that its code may be shown again."""


class ConsentBody(SessionBody, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Asks for a place."""

    consent_version: Token
    agreed: bool


class AnswerBody(Struct, frozen=True, forbid_unknown_fields=True):
    """An answer to a trial, with the proof that the trial was shown."""

    value: int | Written
    rt_ms: Milliseconds
    shown_ms: Milliseconds
    blur: Count
    ticket: Token


class EventBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that the page reports; `number` is the trial that it concerns."""

    kind: Literal["webdriver", "reload", "comment", "problem"]
    detail: Annotated[Written, Meta(max_length=1000)] = ""
    number: Count = 0


class EmptyBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Says nothing."""


class Failure(Exception):
    """A request that is answered with an error: a code for the page, and a sentence for people."""

    def __init__(self, status: int, code: str, message: str, **more: object) -> None:
        super().__init__(message)
        self.status, self.code, self.more = status, code, more


async def read_body(request: Request, kind: type[T]) -> T:
    """Return the content of a body. Raise Failure for one that is too large, no JSON, or has other keys or values."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Failure(415, "invalid", "the body must be application/json")
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > LARGEST_BODY:
            raise Failure(413, "invalid", f"the body must have at most {LARGEST_BODY} bytes")
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError as error:
        raise Failure(422, "invalid", str(error)) from None
    except (msgspec.DecodeError, ValueError):
        raise Failure(400, "invalid", "the body is not JSON in UTF-8") from None


def reply(record: object, status: int = 200) -> Response:
    """Return a record as JSON."""
    return Response(msgspec.json.encode(record), status, NO_STORE, "application/json")


# Before all routes ----------------------------------------------------------------------------------------------------


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
    shown = " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in reversed(places[-4:]))
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
