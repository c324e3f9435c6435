"""Running editors of catalogues in tests: a server in a thread, and requests to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

from waiting import PATIENCE

from vqagen.authoring.items.editor import EditorServer, Session


class Answer(NamedTuple):
    """The status, headers and content of an answer."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def record(self) -> Any:
        """The content as JSON."""
        return json.loads(self.content)


@contextmanager
def running_editor(path: Path) -> Iterator[EditorServer]:
    """Yield a server that runs until the block ends."""
    with EditorServer(Session(path)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def ask(
    server: EditorServer,
    path: str,
    body: Any = None,
    headers: Mapping[str, str | None] | None = None,
    token: str | None = None,
    method: str = "",
) -> Answer:
    """Send a request as the page does, but for what is given; a header that is None is left out."""
    host = f"127.0.0.1:{server.server_address[1]}"
    given: dict[str, str | None] = {"Host": host}
    if body is not None:
        given |= {"Origin": f"http://{host}", "Content-Type": "application/json"}
    sent = {name: value for name, value in {**given, **(headers or {})}.items() if value is not None}
    content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    connection = HTTPConnection(host, timeout=PATIENCE)
    try:
        whole = f"/{server.token if token is None else token}/{path}"
        connection.putrequest(method or ("GET" if body is None else "POST"), whole, skip_host=True)
        for name, value in sent.items():
            connection.putheader(name, value)
        if content is not None and "Content-Length" not in sent:
            connection.putheader("Content-Length", str(len(content)))
        connection.endheaders(content)
        answer = connection.getresponse()
        return Answer(answer.status, dict(answer.getheaders()), answer.read())
    finally:
        connection.close()
