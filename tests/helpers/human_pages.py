"""Studies that are served for browsers, with texts that a page could get wrong, and what is stored of their raters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from human_served import serving
from study_files import FILLED, picture, write_json

from vqagen.human.answers import AnswerRow, answer_rows, study_facts
from vqagen.human.settings import PlanSettings
from vqagen.human.store.facts import Noted
from vqagen.human.store.study_state import StudyState
from vqagen.human.study.making import make_item_tasks
from vqagen.human.study.study import ShownTrial, Study, load_study
from vqagen.human.tokens import ID, Link, Participant, Secret, load_secret, pseudonym, sign_link

HOSTILE = (
    "<script>document.title = 'broken'</script><img src=x onerror=\"document.title = 'broken'\">",
    "قطة سوداء (12) تجلس على كرسي أزرق, and a cat.",
    "Two   spaces, a\ttab, {number} &amp; \\u0041 \U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 e\u0301.",
    " ".join(["A long text about a picture, which is read to its very end;"] * 40)[:2000],
)
"""Texts of items."""
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
IMAGES = tuple(f"im{number}.png" for number in range(6))


def options(*texts: str) -> dict[str, Any]:
    """Return a form with options."""
    return {"type": "options", "options": texts}


def comparison(image: str, *texts: str, **more: Any) -> dict[str, Any]:
    """Return an item that compares two texts."""
    sources = [{"text": text, "source": f"source {place}", "role": "reference"} for place, text in enumerate(texts)]
    return {"kind": "compare", "image": image, "candidates": sources, **more}


def question(prompt: str, form: dict[str, Any], image: str = "", **more: Any) -> dict[str, Any]:
    """Return an item that asks a question."""
    return {"kind": "answer", "prompt": prompt, "form": form, "image": image, **more}


GRID = {
    "type": "cell",
    "rows": 2,
    "columns": 3,
    "area": [0.1, 0.1, 0.8, 0.8],
    "cells": ["ant", "bee", "", "cow", "", "dog"],
}
SAID = [{"text": HOSTILE[1]}, *({"text": f"What is thing {number}?", "answer": HOSTILE[0]} for number in range(9))]
ITEMS = (
    comparison(IMAGES[4], "A right text.", "A wrong text.", use="practice", gold={"better": "1"}),
    question("Is it a practice?", options("yes", "no"), IMAGES[5], use="practice", gold={"answer": "yes"}),
    question("How old are you?", {"type": "number", "least": 18, "largest": 99}, use="before"),
    comparison(IMAGES[0], HOSTILE[2], HOSTILE[3]),
    question(HOSTILE[0], options("red", HOSTILE[1], HOSTILE[0]), IMAGES[1]),
    question("And how many?", options("0", "1", "2", "10"), IMAGES[2], history=SAID, series="a dialog"),
    question("Please click on the dog.", GRID, IMAGES[3]),
    question("Is there anything else?", {"type": "text", "longest": 200}, use="after"),
)
"""Items of every form. The first trial is answered by a number, and a break comes after the third."""
SERVING = {
    "break_every": 2,
    "redirect_completed": "https://panel.example/?code={code}&session={SESSION_ID}&no={nothing}",
}
MANY, FEW = 100, 2
"""Raters of each task."""

MOUSE, KEYBOARD = USES = "mouse", "keyboard"
"""How a rater uses the page."""
START, CONSENT, READING, PRACTICE, FEEDBACK, TRIAL = "start", "consent", "reading", "practice", "feedback", "trial"
BREAK, PAUSED, WAIT, PREVIEW, IMAGE_FAILED = "break", "paused", "wait", "preview", "image-failed"
END, DONE = "end", "done"
"""Screens of the page. END is without debriefing: declined, withdrawn, full, a link that is not valid."""
MOST_TABS = 40
"""Presses of Tab, or of an arrow, until a control has the focus."""


class PageTrial(NamedTuple):
    """A trial as the page shows it."""

    number: int
    """From 1; 0 in the practice."""
    prompt: str
    texts: tuple[str, ...]
    """From left to right; what was said before a question."""
    form: str
    choices: tuple[str, ...]
    """What the buttons stand for; none where the answer is written."""


Choose = Callable[[PageTrial], object]
"""The answer that a rater chooses."""


def any_answer(trial: PageTrial) -> object:
    """Return an answer that a trial can have."""
    return trial.choices[-1] if trial.choices else 42


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
        return self.after("0")

    def reload(self) -> str:
        """Load the page again, and return the screen that it leads to."""
        self.page.reload()
        return self.after("0")

    @property
    def screen(self) -> str:
        """The screen that the page shows."""
        return str(self._main.get_attribute("data-screen"))

    @property
    def code(self) -> str:
        """The completion code that the page shows; "" for none."""
        shown = self.page.locator(".code")
        return str(shown.inner_text()) if shown.count() else ""

    def take(self, choose: Choose = any_answer) -> str:
        """Go on to the end of the study, and return its completion code; "" if it ends without one."""
        while self.screen not in (DONE, END):
            self.go_on(choose)
        return self.code

    def go_on(self, choose: Choose = any_answer) -> str:
        """Leave a screen: answer, consent, read on, try again. Return the next screen."""
        screen = self.screen
        if screen in (PRACTICE, TRIAL):
            return self.answer(choose(self.trial()))
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

    def trial(self) -> PageTrial:
        """Return the trial that the page shows."""
        stage = self._main.locator(".stage")
        choices = [str(each.get_attribute("value")) for each in stage.locator("input[type=radio]").all()]
        texts = tuple(stage.locator(".text, .history p").all_text_contents())
        number, form = int(stage.get_attribute("data-number") or 0), str(stage.get_attribute("data-form"))
        return PageTrial(number, str(stage.locator("legend").text_content()), texts, form, tuple(choices))

    def choose(self, value: object) -> None:
        """Choose or write an answer without submitting it."""
        trial = self.trial()
        if not trial.choices:
            self._press(".answer .field", "ControlOrMeta+A")
            self.page.keyboard.type(str(value))
            return
        button = self._main.locator("input[type=radio]").nth(trial.choices.index(str(value)))
        key = button.get_attribute("data-key")
        if self._use == MOUSE:
            button.click()
        elif key:
            self.page.keyboard.press(key)
        else:
            self._press("input[type=radio]", "Space")
            for _ in range(MOST_TABS):
                if button.is_checked():
                    break
                self.page.keyboard.press("ArrowRight")

    def answer(self, value: object) -> str:
        """Choose a value and submit it; return the next screen."""
        self.choose(value)
        if self._use == MOUSE or self.trial().form == "text":
            return self._leave("form.trial button.main")
        before = self._step()
        self.page.keyboard.press("Enter")
        return self.after(before)

    def _leave(self, control: str) -> str:
        before = self._step()
        self._press(control, "Enter")
        return self.after(before)

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

    def after(self, before: str) -> str:
        """Return the screen that follows a step."""
        self.page.locator(f'#main:not([data-step="{before}"])').wait_for()
        return self.screen


@dataclass
class ServedPage:
    """A study whose pages a browser can open."""

    study: Study
    secret: Secret
    url: str

    def link(self, query: str, **more: Any) -> str:
        """Return the link of the only task with a query."""
        (task,) = self.study.tasks
        return f"{self.url}/s/{sign_link(Link(self.study.id, task, **more), self.secret)}?{query}"

    def answers(self, name: str) -> list[AnswerRow]:
        """Return the stored answers of a rater whose link has `id=NAME`, by trial."""
        rows = answer_rows(self.study, self.study_state())
        return [row for row in rows if row.rater == self._rater(name)]

    def values(self, name: str) -> list[tuple[int, int | str]]:
        """Return number and value of each stored answer of a rater."""
        return [(row.trial, row.value) for row in self.answers(name)]

    def events(self, name: str) -> list[tuple[str, str, int]]:
        """Return kind, text and trial of what the page of a rater reported."""
        own = {each.id for each in self.study_state().assignments.values() if each.rater == self._rater(name)}
        noted = (fact for _, fact in study_facts(self.study) if isinstance(fact, Noted) and fact.assignment in own)
        return [(each.kind, each.detail, each.trial) for each in noted]

    def trials(self, name: str) -> tuple[ShownTrial, ...]:
        """Return the planned trials of a rater."""
        (own,) = (each for each in self.study_state().assignments.values() if each.rater == self._rater(name))
        return self.study.trials(own.task, own.slot)

    def study_state(self) -> StudyState:
        """Return all that is stored."""
        return StudyState(study_facts(self.study))

    def _rater(self, name: str) -> str:
        return pseudonym(self.secret, Participant(ID, name))


@contextmanager
def served_pages(folder: Path, raters: int) -> Iterator[ServedPage]:
    """Yield a served study with one task."""
    (folder / "images").mkdir()
    for number, name in enumerate(IMAGES):
        (folder / "images" / name).write_bytes(picture(number, (480, 320)))
    lines = [json.dumps({"schema": "vqagen.human.item/2", **item}) for item in ITEMS]
    (folder / "items.jsonl").write_text("\n".join(lines), "utf-8")
    plan = PlanSettings(trials_per_task=8, checks_per_task=0, raters_per_item=raters)
    study = make_item_tasks(folder / "study", folder / "items.jsonl", folder / "images", plan)[0]
    for name, changes in (("texts.json", {"values": FILLED}), ("serving.json", SERVING)):
        path = study.folder / name
        write_json(path, {**json.loads(path.read_text("utf-8")), **changes})
    with serving(study.folder, "--client-rate 0") as (_, url):
        yield ServedPage(load_study(study.folder), load_secret(study.folder), url)


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


def changed_session(**changes: Any) -> Callable[[Any], None]:
    """Return a handler that changes what the server says of a session; `texts` replace some of the words."""

    def change(route: Any) -> None:
        response = route.fetch()
        record = response.json()
        texts = record["texts"] | changes.get("texts", {})
        route.fulfill(response=response, json=record | changes | {"texts": texts})

    return change
