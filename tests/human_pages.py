"""A study that is served for browsers, with texts that a page could get wrong, and what is stored of its raters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from human_served import serving
from study_files import fill_words, picture, write_caption_files

from vqagen.human.answers import AnswerRow
from vqagen.human.export.rows import answer_rows
from vqagen.human.links.people import ID, Participant, pseudonym
from vqagen.human.links.secret import Secret, load_secret
from vqagen.human.links.tokens import Link, sign_link
from vqagen.human.store.opening import ANSWERS, open_store
from vqagen.human.study.making import make_caption_tasks
from vqagen.human.study.settings import PlanSettings
from vqagen.human.study.study import Study
from vqagen.human.study.trial import Trial

HOSTILE = (
    "<script>document.title = 'broken'</script><img src=x onerror=\"document.title = 'broken'\">",
    "قطة سوداء (12) تجلس على كرسي أزرق, and a cat.",
    "Two   spaces, a\ttab, {number} &amp; \\u0041 \U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 e\u0301.",
    " ".join(["A long text about a picture, which is read to its very end;"] * 40)[:2000],
)
"""Captions of a system."""
HEBREW = {
    "language": "he",
    "direction": "rtl",
    "title": "איזה טקסט מתאים לתמונה?",
    "consent_heading": "השתתפות במחקר",
    "consent_checkbox": "קראתי ואני מסכים להשתתף.",
    "consent_button": "להשתתף",
    "trial_heading": "ניסוי {number} מתוך {total}",
    "left_label": "טקסט שמאלי",
    "right_label": "טקסט ימני",
    "submit_button": "שליחה",
}


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


@dataclass
class ServedPage:
    """A study whose pages a browser can open."""

    study: Study
    secret: Secret
    url: str

    def link(self, query: str, slot: int | None = None) -> str:
        """Return the link of the only task with a query."""
        return f"{self.url}/s/{sign_link(Link(self.study.id, self.task, slot), self.secret)}?{query}"

    @property
    def task(self) -> str:
        """The only task."""
        (task,) = self.study.tasks
        return task

    def answers(self, name: str) -> list[AnswerRow]:
        """Return the stored answers of a rater whose link has `id=NAME`."""
        rater = pseudonym(self.secret, Participant(ID, name))
        with self._store() as store:
            rows = [row for row in answer_rows(self.study, store) if row.rater == rater]
        return sorted(rows, key=lambda row: row.trial)

    def values(self, name: str) -> list[tuple[int, int]]:
        """Return number and value of each stored answer of a rater."""
        return [(row.trial, row.value) for row in self.answers(name)]

    def events(self, name: str) -> list[str]:
        """Return the kinds of what happened in the assignment of a rater."""
        rater = pseudonym(self.secret, Participant(ID, name))
        with self._store() as store:
            assignments = {each.id for each in store.assignments() if each.rater == rater}
            return [event.kind for event in store.events() if event.assignment in assignments]

    def trials(self, name: str) -> tuple[Trial, ...]:
        """Return the planned trials of a rater."""
        rater = pseudonym(self.secret, Participant(ID, name))
        with self._store() as store:
            (assignment,) = (each for each in store.assignments() if each.rater == rater)
        return self.study.trials(assignment.task, assignment.slot)

    @contextmanager
    def _store(self) -> Iterator[Any]:
        store = open_store(self.study.folder / ANSWERS, self.study.id, create=False, read_only=True)
        try:
            yield store
        finally:
            store.close()


@contextmanager
def served_pages(folder: Path, options: str = "") -> Iterator[ServedPage]:
    """Yield a served study of one task with four trials for 100 raters."""
    files = write_caption_files(folder, images=4)
    for number in range(4):
        (folder / "images" / f"im{number:02}.png").write_bytes(picture(number, (480, 320)))
    captions = {f"im{number:02}.png": text for number, text in enumerate((*HOSTILE[1:], "A plain text."))}
    files["ours"].write_text(json.dumps(captions), "utf-8")
    people = {name: [text] for name, text in zip(captions, (HOSTILE[0], "A cat.", "A boat.", "A lamp."), strict=True)}
    (folder / "human.json").write_text(json.dumps(people), "utf-8")
    settings = PlanSettings(trials_per_task=4, checks_per_task=0, raters_per_item=100)
    made = make_caption_tasks(folder / "study", folder / "human.json", files, folder / "images", settings)
    study = fill_words(made.study)
    with serving(study.folder, f"--client-rate 0 {options}") as (_, url):
        yield ServedPage(study, load_secret(study.folder), url)


@dataclass
class Tabs:
    """Tabs of one browser window. They collect everything that must not happen in a page."""

    context: Any
    place: ServedPage
    faults: list[str] = field(default_factory=list)
    accepted: tuple[str, ...] = ()
    """Parts of messages of the console that a test causes."""

    def tab(self, use: str = MOUSE) -> StudyPage:
        """Open another tab."""
        page = self.context.new_page()
        page.on("console", lambda said: self._note(said.text))
        page.on("pageerror", lambda error: self._note(str(error)))
        return StudyPage(page, use)

    def on_trial(self, name: str, use: str = MOUSE) -> StudyPage:
        """Open a tab on the first trial of a new rater."""
        tab = self.tab(use)
        tab.open(self.place.link(f"id={name}"))
        while tab.screen != TRIAL:
            tab.go_on()
        return tab

    def _note(self, text: str) -> None:
        if not any(part in text for part in self.accepted):
            self.faults.append(text)

    def stay_inside(self) -> None:
        """Abort every request to another origin."""

        def check(route: Any) -> None:
            if route.request.url.startswith(self.place.url + "/"):
                route.fallback()
            else:
                self.faults.append(f"request to {route.request.url}")
                route.abort()

        self.context.route("**/*", check)


def in_hebrew(route: Any) -> None:
    """Replace the words of a session by words that are written from right to left."""
    response = route.fetch()
    record = response.json()
    record["texts"] |= HEBREW
    route.fulfill(response=response, json=record)
