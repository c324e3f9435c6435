"""Connections: HTTP by uvicorn and h11, with limits on the time that a client may take.

uvicorn has no limit on how long a request may take to arrive, so that a few hundred clients which send a byte now and
then ("slowloris") would hold their connections for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

LONGEST_REQUEST = 15.0
"""Seconds from the connection, or from the first byte of a further request, until a request has arrived as a whole."""
STANDSTILL = 60.0
"""Seconds in which a client must take `LEAST_TAKEN` bytes of a reply that is waiting: large images take longer."""
LEAST_TAKEN = 65_536


class JoinedWrites:
    """A transport that sends at once all that is written in one step: h11 gives head and body of a reply one by one.

    One system call less for each reply saves nearly half of its time (`scripts/bench human load`).
    """

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, part: bytes) -> None:
        """Send a part at the end of this step."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(part)

    def close(self) -> None:
        """Send what is left, and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            self._transport.write(b"".join(parts))


class TimedConnection(H11Protocol):
    """A connection that `watch` closes if its client is too slow."""

    awaited_since: float | None = None
    """When the request began that has not arrived as a whole."""
    standstill: tuple[float, int] | None = None
    """When a reply was waiting, and how many bytes of it."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(JoinedWrites(transport, self.loop))  # type: ignore[arg-type]
        self.awaited_since = self.loop.time()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        state = self.conn.their_state
        is_part = state is h11.SEND_BODY or (state is h11.IDLE and bool(self.conn.trailing_data[0]))
        self.awaited_since = (self.awaited_since or self.loop.time()) if is_part else None

    def close_if_slow(self, now: float) -> None:
        """Close the connection if the client sends or takes too slowly."""
        is_slow = self.awaited_since is not None and now - self.awaited_since >= LONGEST_REQUEST
        waiting = self.transport.get_write_buffer_size()
        if not waiting or self.standstill is None:
            self.standstill = (now, waiting) if waiting else None
        elif now - self.standstill[0] >= STANDSTILL:
            is_slow |= waiting > self.standstill[1] - LEAST_TAKEN
            self.standstill = now, waiting
        if is_slow:
            self.transport.abort()


async def watch(connections: Collection[Any]) -> None:
    """Close slow connections, as long as the server runs."""
    while True:
        await asyncio.sleep(1)
        for each in list(connections):
            each.close_if_slow(asyncio.get_running_loop().time())
