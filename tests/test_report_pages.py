"""The pages of `evaluate` and `audit` in a real browser: the system's Chromium, driven by Playwright."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from browsers import expect, needs_chromium, new_window
from commands import Commands
from scene_records import sampled_scenes

import vqagen

pytestmark = needs_chromium


@pytest.mark.slow
def test_reports_show_their_figures_without_errors_and_requests(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Both pages show the figures of the report, load nothing but themselves, and fit a phone."""
    monkeypatch.chdir(tmp_path)
    Path("scenes.json").write_text(json.dumps({"scenes": sampled_scenes(6)}))
    vqagen.write_questions("scenes.json", "questions.json")
    Path("answers.jsonl").write_text('{"question_index": 0, "answer": "<b>"}\n{"question_index": 999, "answer": "1"}\n')
    run = Commands(capsysbinary)
    run.done("evaluate questions.json answers.jsonl --out scores.html")
    assert run("audit questions.json -o audit.html").code in (0, 1)

    page = new_window(browser, viewport={"width": 320, "height": 800}).new_page()
    faults: list[str] = []
    page.on("console", lambda said: faults.append(said.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: None if request.url == page_url else faults.append(request.url))

    page_url = Path("scores.html").resolve().as_uri()
    page.goto(page_url)
    expect(page.locator(".head")).to_contain_text("1 of 60 answered (1.7%); 59 missing")
    expect(page.locator(".head")).to_contain_text("unknown 999")
    expect(page.locator("#overall + .wide tbody td").nth(3)).to_have_text("0.000")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page_url = Path("audit.html").resolve().as_uri()
    page.goto(page_url)
    expect(page.locator("body")).to_contain_text("60 questions about 6 images")
    assert page.locator("figure svg").count() == 2
    assert all(page.locator("figure svg").nth(at).bounding_box()["height"] > 50 for at in range(2))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.context.close()
    assert faults == []
