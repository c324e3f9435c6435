"""The page of a report in a real browser: the system's Chromium, driven by Playwright."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browsers import expect, needs_chromium, new_window
from test_score_report import REPORT

from vqagen.report.table import COUNT, TEXT, Figure, Table, columns
from vqagen.report.writers import Axis, draw, interval, write_report

pytestmark = [pytest.mark.slow, needs_chromium]
LONG = Table("long", "Long", columns(said=TEXT, n=COUNT), (("a text that no phone shows in one line " * 3, 1),))


def test_a_report_shows_its_figures_without_errors_and_requests(browser: Any, tmp_path: Path) -> None:
    """The page shows figures and tables, loads nothing but itself, and fits a phone."""
    row = interval(Axis(), "name", 0.5, 0.4, 0.6, None)
    figures = (Figure("Drawn", "how to read it", draw(Axis(), [row, row])),)
    write_report(replace(REPORT, tables=(*REPORT.tables, LONG), figures=figures), tmp_path / "scores.html")
    address = (tmp_path / "scores.html").resolve().as_uri()
    page = new_window(browser, viewport={"width": 320, "height": 800}).new_page()
    faults: list[str] = []
    page.on("console", lambda said: faults.append(said.text))
    page.on("request", lambda request: None if request.url == address else faults.append(request.url))

    page.goto(address)

    expect(page.locator(".head")).to_contain_text("2 questions, 1 missing")
    expect(page.locator("#category + .wide tbody td").nth(2)).to_have_text("0.371")
    assert page.locator("figure svg").bounding_box()["height"] > 50
    assert page.locator("figure svg text").first.bounding_box()["height"] > 8, "a label can be read"
    assert page.locator("#long + .wide td").first.bounding_box()["width"] < 220, "a long text is broken"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.context.close()
    assert faults == []
