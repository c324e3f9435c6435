"""Ports for servers that are started again under the same port, or whose port must be known before they start."""

from __future__ import annotations

import socket
from pathlib import Path
from random import SystemRandom

PORTS_OF_CLIENTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
LEAST = 10_000


def free_port() -> int:
    """Return a port of this machine that nobody listens on, and that the system gives to nobody who asks for any.

    A port of the system's own range may be taken before the server listens or while it is away: by the connection of a
    client, even of its own client, which then talks to itself.
    """
    first_of_clients = int(PORTS_OF_CLIENTS.read_text().split()[0]) if PORTS_OF_CLIENTS.exists() else 32_768
    while True:
        port = SystemRandom().randrange(LEAST, max(first_of_clients, LEAST + 1_000))
        with socket.socket() as listening:
            try:
                listening.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
