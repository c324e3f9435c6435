"""Real Redis servers for tests: each on a free port, in a folder of its own, with a log that is always on the disk."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from ports import free_port
from waiting import PATIENCE, wait_until

from vqagen.human.store import redis as redis_store

PROGRAM = shutil.which("redis-server") or shutil.which("valkey-server")
SAFE = {"appendonly": "yes", "appendfsync": "always", "save": ""}


def require_redis() -> None:
    """Skip a test where there is no server or no client."""
    if PROGRAM is None:
        pytest.skip("neither redis-server nor valkey-server is installed")
    pytest.importorskip("redis", reason="the extra redis is not installed")


class RedisServer:
    """A server that can be killed, paused and started again with the same port and folder."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self._folder, self._settings = folder, {**SAFE, **settings}
        self.port = free_port()
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start the process and wait until it answers."""
        options = {"port": str(self.port), "bind": "127.0.0.1", "dir": str(self._folder), **self._settings}
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        assert PROGRAM is not None
        with (self._folder / "log.txt").open("ab") as log:
            self._process = subprocess.Popen([PROGRAM, *arguments], stdout=log, stderr=log)
        wait_until(self._is_ready)

    def _is_ready(self) -> bool:
        assert self._process.poll() is None, (self._folder / "log.txt").read_text()[-2_000:]
        import redis

        try:
            with self.client() as client:
                client.ping()
        except (redis.BusyLoadingError, redis.ConnectionError) as error:
            return "NOAUTH" in str(error) or "uthentication" in str(error)
        return True

    def client(self, **options: Any) -> Any:
        """Return a client of the server."""
        import redis

        return redis.Redis(port=self.port, password=self._settings.get("requirepass"), **options)

    def kill(self) -> None:
        """End the process at once, as a loss of power would."""
        self._process.kill()
        self._process.wait()

    def files(self) -> bytes:
        """Return all that the server has on its disk."""
        return b"".join(file.read_bytes() for file in sorted(self._folder.rglob("*")) if file.is_file())


@contextmanager
def redis_server(folder: Path, **settings: str) -> Iterator[RedisServer]:
    """Start a server for as long as the block lasts. Stores in this process wait for it, however late it answers."""
    require_redis()
    folder.mkdir(exist_ok=True)
    server = RedisServer(folder, **settings)
    try:
        with patch.object(redis_store, "_TIMEOUT", PATIENCE):
            yield server
    finally:
        server.kill()
