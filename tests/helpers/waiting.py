"""Waiting for what other processes bring about, however slow the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 600
"""Seconds until a test that waits has failed: no test of ours is about speed."""


def wait_until(is_so: Callable[[], object]) -> None:
    """Wait, or fail when there is no more hope."""
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.005)
