"""Requests that no page sends, for a server of a study: made at random, each of them wrong in at least one way."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from random import Random
from typing import Any, NamedTuple

from human_served import ANSWER, API
from waiting import PATIENCE

JSON = "application/json"
KILLERS: list[bytes] = [
    b"",
    b"{}",
    *(json.dumps({"val": value}).encode() for value in (None, [], {}, True, "x")),
]
"""Bodies that ended HUMANr's server, one request each (the last one: an id of an existing key of another kind)."""
STRANGE: list[Any] = [
    *(None, True, False, 0, 10, 999, -1, 7.0, 1e308, 10**400, "", "7", "\0", "é\u202e", "x" * 2000),
    *([], [7], {}, {"a": 1}, {"__proto__": {"value": 7}}, [[[[]]]]),
]
PATHS = [
    *("/", "/s/", "/s/x", "/s/%00", "/static/x/study.js", "/static/../../etc/passwd", "/static/%2e%2e/study.json"),
    *("/img/x", "/img/..%2f..%2fsecret", "/img/%2e%2e%2fsecret", "/img/" + "A" * 22, "/data/comparison_tasks.json"),
    *("/study.json", "/items.jsonl", "/secret", "/answers.sqlite", "/images/", "/api/v1/", "/api/v2/session", "//evil"),
    *("/api/v1/session/", "/API/V1/session", "/get_captions", "/submit_response", "/constructor", "/%ff%fe"),
    "/" + "a" * 5000,
]
METHODS = ["GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE", "PATCH", "TRACE", "CONNECT", "FOO"]


class Reply(NamedTuple):
    """The status, headers and body of a reply; status 0 if the server hung up."""

    status: int
    headers: str
    body: bytes


class Wire:
    """A connection that sends any bytes."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None

    def send(self, content: bytes, method: str = "GET") -> Reply:
        """Send bytes, and read one reply."""
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=PATIENCE)
        try:
            self._socket.sendall(content)
            reply = HTTPResponse(self._socket, method=method)
            reply.begin()
            found = Reply(reply.status, str(reply.headers), reply.read())
            is_over = reply.will_close or found.status in (400, 413)
        except (OSError, HTTPException):
            found, is_over = Reply(0, "", b""), True
        if is_over:
            self.close()
        return found

    def post(self, path: str, body: Any) -> Reply:
        """Send a request as a page does."""
        return self._ask("POST", path, body, "")

    def put_answer(self, trial: Any, bearer: str) -> Reply:
        """Answer a trial as a page does."""
        return self._ask("PUT", f"responses/{trial['number']}", {**ANSWER, "ticket": trial["ticket"]}, bearer)

    def _ask(self, method: str, path: str, body: Any, bearer: str) -> Reply:
        headers = {"Content-Type": JSON, "Authorization": f"Bearer {bearer}"}
        return self.send(request_bytes(method, f"{API}/{path}", headers, json.dumps(body).encode()), method)

    def close(self) -> None:
        """Hang up."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def request_bytes(method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
    """Return a request as it is sent."""
    lines = [f"{method} {path} HTTP/1.1", "Host: x", *(f"{name}: {value}" for name, value in headers.items())]
    if "Content-Length" not in headers:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body


def wrong_requests(
    rng: Random, count: int, bearer: str, ticket: str, token: str, version: str
) -> Iterator[tuple[str, bytes]]:
    """Yield (method, bytes) of requests, none of which may change anything. The first seven ended HUMANr's server."""
    headers = {"Content-Type": JSON, "Authorization": f"Bearer {bearer}"}
    for body in KILLERS:
        yield "PUT", request_bytes("PUT", f"{API}/responses/1", headers, body)
    bodies = _Bodies(rng, ticket, token, version)
    for _ in range(count - len(KILLERS)):
        kind = rng.choice(["body"] * 6 + ["path", "method", "header", "bytes"])
        if kind == "bytes":
            yield "GET", rng.randbytes(rng.randrange(1, 300)) + b"\r\n\r\n"
        elif kind == "path":
            yield "GET", request_bytes("GET", rng.choice(PATHS), {}, b"")
        elif kind == "method":
            method, path = rng.choice(METHODS), rng.choice([*PATHS, f"{API}/session", f"{API}/responses/1"])
            yield method, request_bytes(method, path, {"Content-Type": JSON}, b"{}")
        else:
            method, path, body = bodies.wrong()
            given = {**headers, **(_wrong_header(rng) if kind == "header" else {})}
            yield method, request_bytes(method, path, given, body)


def _wrong_header(rng: Random) -> dict[str, str]:
    choices = [
        {"Content-Type": "text/plain"},
        {"Content-Type": ""},
        {"Content-Length": "-1"},
        {"Content-Length": "x"},
        {"Authorization": "Bearer " + "A" * rng.randrange(300)},
        {"Authorization": "é"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "null"},
        {"Transfer-Encoding": "gzip"},
        {"X-Long": "x" * 40_000},
        {"X-Forwarded-For": "evil, 1.2.3.4"},
        {"Expect": "100-continue"},
        {"Upgrade": "websocket", "Connection": "Upgrade"},
    ]
    return rng.choice(choices)


class _Bodies:
    """Bodies of every route, each with a mistake."""

    def __init__(self, rng: Random, ticket: str, token: str, version: str) -> None:
        self._rng = rng
        who: dict[str, Any] = {"token": token, "participant": {"platform": "id", "id": "eve"}}
        consent = {**who, "consent_version": version, "agreed": True}
        self._right: list[tuple[str, str, dict[str, Any]]] = [
            ("PUT", "/responses/1", {**ANSWER, "ticket": ticket}),
            ("POST", "/consent", consent),
            ("POST", "/events", {"kind": "problem", "detail": ""}),
            ("POST", "/withdraw", {}),
        ]

    def wrong(self) -> tuple[str, str, bytes]:
        """Return method, path and body of a request whose body is wrong."""
        method, path, right = self._rng.choice(self._right)
        return method, API + path, self._broken(right)

    def _broken(self, right: dict[str, Any]) -> bytes:
        rng, text = self._rng, json.dumps(right)
        begun = (text[:-1] + (", " if right else "")).encode()
        depth, name = rng.choice([10, 500, 900, 2000, 10_000]), rng.choice([*right, "__proto__"])
        unknown = rng.choice(["more", "constructor", "__proto__", ""])
        ways = [
            text[: rng.randrange(len(text))].encode(),
            text.encode() + rng.choice([b"x", b"{}", b"\0", b"\xff"]),
            begun + b'"x": ' + b"[" * depth + b"]" * depth + b"}",
            begun + f'"{name}": 1, "{name}": []}}'.encode(),
            b"x" * rng.choice([16_385, 70_000, 2**20]),
            json.dumps(rng.choice([value for value in STRANGE if value != {}])).encode(),
            json.dumps({**right, unknown: rng.choice(STRANGE)}).encode(),
        ]
        for first in list(right)[:1]:
            ways.append(json.dumps({key: value for key, value in right.items() if key != first}).encode())
            ways.append(json.dumps({**right, first: rng.choice([None, [], {}, -1, 1.5, "\0", "x" * 999])}).encode())
        return rng.choice(ways)
