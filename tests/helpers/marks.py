"""Finding the processes that a test has started, and those that they have started in turn."""

from __future__ import annotations

from pathlib import Path

import pytest


def set_mark(monkeypatch: pytest.MonkeyPatch, folder: Path) -> str:
    """Mark all processes that are started from now on: `marked` finds them. Skips the test where it cannot."""
    if not Path("/proc/self/environ").exists():
        pytest.skip("needs /proc to see processes")
    monkeypatch.setenv("VQAGEN_TEST", str(folder))
    return f"VQAGEN_TEST={folder}"


def marked(mark: str) -> set[int]:
    """The processes that were started with a mark in their environment, or whose ancestors were."""
    return {int(each.parent.name) for each in Path("/proc").glob("[0-9]*/environ") if mark in _environment(each)}


def _environment(path: Path) -> list[str]:
    try:
        return path.read_bytes().decode(errors="replace").split("\0")
    except OSError:  # gone, or another user's
        return []
