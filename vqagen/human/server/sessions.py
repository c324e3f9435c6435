"""Sessions of raters: from a link to consent, answers, completion and withdrawal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from vqagen.human.links.people import Participant, pseudonym
from vqagen.human.links.revoked import is_revoked
from vqagen.human.links.secret import Secret
from vqagen.human.links.tokens import (
    Link,
    LinkRefused,
    assignment_of_bearer,
    completion_code,
    holder_of,
    session_bearer,
    verify_link,
)
from vqagen.human.server.replies import (
    CONSENT_CHANGED,
    DIFFERENT,
    FORBIDDEN,
    FULL,
    GONE,
    INCOMPLETE,
    INVALID,
    LIMIT,
    NOT_ACTIVE,
    NOT_FOUND,
    Failure,
)
from vqagen.human.server.roster import MOST_SESSIONS, Roster
from vqagen.human.server.shown import ShownStudy
from vqagen.human.store.committer import Committer
from vqagen.human.store.store import (
    CLAIMED,
    COMPLETE,
    EXPIRED,
    SAME,
    WITHDRAWN,
    Assignment,
    Claim,
    Complete,
    Ended,
    Log,
    NoSlot,
    NotActive,
    Outcome,
    Reclaim,
    Submit,
    Submitted,
    Withdraw,
    Write,
)
from vqagen.human.study.study import Study
from vqagen.human.study.trial import Trial
from vqagen.rng import shuffled, stream

ANY_NUMBER = 2**31
"""The tasks that a person may do where the study sets no limit."""
TASKS_OF_CLAIM = 8
"""Free tasks that one claim for any task names: one is enough unless others take it at the same moment."""
CLAIM_ATTEMPTS = 20
"""Claims for any task, when others take the named ones at the same moment."""


class Rater(NamedTuple):
    """Who asks, by which link."""

    link: Link
    participant: Participant
    pseudonym: str


@dataclass(frozen=True, slots=True)
class ActiveAssignment:
    """An active assignment and its trials."""

    assignment: Assignment
    trials: tuple[Trial, ...]


class Sessions:
    """All that raters do in one study. Every method returns a record for the page, or raises Failure or StoreError."""

    def __init__(
        self,
        study: Study,
        secret: Secret,
        committer: Committer,
        roster: Roster,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.study = study
        self.shown = ShownStudy(study, secret)
        self._secret = secret
        self._committer = committer
        self._roster = roster
        self._is_roster_old = False
        """A write failed or was given up, and may be stored all the same."""
        self._clock = clock
        self._tasks = tuple(study.tasks)
        self._bearers: dict[str, str] = {}
        """Bearers that were found genuine, and their assignments."""

    # Links ----------------------------------------------------------------------------------------------------------

    def link(self, token: str) -> Link:
        """Return the link of a token."""
        try:
            link = verify_link(token, self.study.id, self._secret, int(self._clock()))
            if is_revoked(token, self.study.folder):
                raise LinkRefused("the link is revoked", is_gone=True)
            if link.slot is not None and link.slot >= self.study.slots:
                raise LinkRefused("the link is for a slot that the study does not have")
        except LinkRefused as refused:
            message = " ".join(self.study.texts.words["gone"])
            status, code = (410, GONE) if refused.is_gone else (403, FORBIDDEN)
            raise Failure(status, code, message, texts=self.study.texts.of_gone()) from None
        if link.task and link.task not in self.study.tasks:
            raise Failure(403, FORBIDDEN, "the study has no such task")
        return link

    def rater(self, token: str, participant: Participant | None) -> Rater:
        """Return who uses a link. The holder of a personal link is known by it alone."""
        link = self.link(token)
        person = holder_of(link) or participant
        if person is None:
            raise Failure(422, INVALID, "participant is missing")
        return Rater(link, person, pseudonym(self._secret, person))

    def assignment(self, bearer: str | None) -> Assignment:
        """Return the assignment of a session, in any state."""
        id = self._bearers.get(bearer or "") or assignment_of_bearer(bearer or "", self._secret, self.study.id)
        if id is None or bearer is None:
            raise Failure(401, FORBIDDEN, "the session is not valid; open the link again")
        if len(self._bearers) >= MOST_SESSIONS:
            self._bearers.clear()
        self._bearers[bearer] = id
        found = self._roster.assignment(id)
        if found is None or found.task not in self.study.tasks:
            raise self._not_active("")
        return found

    # Before and after the trials ------------------------------------------------------------------------------------

    async def session(self, rater: Rater) -> dict[str, Any]:
        """Return where a rater is, with all texts of the page. Nothing is claimed."""
        await self._renew_roster()
        found = self._roster.of_rater(rater.pseudonym, rater.link.task)
        state = self._state(rater, found)
        texts: dict[str, Any] = dict(self.study.texts.shown())
        if state != "complete":
            texts.pop("debrief")
        record = {
            "state": state,
            "texts": texts,
            "consent_version": self.study.texts.version,
            "total": len(self.study.tasks[found.task if found else rater.link.task or self._tasks[0]].trials),
            "answered": 0,
            "practice": self.shown.practice(texts["practice_right"], texts["practice_wrong"]),
            "session": None,
            "code": None,
            "redirect": None,
        }
        if found is None or state not in ("active", "complete", "withdrawn"):
            return record
        if state == "active":
            record["answered"] = len(await self._answered(found.id))
            record["session"] = session_bearer(self._secret, self.study.id, found.id)
        elif state == "complete":
            record |= {"answered": record["total"], **self._completed(found)}
        else:
            record |= self._withdrawn()
        return record

    async def consent(self, rater: Rater, version: str) -> tuple[dict[str, Any], bool]:
        """Claim a slot for a rater who has consented, and return its session; True if the slot was not the rater's."""
        if version != self.study.texts.version:
            raise Failure(409, CONSENT_CHANGED, "the text was changed; please read it again")
        await self._renew_roster()
        outcome = await self._claim(rater, version)
        if isinstance(outcome, NoSlot):
            key = LIMIT if outcome.is_limit else FULL
            raise Failure(409, key, " ".join(self.study.texts.words[key]))
        assert isinstance(outcome, Assignment)
        is_new = self._roster.enter(outcome)
        if outcome.state in (WITHDRAWN, EXPIRED):
            raise self._not_active(outcome.state)
        return {
            "session": session_bearer(self._secret, self.study.id, outcome.id),
            "total": len(self.study.tasks[outcome.task].trials),
            "answered": len(await self._answered(outcome.id)),
        }, is_new and outcome.state == CLAIMED

    async def complete(self, assignment: Assignment) -> dict[str, Any]:
        """End an assignment whose answers are all stored, and return its code."""
        trials = len(self.study.tasks[assignment.task].trials)
        outcome = await self._write(Complete(assignment.id, trials, self._now()))
        if isinstance(outcome, NotActive):
            raise self._not_active(outcome.state)
        assert isinstance(outcome, Ended)
        self._roster.enter(outcome.assignment)
        if outcome.missing:
            message = "some trials have no answer yet"
            raise Failure(409, INCOMPLETE, message, missing=list(outcome.missing))
        return {**self._completed(outcome.assignment), "debrief": self.study.texts.words["debrief"]}

    async def withdraw(self, assignment: Assignment) -> dict[str, Any]:
        """End an assignment because its rater wishes so."""
        keep = self.study.serving.keep_withdrawn_answers
        outcome = await self._write(Withdraw(assignment.id, keep, self._now()))
        if isinstance(outcome, NotActive):
            raise self._not_active(outcome.state)
        assert isinstance(outcome, Ended)
        self._roster.enter(outcome.assignment)
        if outcome.assignment.state != WITHDRAWN:
            raise self._not_active(outcome.assignment.state)
        return {"state": "withdrawn", **self._withdrawn()}

    async def reclaim(self) -> None:
        """Free the slots of raters whose time has run out."""
        now = self._now()
        await self._write(Reclaim(now))
        self._roster.expire(now)

    # Trials ---------------------------------------------------------------------------------------------------------

    def work(self, bearer: str | None) -> ActiveAssignment:
        """Return the active assignment of a session."""
        assignment = self.assignment(bearer)
        if assignment.state != CLAIMED:
            raise self._not_active(assignment.state)
        return ActiveAssignment(assignment, self.shown.trials(assignment.task, assignment.slot))

    async def trial(self, work: ActiveAssignment) -> dict[str, Any]:
        """Return the first trial without an answer."""
        await self._renew_roster()
        return self.shown.next_trial(work.trials, await self._answered(work.assignment.id))

    def trial_of(self, work: ActiveAssignment, number: int) -> Trial:
        """Return a trial by its number."""
        if not 1 <= number <= len(work.trials):
            raise Failure(404, NOT_FOUND, f"there are trials 1 to {len(work.trials)}")
        return work.trials[number - 1]

    async def answer(self, work: ActiveAssignment, number: int, body: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """Store a checked answer; return it, and True if it is new."""
        assignment = work.assignment.id
        outcome = await self._write(Submit(assignment=assignment, trial=number, now=self._now(), **body))
        if isinstance(outcome, NotActive):
            raise self._not_active(outcome.state)
        assert isinstance(outcome, Submitted)
        if outcome.kind == DIFFERENT:
            raise Failure(409, DIFFERENT, "another answer is stored already; it stays", stored=outcome.value)
        self._roster.enter_answer(assignment, number)
        return {"number": number, "value": outcome.value}, outcome.kind != SAME

    async def log(self, assignment: Assignment, kind: str, detail: str) -> None:
        """Keep an event of an assignment."""
        await self._write(Log(assignment.id, kind, detail, self._now()))

    # ----------------------------------------------------------------------------------------------------------------

    def _state(self, rater: Rater, found: Assignment | None) -> str:
        """Return the state of a session. A rater whose time ran out may start again while the slot is free."""
        now = self._now()
        if found is None:
            if self._roster.count_of(rater.pseudonym) >= self._most:
                return "limit"
            tasks = [rater.link.task] if rater.link.task else self._tasks
            return "new" if any(self._is_free(rater.link, task, now) for task in tasks) else "full"
        if found.state == EXPIRED:
            return "new" if self._roster.is_free(found.task, found.slot, now) else "expired"
        return {CLAIMED: "active", COMPLETE: "complete", WITHDRAWN: "withdrawn"}[found.state]

    async def _claim(self, rater: Rater, version: str) -> Outcome:
        for _ in range(CLAIM_ATTEMPTS):
            now = self._now()
            own = self._roster.of_rater(rater.pseudonym, rater.link.task)
            free = islice(self._free_tasks(rater, now), TASKS_OF_CLAIM)
            tasks = (own.task,) if own else tuple(free)
            if not tasks:
                return NoSlot(is_limit=self._roster.count_of(rater.pseudonym) >= self._most)
            outcome = await self._write(self._claim_of(rater, tasks, version, now))
            if not isinstance(outcome, NoSlot) or outcome.is_limit or rater.link.task:
                break
        return outcome

    def _claim_of(self, rater: Rater, tasks: tuple[str, ...], version: str, now: int) -> Claim:
        return Claim(
            rater=rater.pseudonym,
            platform=rater.participant.platform,
            person=rater.participant.id,
            tasks=tasks,
            slots=self.study.slots,
            only_slot=rater.link.slot,
            most=self._most,
            consent=version,
            lease=self.study.serving.lease,
            now=now,
        )

    def _free_tasks(self, rater: Rater, now: int) -> Iterator[str]:
        """Yield the tasks of a link with a free slot, those of a link for any task in an order of the rater's own.

        So all tasks have answers soon, and a study that is stopped early is not one of its first tasks only.
        """
        link = rater.link
        order = stream(self.study.seed, f"human/choice/{rater.pseudonym}")
        for task in [link.task] if link.task else shuffled(order, self._tasks):
            if self._is_free(link, task, now):
                yield task

    def _is_free(self, link: Link, task: str, now: int) -> bool:
        """True if a link gives a rater a place in a task."""
        if link.slot is not None:
            return self._roster.is_free(task, link.slot, now)
        return self._roster.has_free(task, self.study.slots, now)

    async def _write(self, write: Write) -> Outcome:
        try:
            return await self._committer.write(write)
        except BaseException:
            self._is_roster_old = True
            raise

    async def _renew_roster(self) -> None:
        """Read the roster anew if a write may be stored of which it does not know."""
        if self._is_roster_old:
            self._is_roster_old = False
            try:
                self._roster = Roster(await self._committer.read(lambda store: list(store.assignments())))
            except BaseException:
                self._is_roster_old = True
                raise

    async def _answered(self, assignment: str) -> set[int]:
        """Return which trials of an assignment have answers."""
        found = self._roster.answered(assignment)
        if found is not None:
            return found
        trials = await self._committer.read(lambda store: [each.trial for each in store.answers(assignment)])
        return self._roster.enter_answers(assignment, trials)

    def _completed(self, assignment: Assignment) -> dict[str, Any]:
        serving = self.study.serving
        code = serving.code_completed or completion_code(self._secret, self.study.id, assignment.id)
        return {"code": code, "redirect": _with_code(serving.redirect_completed, code)}

    def _withdrawn(self) -> dict[str, Any]:
        serving = self.study.serving
        return {
            "code": serving.code_withdrawn or None,
            "redirect": _with_code(serving.redirect_withdrawn, serving.code_withdrawn),
        }

    def _not_active(self, state: str) -> Failure:
        messages = {
            COMPLETE: "the task is complete",
            WITHDRAWN: "you have withdrawn",
            EXPIRED: "the time for this task has run out",
        }
        return Failure(409, NOT_ACTIVE, messages.get(state, "there is no such session"), state=state or None)

    @property
    def _most(self) -> int:
        return self.study.serving.tasks_per_person or ANY_NUMBER

    def _now(self) -> int:
        return int(self._clock() * 1000)


def _with_code(address: str, code: str) -> str | None:
    return address.replace("{code}", code) or None
