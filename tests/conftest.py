"""What more than one test file needs."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a shell's background; programs inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).parents[1].parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference material beside the repository; tests that need it are skipped without it."""
    if not SHARED.is_dir():
        pytest.skip("no shared/ folder with reference material beside the repository")
    return SHARED
