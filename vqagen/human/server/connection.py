"""Connections: HTTP by uvicorn and h11, with limits on the time that a client may take.

uvicorn has no limit on how long a request may take to arrive, so that a few hundred clients which send a byte now and
then ("slowloris") would hold their connections for ever.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

LONGEST_REQUEST = 15.0
"""Seconds from the connection, or from the first byte of a further request, until a request has arrived as a whole."""
STANDSTILL_CHECK = 60.0
"""Seconds in which a client must take `LEAST_TAKEN` bytes of a reply that is waiting: large images take longer."""
LEAST_TAKEN = 65_536


class JoinedWrites:
    """A transport that sends at once all that is written in one step: h11 gives head and body of a reply one by one.

    One system call less for each reply saves a tenth of its time (`scripts/bench human load`).
    """

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
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
    """A connection that is closed if its client is too slow."""

    _arrival: asyncio.TimerHandle | None = None
    _standstill: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(JoinedWrites(transport, self.loop))  # type: ignore[arg-type]
        self._await_request()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            if self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]:
                self._await_request()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_standstill()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._standstill is None:
            self._await_taking()

    def _await_taking(self) -> None:
        """Look after a while how much of a waiting reply the client has taken."""
        waiting = self.transport.get_write_buffer_size()
        self._standstill = self.loop.call_later(STANDSTILL_CHECK, self._check_taken, waiting)

    def _check_taken(self, waiting: int) -> None:
        """Close the connection if too much of the reply of which `waiting` bytes were left is left still."""
        if self.transport.get_write_buffer_size() > waiting - LEAST_TAKEN:
            self.transport.abort()
        else:
            self._await_taking()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_standstill()

    def _await_request(self) -> None:
        """Close the connection if no request arrives in time. The time runs from the first call."""
        self._arrival = self._arrival or self.loop.call_later(LONGEST_REQUEST, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._arrival is not None:
            self._arrival.cancel()
            self._arrival = None

    def _stop_standstill(self) -> None:
        if self._standstill is not None:
            self._standstill.cancel()
            self._standstill = None
