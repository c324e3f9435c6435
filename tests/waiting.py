"""Waiting for what other processes bring about, however slow the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(is_so: Callable[[], object]) -> None:
    """Wait, or fail after two minutes: no test of ours is about speed."""
    until = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.005)
