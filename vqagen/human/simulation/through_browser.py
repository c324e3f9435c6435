"""A visit of a simulated rater in a real browser: the page is read and used as a person does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from vqagen.human.links.codes import assignment_of_bearer, completion_code
from vqagen.human.links.tokens import Link, sign
from vqagen.human.simulation.browser import DONE, END, PREVIEW, TRIAL, StudyPage, find_chromium, open_browser
from vqagen.human.simulation.visit import COMPLETED, LEFT, REFUSED, WITHDREW, Guests, Visit
from vqagen.human.store.store import Answer
from vqagen.human.study.trial import Trial

MOST_BROWSERS = 3
"""Browsers at once: each needs 300 MB."""
_BEARER = "Bearer "


def browser_problem() -> str:
    """Return why no browser can be driven here; "" if one can."""
    if find_spec("playwright") is None:
        return "playwright is not installed (pip install playwright)"
    if find_chromium() is None:
        return "there is no Chromium (Debian: apt-get install chromium)"
    return ""


def visit_by_browser(guests: Guests, rater: str, tasks: Sequence[str]) -> Iterator[Visit]:
    """Let a rater open the link of each task in a browser of its own, consent, practise, answer and complete."""
    from playwright.sync_api import Error

    with open_browser() as browser:
        for task in tasks:
            with _page(browser) as page:
                visit = _BrowserVisit(guests, rater, task, page)
                try:
                    yield visit.done()
                except Error as error:
                    yield visit.broken(str(error).splitlines()[0])


@contextmanager
def _page(browser: Any) -> Iterator[Any]:
    context = browser.new_context()
    try:
        yield context.new_page()
    finally:
        context.close()


class _BrowserVisit:
    """One rater's way through one task, and what the page sends and receives meanwhile."""

    def __init__(self, guests: Guests, rater: str, task: str, page: Any) -> None:
        self._guests, self._rater, self._task = guests, rater, task
        self._tab = StudyPage(page)
        self._assignment = ""
        self._answers: dict[int, Answer] = {}
        self._seconds: list[float] = []
        self._faults: list[str] = []
        page.on("request", self._note_session)
        page.on("requestfinished", self._note_answer)
        page.on("pageerror", lambda error: self._faults.append(f"an error in the page: {error}"))

    def done(self) -> Visit:
        token = sign(Link(self._guests.study.id, self._task), self._guests.secret)
        leaving = self._guests.leaving(self._rater, self._task)
        given = 0
        self._tab.open(f"{self._guests.url}/s/{token}?id={self._rater}")
        while (screen := self._tab.screen) not in (DONE, END, PREVIEW):
            if screen != TRIAL:
                self._tab.go_on()
            elif leaving is not None and given >= leaving.after:
                if leaving.withdraws:
                    self._tab.withdraw()
                return self._visit(WITHDREW if leaving.withdraws else LEFT)
            else:
                self._tab.answer(self._guests.raters.value(self._rater, self._trial()))
                given += 1
        if screen != DONE:
            return self._visit(REFUSED)
        study, secret = self._guests.study, self._guests.secret
        if self._assignment and self._tab.code != (
            study.serving.code_completed or completion_code(secret, study.id, self._assignment)
        ):
            self._faults.append(f"the code of {self._assignment} is wrong")
        return self._visit(COMPLETED if self._answers else REFUSED)

    def broken(self, why: str) -> Visit:
        """Return a visit that the page did not let end."""
        self._faults.append(f"the page of {self._rater} stopped: {why}")
        return self._visit(LEFT if self._assignment else REFUSED)

    def _visit(self, outcome: str) -> Visit:
        answers = tuple(self._answers[number] for number in sorted(self._answers))
        done = self._assignment, answers, tuple(self._seconds), tuple(self._faults)
        return Visit(self._rater, self._task, outcome, *done)

    def _trial(self) -> Trial:
        """Return the planned trial that the page shows; note a difference."""
        shown = self._tab.trial()
        slot = int(self._assignment.split("-")[1])
        trial = self._guests.study.trials(self._task, slot)[shown.number - 1]
        if shown.texts != trial.texts or shown.prompt != trial.item.prompt:
            self._faults.append(f"trial {trial.number} of task {self._task} is not the planned one")
        return trial

    def _note_session(self, request: Any) -> None:
        """Learn the assignment from what the page sends."""
        sent = str(request.headers.get("authorization", ""))
        if sent.startswith(_BEARER) and not self._assignment:
            bearer = sent.removeprefix(_BEARER)
            self._assignment = assignment_of_bearer(bearer, self._guests.secret, self._guests.study.id) or ""

    def _note_answer(self, request: Any) -> None:
        """Note an answer that the server acknowledged."""
        if request.method != "PUT" or request.response().status not in (200, 201):
            return
        number, body = int(request.url.rpartition("/")[2]), request.post_data_json
        timed = (body["rt_ms"], body["shown_ms"], body["blur"])
        self._answers[number] = Answer(self._assignment, number, body["value"], *timed, 0)
        self._seconds.append(max(0.0, request.timing["responseEnd"]) / 1000)
