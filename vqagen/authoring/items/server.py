"""The editor's web server: on this machine only, and only for who knows the token in its address.

Every path begins with the token, so that no request is answered without it. `Host` must name this machine, which keeps
other sites from reaching the server by a name of theirs (DNS rebinding). A request that changes something must come
from a page of the server itself (`Origin`), and be JSON, which no form of another site can send.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote

from vqagen.authoring.items.catalogue_file import ChangedMeanwhile
from vqagen.authoring.items.session import OtherVersion, Session, messages
from vqagen.errors import UsageError, VqagenError

HOST = "127.0.0.1"
LOCAL_NAMES = (HOST, "localhost")
PAGE = Path(__file__).parent / "page"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
LARGEST_REQUEST = 4_000_000
"""Bytes of a request."""
_WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")
_SAFETY = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_PICTURE_SAFETY = {**_SAFETY, "Content-Security-Policy": "default-src 'none'; img-src data:"}


class Reply(NamedTuple):
    """The status, type and content of an answer."""

    status: HTTPStatus
    type: str
    content: bytes


class Refused(Exception):
    """A request is not answered."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class EditorServer(ThreadingHTTPServer):
    """Serves the editor of one catalogue."""

    daemon_threads = True

    def __init__(self, session: Session, port: int = 0) -> None:
        super().__init__((HOST, port), _Handler)
        self.session = session
        self.token = secrets.token_urlsafe(24)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print a mistake of ours; a browser that hangs up is none."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.server_address[1]}/{self.token}/"


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: EditorServer
    timeout = 30

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: addresses hold the token."""

    def _answer(self, answer: Callable[[str], Reply]) -> None:
        try:
            reply = answer(self._allowed_path())
        except Refused as refusal:
            reply = _error(refusal.status, [str(refusal)])
        except (ChangedMeanwhile, OtherVersion) as error:
            reply = _error(HTTPStatus.CONFLICT, messages(error))
        except VqagenError as error:
            reply = _error(HTTPStatus.UNPROCESSABLE_ENTITY, messages(error))
        self.send_response(reply.status)
        safety = _PICTURE_SAFETY if reply.type == TYPES[".svg"] else _SAFETY
        for name, value in safety.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{reply.type}; charset=utf-8")
        self.send_header("Content-Length", str(len(reply.content)))
        self.end_headers()
        self.wfile.write(reply.content)

    def _allowed_path(self) -> str:
        """Return the path behind the token. Raise Refused for a request of another site or without the token."""
        if _name_of(self.headers.get("Host", "")) not in LOCAL_NAMES:
            raise Refused(HTTPStatus.FORBIDDEN, f"this server is {HOST}; it does not answer to other names")
        origin = self.headers.get("Origin")
        if origin is not None and origin != f"http://{self.headers.get('Host')}":
            raise Refused(HTTPStatus.FORBIDDEN, "this request comes from another site")
        token, _, path = self.path.partition("?")[0].removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise Refused(HTTPStatus.FORBIDDEN, "the address is wrong; open the one that vqagen printed")
        return unquote(path)

    # Reading --------------------------------------------------------------------------------------------------------

    def _get(self, path: str) -> Reply:
        kind, _, name = path.partition("/")
        session, side = self.server.session, self._side()
        if path == "state":
            session.find_pictures()
            return _json(session.state())
        if kind in ("item", "variants") and name.endswith(".svg"):
            return _svg(session.picture(name.removesuffix(".svg"), side, kind == "item"))
        file = PAGE / (path or "index.html")
        if file.parent != PAGE or file.suffix not in TYPES or not file.is_file():
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no {path}")
        return Reply(HTTPStatus.OK, TYPES[file.suffix], file.read_bytes())

    def _side(self) -> int:
        given = parse_qs(self.path.partition("?")[2]).get("side", ["64"])[0]
        if not _WHOLE_NUMBER.fullmatch(given) or not 8 <= int(given) <= 512:
            raise Refused(HTTPStatus.BAD_REQUEST, "side must be from 8 to 512")
        return int(given)

    # Changing -------------------------------------------------------------------------------------------------------

    def _post(self, path: str) -> Reply:
        if self.headers.get("Origin") is None:
            raise Refused(HTTPStatus.FORBIDDEN, "this request does not come from the editor's page")
        given = self._body()
        version = given.get("version")
        if type(version) is not int:
            raise Refused(HTTPStatus.BAD_REQUEST, "version must be a whole number")
        session = self.server.session
        actions: Mapping[str, Callable[[], dict[str, Any]]] = {
            "edit": lambda: session.edit(version, given),
            "undo": lambda: session.undo(version),
            "redo": lambda: session.redo(version),
            "save": lambda: session.save(version),
            "reload": lambda: session.reload(version),
        }
        if path not in actions:
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no {path}")
        return _json(actions[path]())

    def _body(self) -> dict[str, Any]:
        if self.headers.get_content_type() != "application/json":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a change must be JSON")
        length = self.headers.get("Content-Length", "")
        if not _WHOLE_NUMBER.fullmatch(length) or int(length) > LARGEST_REQUEST:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a change has at most {LARGEST_REQUEST:,} bytes")
        try:
            given = json.loads(self.rfile.read(int(length)))
            json.dumps(given, ensure_ascii=False).encode()  # half a character could not be saved
        except (ValueError, RecursionError):
            raise Refused(HTTPStatus.BAD_REQUEST, "a change must be JSON") from None
        if not isinstance(given, dict):
            raise Refused(HTTPStatus.BAD_REQUEST, "a change must be a JSON object")
        return given


def _name_of(host: str) -> str:
    """Return the name in a `Host`, without its port.

    >>> _name_of("localhost:8000")
    'localhost'
    """
    return host.rpartition(":")[0] if re.search(r":[0-9]*$", host) else host


def _json(value: object, status: HTTPStatus = HTTPStatus.OK) -> Reply:
    return Reply(status, "application/json", json.dumps(value, ensure_ascii=False).encode())


def _svg(text: str) -> Reply:
    return Reply(HTTPStatus.OK, TYPES[".svg"], text.encode())


def _error(status: HTTPStatus, lines: list[str]) -> Reply:
    return _json({"messages": lines}, status)


def serve(path: Path, port: int, on_ready: Callable[[str], object]) -> bool:
    """Serve the editor of a catalogue until it is interrupted; return True if its last changes were not saved.

    `on_ready` is called with the address of the page.
    """
    session = Session(path)
    try:
        server = EditorServer(session, port)
    except OSError as error:
        raise UsageError(f"cannot use port {port}: {error.strerror or error}; choose another, or 0 for any") from None
    with server, suppress(KeyboardInterrupt):
        on_ready(server.url)
        server.serve_forever(poll_interval=0.1)
    return session.has_unsaved
