"""A rater in a real browser: the system's Chromium, driven by Playwright through the page of a study."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from vqagen.errors import UsageError

MOUSE, KEYBOARD = USES = "mouse", "keyboard"
"""How a rater uses the page."""
START, CONSENT, READING, PRACTICE, FEEDBACK, TRIAL = "start", "consent", "reading", "practice", "feedback", "trial"
PREVIEW, IMAGE_FAILED, END, DONE = "preview", "image-failed", "end", "done"
"""Screens of the page. END is without debriefing: declined, withdrawn, full, a link that is not valid."""
MOST_TABS = 40
"""Presses of Tab until a control has the focus."""


class ShownTrial(NamedTuple):
    """A trial as the page shows it."""

    number: int
    """From 1; 0 in the practice."""
    prompt: str
    texts: tuple[str, ...]
    """From left to right."""
    values: tuple[int, ...]


Choose = Callable[[ShownTrial], int]
"""The value that a rater chooses."""


def find_chromium() -> str | None:
    """Return the path of the system's Chromium, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def open_browser() -> Iterator[Any]:
    """Yield a browser of Playwright. As root, Chromium runs only without its sandbox. UsageError if one is missing."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        raise UsageError("a browser needs playwright; install it: pip install playwright") from None
    chromium = find_chromium()
    if chromium is None:
        raise UsageError("no Chromium on this machine; install it (Debian: apt-get install chromium)")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


class StudyPage:
    """The page of a study in a browser, used by one rater. Every method waits until the page has answered."""

    def __init__(self, page: Any, use: str = MOUSE) -> None:
        """Drive a page of Playwright by mouse or by keyboard alone."""
        self.page = page
        self._use = use
        self._main = page.locator("#main")

    def open(self, link: str) -> str:
        """Open a link, and return the screen that it leads to."""
        self.page.goto(link)
        return self._after("0")

    def reload(self) -> str:
        """Load the page again, and return the screen that it leads to."""
        self.page.reload()
        return self._after("0")

    @property
    def screen(self) -> str:
        """The screen that the page shows."""
        return str(self._main.get_attribute("data-screen"))

    @property
    def code(self) -> str:
        """The completion code that the page shows; "" for none."""
        shown = self.page.locator(".code")
        return str(shown.inner_text()) if shown.count() else ""

    def take(self, choose: Choose) -> str:
        """Go on to the end of the study, and return its completion code; "" if it ends without one."""
        while (screen := self.screen) not in (DONE, END, PREVIEW):
            if screen == TRIAL:
                self.answer(choose(self.trial()))
            else:
                self.go_on()
        return self.code

    def go_on(self) -> str:
        """Leave a screen that is no trial: consent, read on, practise, try again. Return the next screen."""
        screen = self.screen
        if screen == PRACTICE:
            return self.answer(self.trial().values[0])
        if screen == CONSENT:
            self._press("#agreed", "Space")
        return self._leave("#main button.main")

    def decline(self) -> str:
        """Decline to take part, and return the next screen."""
        return self._leave("#main button.side")

    def withdraw(self) -> str:
        """Stop taking part, and return the next screen."""
        self._press("#withdraw", "Enter")
        return self._leave("dialog[open] button.side")

    def trial(self) -> ShownTrial:
        """Return the trial that the page shows."""
        stage = self._main.locator(".stage")
        values = [int(each.get_attribute("value")) for each in stage.locator("input[name=value]").all()]
        texts = tuple(stage.locator(".text").all_text_contents())
        number = int(stage.get_attribute("data-number") or 0)
        return ShownTrial(number, str(stage.locator("legend").text_content()), texts, tuple(values))

    def choose(self, value: int) -> None:
        """Choose a value without submitting it."""
        if self._use == KEYBOARD:
            self.page.keyboard.press(str(value))
        else:
            self._main.locator(".choice", has=self.page.locator(f'input[value="{value}"]')).click()

    def answer(self, value: int) -> str:
        """Choose a value and submit it; return the next screen."""
        self.choose(value)
        before = self._step()
        if self._use == KEYBOARD:
            self.page.keyboard.press("Enter")
        else:
            self._main.locator("form.trial button.main").click()
        return self._after(before)

    def _leave(self, control: str) -> str:
        before = self._step()
        self._press(control, "Enter")
        return self._after(before)

    def _press(self, control: str, key: str) -> None:
        """Use a control. By keyboard, Tab must reach it."""
        if self._use == MOUSE:
            self.page.locator(control).click()
            return
        for _ in range(MOST_TABS):
            if self.page.locator(f"{control}:focus").count():
                break
            self.page.keyboard.press("Tab")
        else:
            raise AssertionError(f"Tab does not reach {control}")
        self.page.keyboard.press(key)

    def _step(self) -> str:
        return str(self._main.get_attribute("data-step"))

    def _after(self, before: str) -> str:
        """Return the screen that follows a step."""
        self.page.locator(f'#main:not([data-step="{before}"])').wait_for()
        return self.screen
