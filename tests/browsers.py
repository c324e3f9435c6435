"""A browser in tests: the system's Chromium, driven by Playwright, with as much time as a busy machine needs."""

from __future__ import annotations

from typing import Any

import pytest

from vqagen.human.simulation.browser import find_chromium

sync_api: Any = pytest.importorskip("playwright.sync_api")
WAIT = 120_000
"""Milliseconds until an expectation or an action in a page has failed. Playwright's own are 5,000."""
sync_api.expect.set_options(timeout=WAIT)

needs_chromium = pytest.mark.skipif(
    find_chromium() is None, reason="no Chromium on this machine (Debian: apt-get install chromium)"
)


def expect(thing: Any) -> Any:
    """Return the expectations of Playwright about a part of a page: each waits until it is met."""
    return sync_api.expect(thing)


def new_window(browser: Any, **options: Any) -> Any:
    """Open a window without cookies and memory: a context of Playwright, in which every action may wait."""
    context = browser.new_context(**options)
    context.set_default_timeout(WAIT)
    return context
