"""A visit of a simulated rater by the requests that a page sends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from vqagen.errors import VqagenError
from vqagen.human.links.codes import assignment_of_bearer, completion_code
from vqagen.human.links.tokens import Link, sign
from vqagen.human.simulation.connection import API, Connection, Reply
from vqagen.human.simulation.visit import COMPLETED, LEFT, REFUSED, WITHDREW, Guests, Leaving, Visit
from vqagen.human.store.store import Answer
from vqagen.human.study.trial import Trial

GONE_STATES = "complete", "withdrawn", "expired"
"""States of a session whose rater has been here before."""


def visit_by_http(guests: Guests, rater: str, tasks: Sequence[str]) -> Iterator[Visit]:
    """Let a rater open the link of each task, consent, answer and complete."""
    for task in tasks:
        with closing(Connection(guests.url)) as connection:
            yield _HttpVisit(guests, rater, task, connection).done()


class _HttpVisit:
    """One rater's way through one task."""

    def __init__(self, guests: Guests, rater: str, task: str, connection: Connection) -> None:
        self._guests, self._rater, self._task, self._connection = guests, rater, task, connection
        self._answers: list[Answer] = []
        self._seconds: list[float] = []
        self._faults: list[str] = []

    def done(self) -> Visit:
        token = sign(Link(self._guests.study.id, self._task), self._guests.secret)
        self._expect("open the link", self._connection.ask("GET", f"/s/{token}"), 200)
        if not self._consent(token):
            return self._visit(REFUSED)
        assignment = assignment_of_bearer(self._connection.bearer, self._guests.secret, self._guests.study.id)
        if assignment is None:
            raise VqagenError(f"{self._guests.url} gave a session that is not of this study")
        leaving = self._guests.leaving(self._rater, self._task)
        trials = self._guests.study.trials(self._task, int(assignment.split("-")[1]))
        for trial, shown in self._shown(trials):
            if leaving is not None and len(self._answers) >= leaving.after:
                break
            self._check(trial, shown)
            self._answer(assignment, trial)
        return self._visit(self._end(assignment, leaving), assignment)

    def _visit(self, outcome: str, assignment: str = "") -> Visit:
        done = tuple(self._answers), tuple(self._seconds), tuple(self._faults)
        return Visit(self._rater, self._task, outcome, assignment, *done)

    def _consent(self, token: str) -> bool:
        """Consent, and return True if there is a place."""
        who = {"token": token, "participant": {"platform": "id", "id": self._rater}}
        reply = self._connection.ask("POST", f"{API}/session", who)
        if reply.status in (403, 410):
            raise VqagenError(
                f"{self._guests.url} refuses links of {self._guests.study.folder}; does it serve this study, with the"
                " same secret?"
            )
        session = self._expect("say who it is", reply, 200)
        if session is None or session["state"] in GONE_STATES:
            return False
        body = {**who, "consent_version": session["consent_version"], "agreed": True}
        reply = self._connection.ask("POST", f"{API}/consent", body)
        if reply.status == 409:
            return False
        consented = self._expect("consent", reply, 200, 201)
        self._connection.bearer = consented["session"] if consented else ""
        return bool(consented)

    def _shown(self, trials: tuple[Trial, ...]) -> Iterator[tuple[Trial, dict[str, Any]]]:
        """Yield the trials that the server asks for, each with what it shows."""
        for _ in trials:
            shown = self._expect("ask for a trial", self._connection.ask("GET", f"{API}/trial"), 200)
            if not shown or shown.get("done"):
                return
            yield trials[shown["number"] - 1], shown

    def _check(self, trial: Trial, shown: dict[str, Any]) -> None:
        """Note what is shown otherwise than the study plans it."""
        if list(shown["texts"]) != list(trial.texts) or bool(shown["image"]) != bool(trial.item.image):
            self._faults.append(f"trial {trial.number} of task {self._task} is not the planned one")
        if shown["image"]:
            self._expect("fetch an image", self._connection.ask("GET", shown["image"]["url"]), 200)

    def _answer(self, assignment: str, trial: Trial) -> None:
        value = self._guests.raters.value(self._rater, trial)
        spent = self._guests.raters.milliseconds(self._rater, trial)
        body = {"value": value, "rt_ms": spent, "shown_ms": spent, "blur": 0, "idem": f"{assignment}-{trial.number}"}
        reply = self._connection.ask("PUT", f"{API}/responses/{trial.number}", body)
        if self._expect("answer", reply, 200, 201) is not None:
            self._answers.append(Answer(assignment, trial.number, value, spent, spent, 0, 0))
            self._seconds.append(reply.seconds)

    def _end(self, assignment: str, leaving: Leaving | None) -> str:
        """Complete, withdraw or simply leave; return the outcome."""
        if leaving is not None:
            if leaving.withdraws:
                self._expect("withdraw", self._connection.ask("POST", f"{API}/withdraw", {}), 200)
            return WITHDREW if leaving.withdraws else LEFT
        done = self._expect("complete", self._connection.ask("POST", f"{API}/complete", {}), 200)
        study = self._guests.study
        code = study.serving.code_completed or completion_code(self._guests.secret, study.id, assignment)
        if done is not None and done["code"] != code:
            self._faults.append(f"the code of {assignment} is wrong")
        return COMPLETED if done else LEFT

    def _expect(self, what: str, reply: Reply, *statuses: int) -> Any:
        """Return the JSON of a reply, or {} for another content; None with a fault for another status."""
        if reply.status in statuses:
            return {} if reply.record is None else reply.record
        detail = (reply.record or {}).get("message", "")
        self._faults.append(f"{self._rater} could not {what}: status {reply.status} {detail}".rstrip())
        return None
