"""Requests of a simulated rater, by the standard library: a rehearsal needs no more than the study does."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from vqagen.errors import VqagenError

API = "/api/v1"
PATIENCE = 30.0
"""Seconds for which a request is sent again where the server is busy or away."""
_PAUSE = 0.2
_BUSY = (429, 503)


class Reply(NamedTuple):
    """The status of a reply, its JSON, and the seconds until it came."""

    status: int
    record: Any
    seconds: float


class Connection:
    """A connection of one rater, which is opened again where it breaks."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._url = url
        self._top = parts.path.rstrip("/")
        self._http = kind(parts.hostname or "", parts.port, timeout=PATIENCE)
        self.bearer = ""

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def ask(self, method: str, path: str, body: Any = None) -> Reply:
        """Send a request until the server has time for it. VqagenError if it has none for half a minute."""
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if content is not None else {}
        if self.bearer:
            headers["Authorization"] = f"Bearer {self.bearer}"
        began = time.monotonic()
        while True:
            reason, wait = "", _PAUSE
            try:
                self._http.request(method, self._top + path, content, headers)
                response = self._http.getresponse()
                text = response.read()
            except (OSError, HTTPException) as error:
                self._http.close()
                reason = str(error) or type(error).__name__
            else:
                if response.status not in _BUSY:
                    return Reply(response.status, _parsed(response, text), time.monotonic() - began)
                reason, wait = f"status {response.status}", _wait(response)
            if time.monotonic() + wait - began > PATIENCE:
                raise VqagenError(f"no reply from {self._url} within {PATIENCE:.0f} seconds: {reason}")
            time.sleep(wait)


def _parsed(response: HTTPResponse, text: bytes) -> Any:
    return json.loads(text) if text and "json" in (response.headers.get("Content-Type") or "") else None


def _wait(response: HTTPResponse) -> float:
    """Return after how many seconds a busy server wants to be asked again."""
    with suppress(ValueError):
        return min(max(float(response.headers.get("Retry-After") or _PAUSE), _PAUSE), PATIENCE)
    return _PAUSE
