"""Replies of the server: JSON, errors with a code for the page and a sentence for people, and the headers of safety."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from starlette.responses import Response

INVALID, NOT_FOUND, GONE, FORBIDDEN = "invalid", "not_found", "gone", "forbidden"
NOT_ACTIVE, DIFFERENT, NOT_SHOWN, CONSENT_CHANGED = "not_active", "different", "not_shown", "consent_changed"
TOO_MANY, UNAVAILABLE = "too_many", "unavailable"
"""Codes of errors."""
NO_STORE = {"Cache-Control": "no-store"}
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
PRIVATE = {"Cache-Control": "private, max-age=86400, immutable"}
RETRY_AFTER = {429: "1", 503: "2"}
"""Seconds until the page should try again."""
_UNUSED_FEATURES = (
    *("accelerometer", "autoplay", "browsing-topics", "camera", "display-capture", "encrypted-media", "geolocation"),
    *("gyroscope", "magnetometer", "microphone", "midi", "payment", "publickey-credentials-get", "screen-wake-lock"),
    *("usb", "xr-spatial-tracking"),
)


class Failure(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, code: str, message: str, **more: object) -> None:
        super().__init__(message)
        self.status, self.code, self.more = status, code, more


def reply(record: object, status: int = 200) -> Response:
    """Return a record as JSON."""
    return Response(msgspec.json.encode(record), status, NO_STORE, "application/json")


def error_reply(failure: Failure) -> Response:
    """Return an error as JSON."""
    answer = reply({"error": failure.code, "message": str(failure), **failure.more}, failure.status)
    if failure.status in RETRY_AFTER:
        answer.headers["Retry-After"] = RETRY_AFTER[failure.status]
    return answer


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
