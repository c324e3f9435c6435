"""A reverse proxy that shows a study under a path of its host, as Caddy's `handle_path` does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from waiting import PATIENCE

KEPT = "authorization", "content-type", "origin", "sec-fetch-site", "range"
"""Headers of requests that are passed on."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: PathProxy

    def _pass_on(self) -> None:
        """Answer as the server behind does; 404 outside of the path."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.path.startswith(f"{self.server.path}/"):
            self.send_error(404)
            return
        behind = HTTPConnection("127.0.0.1", self.server.port_behind, timeout=PATIENCE)
        headers = {name: value for name in KEPT if (value := self.headers.get(name)) is not None}
        behind.request(self.command, self.path.removeprefix(self.server.path), body, headers)
        response = behind.getresponse()
        content = response.read()
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in ("content-length", "connection", "date", "server", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        behind.close()

    do_GET = do_POST = do_PUT = _pass_on

    def log_message(self, *given: Any) -> None:
        """Log nothing."""


class PathProxy(ThreadingHTTPServer):
    """The proxy. `path` is taken off each request, which goes to `port_behind` of this machine."""

    daemon_threads = True

    def __init__(self, path: str, port_behind: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.path, self.port_behind = path, port_behind

    @property
    def url(self) -> str:
        """The address of the study behind."""
        return f"http://127.0.0.1:{self.server_address[1]}{self.path}"


@contextmanager
def proxying(path: str, port_behind: int) -> Iterator[PathProxy]:
    """Yield a proxy that runs."""
    with PathProxy(path, port_behind) as proxy:
        Thread(target=proxy.serve_forever, daemon=True).start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
