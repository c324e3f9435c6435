"""The editor of a catalogue: a draft that the page in the browser changes, and the web server between them.

The page sends the whole draft after each change; it is checked by the rules of every command, drawn, and saved as a
whole. The server is on this machine only, and only for who knows the token in its address. Every path begins with the
token, so that no request is answered without it. `Host` must name this machine, which keeps other sites from reaching
the server by a name of theirs (DNS rebinding). A request that changes something must come from a page of the server
itself (`Origin`), and be JSON, which no form of another site can send.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from vqagen.authoring.items.catalogue_file import ChangedMeanwhile, doubts, picture_faults, read_catalogue, save
from vqagen.authoring.items.sheet import drawn_example, sheet_svg
from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.pictures.drawing import drawing_faults
from vqagen.tasks.director.catalogue import ItemCatalogue, catalogue_faults, shape_faults
from vqagen.tasks.director.catalogue_words import COLOR, named

HOST = "127.0.0.1"
LOCAL_NAMES = (HOST, "localhost")
PAGE = Path(__file__).parent / "page"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_MOST_PICTURES = 500
LARGEST_REQUEST = 4_000_000
"""Bytes of a request."""
_WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")
_SAFETY = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PICTURE_POLICY = "default-src 'none'; img-src data:"
Document = Mapping[str, Any]


class OtherVersion(VqagenError):
    """A change is about another state of the draft than the current one."""


class Session:
    """A draft of a catalogue file. Every method may be called from any thread."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.RLock()
        self._file = read_catalogue(path)
        self._draft = self._file.document
        self.version = 1
        """Grows with each change, so that a window that shows an older draft changes nothing."""

    @property
    def has_unsaved(self) -> bool:
        """True if the draft differs from the file as it was read or saved."""
        return self._draft != self._file.document

    def state(self) -> dict[str, Any]:
        """Return all that the page shows, with the pictures in the catalogue's folder and the folders in it."""
        folder = self._file.path.parent
        found = [path for path in (*folder.glob("*"), *folder.glob("*/*")) if path.suffix.lower() in PICTURES]
        pictures = sorted(path.relative_to(folder).as_posix() for path in found)[:_MOST_PICTURES]
        with self._lock:
            fixed = {"path": str(self._file.path), "color_class": COLOR, "pictures": pictures}
            return {**fixed, "document": self._draft, **self._findings()}

    def _findings(self) -> dict[str, Any]:
        """Return the version, and every error and warning of the draft."""
        catalogue = ItemCatalogue(self._draft, self._file.path.parent)
        faults = list(catalogue_faults(self._draft, catalogue.folder))
        warnings = [] if faults else [("warning", path, message) for _, path, message in doubts(catalogue)]
        found = [*(("error", *fault) for fault in faults or picture_faults(catalogue)), *warnings]
        findings = [{"level": level, "path": path, "message": message} for level, path, message in found]
        return {"version": self.version, "unsaved": self.has_unsaved, "findings": findings}

    def picture(self, name: str, side: int, is_single: bool) -> str:
        """Return SVG of a kind or own item: alone, or in every size and color. UsageError if it cannot be drawn."""
        draft = self._draft
        catalogue = ItemCatalogue(_only(draft, name), self._file.path.parent)
        shown = name
        for kind, entry in named(catalogue.record["kinds"]).items():
            for path, message in drawing_faults(entry["art"]):
                raise UsageError(f"{name} cannot be drawn: art{path}: {message}")
            if is_single and catalogue.paints:
                shown = drawn_example(catalogue, kind, list(draft["kinds"]).index(kind))
        return sheet_svg(catalogue, [shown], side, has_labels=False)

    def change(self, version: int, document: Document) -> dict[str, Any]:
        """Take another draft. Mistakes in it are kept, for people work on them; but it has the shape of a catalogue."""
        with self._lock:
            self._check_version(version)
            wrong = shape_faults(document)
            if wrong:
                raise UsageError("\n".join(f"{path}: {message}" for path, message in wrong))
            return self._take(_as_before(document, self._draft))

    def save(self, version: int) -> dict[str, Any]:
        """Save the draft with a backup. Raise ChangedMeanwhile if the file was changed by somebody else."""
        with self._lock:
            self._check_version(version)
            backup = save(self._draft, self._file)
            self._file = read_catalogue(self._file.path)
            return {**self._take(self._file.document), "backup": str(backup)}

    def reload(self, version: int) -> dict[str, Any]:
        """Read the file again."""
        with self._lock:
            self._check_version(version)
            self._file = read_catalogue(self._file.path)
            return {"document": self._file.document, **self._take(self._file.document)}

    def _take(self, draft: Document) -> dict[str, Any]:
        self._draft = draft
        self.version += 1
        return self._findings()

    def _check_version(self, version: int) -> None:
        if version != self.version:
            raise OtherVersion("the catalogue was changed in another window; this one shows it now, repeat your change")


