"""A study that is served for browsers, with texts that a page could get wrong, and what is stored of its raters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from human_served import serving
from study_files import picture, write_caption_files, write_words

from vqagen.calls.human_studies import make_caption_tasks
from vqagen.human.answers import AnswerRow
from vqagen.human.export.rows import answer_rows
from vqagen.human.links.people import ID, Participant, pseudonym
from vqagen.human.links.secret import Secret, load_secret
from vqagen.human.links.tokens import Link, sign
from vqagen.human.simulation.browser import MOUSE, PRACTICE, TRIAL, StudyPage
from vqagen.human.store.opening import ANSWERS, open_store
from vqagen.human.study.settings import PlanSettings
from vqagen.human.study.study import Study, load_study
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


@dataclass
class ServedPage:
    """A study whose pages a browser can open."""

    study: Study
    secret: Secret
    url: str

    def link(self, query: str, slot: int | None = None) -> str:
        """Return the link of the only task with a query."""
        return f"{self.url}/s/{sign(Link(self.study.id, self.task, slot), self.secret)}?{query}"

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
            assignments = {each.id for each in store.assignments(rater)}
            return [event.kind for event in store.events() if event.assignment in assignments]

    def trials(self, name: str) -> tuple[Trial, ...]:
        """Return the planned trials of a rater."""
        rater = pseudonym(self.secret, Participant(ID, name))
        with self._store() as store:
            (assignment,) = store.assignments(rater)
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
    """Yield a served study of one task with four trials for 100 raters; one trial has no image."""
    files = write_caption_files(folder, images=3)
    for number in range(3):
        (folder / "images" / f"im{number:02}.png").write_bytes(picture(number, (480, 320)))
    captions = {f"im{number:02}.png": text for number, text in enumerate(HOSTILE[1:])}
    files["ours"].write_text(json.dumps(captions), "utf-8")
    people = {name: [text] for name, text in zip(captions, (HOSTILE[0], "A cat.", "A boat."), strict=True)}
    (folder / "human.json").write_text(json.dumps(people), "utf-8")
    write_words(folder / "words.json")
    settings = PlanSettings(trials_per_task=4, checks_per_task=0, imc_per_task=1, raters_per_item=100)
    made = make_caption_tasks(
        folder / "study", folder / "human.json", files, folder / "images", settings, texts=folder / "words.json"
    )
    with serving(made.study.folder, f"--session-rate 0 --client-rate 0 {options}") as (_, url):
        study = load_study(made.study.folder)
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

    def on_practice(self, name: str, use: str = MOUSE) -> StudyPage:
        """Open a tab on the first trial of the practice of a new rater."""
        tab = self.tab(use)
        tab.open(self.place.link(f"id={name}"))
        while tab.screen != PRACTICE:
            tab.go_on()
        return tab

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
