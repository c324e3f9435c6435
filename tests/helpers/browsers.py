"""A browser in tests: the system's Chromium, driven by Playwright, with as much time as a busy machine needs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

WAIT = 120_000
"""Milliseconds until an expectation or an action in a page has failed. Playwright's own are 5,000."""

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on this machine (Debian: apt-get install chromium)"
)


@contextmanager
def open_browser() -> Iterator[Any]:
    """Yield a browser of Playwright. As root, Chromium runs only without its sandbox."""
    sync_api: Any = pytest.importorskip("playwright.sync_api")
    sync_api.expect.set_options(timeout=WAIT)
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


def expect(thing: Any) -> Any:
    """Return the expectations of Playwright about a part of a page: each waits until it is met."""
    return pytest.importorskip("playwright.sync_api").expect(thing)


def new_window(browser: Any, **options: Any) -> Any:
    """Open a window without cookies and memory: a context of Playwright, in which every action may wait."""
    context = browser.new_context(**options)
    context.set_default_timeout(WAIT)
    return context