def _only(draft: Document, name: str) -> dict[str, Any]:
    """Return the document of one kind or own item, with the colors that have a paint."""

    def kept(values: Document, is_color: bool) -> Document:
        return {word: value for word, value in named(values).items() if not is_color or "paint" in value}

    adjectives = [{**each, "values": kept(each["values"], each["class"] == COLOR)} for each in draft["adjectives"]]
    sections = {key: named(draft.get(key, {})) for key in ("kinds", "items")}
    alone = {key: {name: entries[name]} if name in entries else {} for key, entries in sections.items()}
    return {**draft, "adjectives": adjectives, **alone}


def _as_before(new: Any, old: Any) -> Any:
    """Return a value of the page, in which all that did not change is as in the file: a browser writes 1.0 as 1."""
    if new == old:
        return old
    if isinstance(new, dict) and isinstance(old, Mapping):
        return {key: _as_before(value, old.get(key)) for key, value in new.items()}
    return new


# The server ---------------------------------------------------------------------------------------------------------


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

    def _answer(self, answer: Callable[[str], tuple[str, bytes]]) -> None:
        status = HTTPStatus.OK
        try:
            kind, content = answer(self._allowed_path())
        except (Refused, VqagenError) as error:
            is_conflict = isinstance(error, ChangedMeanwhile | OtherVersion)
            status = HTTPStatus.CONFLICT if is_conflict else HTTPStatus.UNPROCESSABLE_ENTITY
            status = error.status if isinstance(error, Refused) else status
            kind, content = _json({"messages": messages(error)})
        self.send_response(status)
        policy = _PICTURE_POLICY if kind == TYPES[".svg"] else _PAGE_POLICY
        for name, value in {**_SAFETY, "Content-Security-Policy": policy}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _allowed_path(self) -> str:
        """Return the path behind the token. Raise Refused for a request of another site or without the token."""
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if re.sub(r":[0-9]*$", "", host) not in LOCAL_NAMES:
            raise Refused(HTTPStatus.FORBIDDEN, f"this server is {HOST}; it does not answer to other names")
        if origin != f"http://{host}" and (origin is not None or self.command != "GET"):
            raise Refused(HTTPStatus.FORBIDDEN, "this request does not come from the editor's page")
        token, _, path = self.path.partition("?")[0].removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise Refused(HTTPStatus.FORBIDDEN, "the address is wrong; open the one that vqagen printed")
        return unquote(path)

    def _get(self, path: str) -> tuple[str, bytes]:
        kind, _, name = path.partition("/")
        if path == "state":
            return _json(self.server.session.state())
        if kind in ("item", "variants") and name.endswith(".svg"):
            side = parse_qs(self.path.partition("?")[2]).get("side", ["64"])[0]
            if not _WHOLE_NUMBER.fullmatch(side) or not 8 <= int(side) <= 512:
                raise Refused(HTTPStatus.BAD_REQUEST, "side must be from 8 to 512")
            picture = self.server.session.picture(name.removesuffix(".svg"), int(side), kind == "item")
            return TYPES[".svg"], picture.encode()
        file = PAGE / (path or "index.html")
        if file.parent != PAGE or file.suffix not in TYPES or not file.is_file():
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no {path}")
        return TYPES[file.suffix], file.read_bytes()

    def _post(self, path: str) -> tuple[str, bytes]:
        given, session = self._body(), self.server.session
        version = given.get("version")
        if type(version) is not int:
            raise Refused(HTTPStatus.BAD_REQUEST, "version must be a whole number")
        if path == "change":
            return _json(session.change(version, given.get("document", {})))
        if path not in ("save", "reload"):
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no {path}")
        return _json(session.save(version) if path == "save" else session.reload(version))

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


def _json(value: object) -> tuple[str, bytes]:
    return "application/json", json.dumps(value, ensure_ascii=False).encode()


def messages(error: Exception) -> list[str]:
    """Return the messages of an error, one for each problem."""
    if isinstance(error, BadInput):
        return [": ".join(filter(None, (each.path, each.message))) for each in error.problems]
    return str(error).splitlines()


def serve(path: Path, port: int, on_ready: Callable[[str], object]) -> bool:
    """Serve the editor of a catalogue until it is interrupted; return True if its last changes were not saved.

    `on_ready` is called with the address of the page.
    """
    session = Session(path)
    try:
        server = EditorServer(session, port)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot use port {port}: {why}; choose another, or 0 for any") from None
    with server, suppress(KeyboardInterrupt):
        on_ready(server.url)
        server.serve_forever(poll_interval=0.1)
    return session.has_unsaved
