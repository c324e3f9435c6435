"""Sessions of raters: from a link to consent, answers, completion and withdrawal."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any

from vqagen.errors import VqagenError
from vqagen.human.server.requests import LOG, AnswerBody, Buckets, ConsentBody, EventBody, Failure, SessionBody
from vqagen.human.store.facts import Claimed, Noted, Submitted
from vqagen.human.store.study_state import (
    CLAIMED,
    COMPLETE,
    DIFFERENT,
    EXPIRED,
    NEW,
    REFUSED,
    WAIT,
    WITHDRAWN,
    Assignment,
    Grant,
    StudyState,
)
from vqagen.human.store.writer import Writer
from vqagen.human.study.images import StudyImage
from vqagen.human.study.item import AFTER, BEFORE, COMPARE, StudyItem, answer_fault
from vqagen.human.study.study import ShownTrial, Study
from vqagen.human.tokens import (
    ANONYMOUS,
    Link,
    LinkRefused,
    Participant,
    Secret,
    assignment_of_bearer,
    completion_code,
    holder_of,
    is_revoked,
    load_prolific_keys,
    mac_of,
    prolific_participant,
    pseudonym,
    session_bearer,
    shown_at,
    trial_ticket,
    verify_link,
)
from vqagen.rng import shuffled, stream

MOST_NOTES = 100
"""Reports of one session that are kept: what nobody needs must not fill the disk."""
MOST_SLOTS = 4096
"""Slots whose trials are kept in order; those of others are ordered again when they are needed."""
PREVIEW = "preview"
"""Begins the id of an assignment of which nothing is stored: `preview-TASK-SLOT`."""


class Sessions:
    """All that raters do in one study. Every method returns a record for the page, or raises Failure or StoreError."""

    def __init__(
        self, study: Study, secret: Secret, writer: Writer, claims: Buckets, clock: Callable[[], float] = time.time
    ) -> None:
        """`claims` limits how fast one part of the network takes places, and if it does, how many are held from it."""
        self.study = study
        self.shown = ShownStudy(study, secret)
        self._secret, self._writer, self._claims, self._clock = secret, writer, claims, clock
        self._trials = {id: len(task.trials) for id, task in study.tasks.items()}
        self._network_of: dict[str, str] = {}
        """Assignment -> the part of the network that its slot was taken from."""
        self._keys = load_prolific_keys(study.folder)

    # Who asks -------------------------------------------------------------------------------------------------------

    def link(self, token: str) -> Link:
        """Return the link of a token."""
        try:
            link = verify_link(token, self.study.id, self._secret, int(self._clock()))
            if is_revoked(token, self.study.folder):
                raise LinkRefused("the link is revoked", is_gone=True)
            if (link.slot or 0) >= self.study.slots or (link.task and link.task not in self.study.tasks):
                raise LinkRefused("the link is for a place that the study does not have")
        except LinkRefused as refused:
            message = " ".join(self.study.texts.words["gone"])
            status, code = (410, "gone") if refused.is_gone else (403, "forbidden")
            raise Failure(status, code, message, texts=self.study.texts.of_gone()) from None
        return link

    def _rater(self, body: SessionBody) -> tuple[Link, Participant, str | None]:
        """Return the link, who asks, and the proof for `StudyState.claim`.

        None: a personal link, or Prolific's signature; else the assignment whose session the browser has.
        """
        link, given = self.link(body.token), body.participant
        if link.is_preview:
            return link, Participant(ANONYMOUS, PREVIEW), ""
        proven, serving = holder_of(link), self.study.serving
        if proven is None and serving.prolific_audience:  # whoever leaves the id out could be anybody, too
            token, meant_for = body.prolific_token or "", (serving.prolific_audience, serving.prolific_workspace)
            proven = prolific_participant(token, self._prolific_keys(), *meant_for, int(self._clock()))
            if proven is None:
                message = "this address is not signed by Prolific; please open the study there again"
                raise Failure(403, "forbidden", message, texts=self.study.texts.of_gone())
        person = proven or given
        if person is None:
            raise Failure(422, "invalid", "participant is missing")
        shown = assignment_of_bearer(body.bearer or "", self._secret, self.study.id) or ""
        return link, person, None if proven else shown

    def _prolific_keys(self) -> Any:
        """Return the keys of Prolific, which changes them; those of before while the file has none."""
        try:
            self._keys = load_prolific_keys(self.study.folder) or self._keys
        except VqagenError as error:
            LOG.error("the keys of before are used: %s", error)
        return self._keys

    def assignment_of(self, bearer: str) -> str:
        """Return the id of the assignment of a session."""
        id = assignment_of_bearer(bearer, self._secret, self.study.id)
        if id is None:
            raise Failure(401, "forbidden", "the session is not valid; open the link again")
        return id

    def _assignment(self, study_state: StudyState, id: str) -> Assignment:
        """Return an assignment, in any state."""
        if id.startswith(PREVIEW):
            return self._preview(*id.split("-")[1:])
        assignment = study_state.assignments.get(id)
        if assignment is None or assignment.task not in self.study.tasks:
            raise self._not_active("")
        return assignment

    def _preview(self, task: str, slot: str) -> Assignment:
        now, lease = self._now(), self.study.serving.lease
        return Assignment(f"{PREVIEW}-{task}-{slot}", task, int(slot), "", self._trials[task], "", now, now + lease)

    # Before the trials ----------------------------------------------------------------------------------------------

    async def session(self, body: SessionBody) -> dict[str, Any]:
        """Return where a rater is, with all texts of the page. Nothing is claimed."""
        link, person, proof = self._rater(body)
        study_state = await self._writer.study_state()
        grant = Grant("") if link.is_preview else self._grant(study_state, link, person, proof)
        assignment = study_state.assignments.get(grant.assignment)
        state = assignment.state if assignment else grant.refusal or "new"
        state = "active" if state == CLAIMED else state
        if state == EXPIRED and grant.facts:
            state = "new"
        task = assignment.task if assignment else link.task or next(iter(self._trials))
        texts = {**self.study.texts.shown()}
        if state != COMPLETE:
            texts.pop("debrief")
        record = {
            "state": state,
            "texts": texts,
            "consent_version": self.study.texts.version,
            "total": self._trials[task],
            "answered": 0,
            "practice": self.shown.practice(self.study.texts["practice_right"], self.study.texts["practice_wrong"]),
            **dict.fromkeys(("trial", "session", "code", "redirect")),
            "retry_minutes": self._retry_minutes(grant),
            "lease_ms": self.study.serving.lease,
            "break_every": self.study.serving.break_every,
            "is_preview": link.is_preview,
        }
        if assignment and state == "active":
            record |= self._begun(assignment)
        elif assignment and state in (COMPLETE, WITHDRAWN):
            record |= {
                "answered": len(assignment.answers),
                **(self._codes(assignment) if proof in (None, assignment.id) else {}),
            }
        await self._writer.commit(())
        return record

    async def consent(self, body: ConsentBody, network: str) -> tuple[dict[str, Any], bool]:
        """Give a rater who has consented a place, and return its session; True if the rater did not have it."""
        link, person, proof = self._rater(body)
        if not body.agreed:
            raise Failure(422, "invalid", "agreed must be true")
        if body.consent_version != self.study.texts.version:
            raise Failure(409, "consent_changed", "the text was changed; please read it again")
        if link.is_preview:
            task = link.task or next(iter(self._trials))
            return self._begun(self._preview(task, str(link.slot or 0))), True
        study_state = await self._writer.study_state()
        grant = self._grant(study_state, link, person, proof, body.consent_version)
        if grant.refusal:
            message = " ".join(self.study.texts.words[grant.refusal])
            raise Failure(409, grant.refusal, message, retry_minutes=self._retry_minutes(grant))
        if grant.assignment not in study_state.assignments and not self._claims.take(network, self._clock()):
            raise Failure(429, "too_many", "too many begin at this place in the network; try again in a minute")
        if grant.facts:
            self._take_share(study_state, grant.assignment, network)
        stored, assignment = self._writer.commit(grant.facts), study_state.assignments[grant.assignment]
        record = self._begun(assignment)
        await stored
        if assignment.state != CLAIMED:
            raise self._not_active(assignment.state)
        return record, bool(grant.facts)

    def _grant(
        self, study_state: StudyState, link: Link, person: Participant, proof: str | None, version: str = ""
    ) -> Grant:
        """Decide about a rater's place. Tasks of a link for any task come in an order of the rater's own.

        So all tasks have answers soon, and a study that is stopped early is not one of its first tasks only.
        """
        name = pseudonym(self._secret, person)
        order = stream(self.study.seed, f"human/choice/{name}")
        tasks = [link.task] if link.task else shuffled(order, list(self._trials))
        now = self._now()
        expires = now + self.study.serving.lease
        wish = Claimed(now, "", name, 0, version, expires, person.platform, person.id)
        most = self.study.serving.tasks_per_person or 2**31  # no limit
        trials = {task: self._trials[task] for task in tasks}
        return study_state.claim(wish, trials, self.study.slots, link.slot, most, link.task, proof)

    def _take_share(self, study_state: StudyState, id: str, network: str) -> None:
        """Let an assignment hold a slot from now on. Raise Failure if half of those left are held from its network."""
        given, now = study_state.assignments, self._now()
        active = (key for key in self._network_of if key in given and given[key].state == CLAIMED)
        self._network_of = {key: self._network_of[key] for key in active if given[key].holds(now)}
        left = self.study.slots * len(self._trials) - study_state.full.total()
        if self._claims.rate and 2 * list(self._network_of.values()).count(network) >= left:
            raise Failure(429, "too_many", "raters of this network hold half of the places; try again in a minute")
        self._network_of[id] = network

    def _retry_minutes(self, grant: Grant) -> int | None:
        return max(1, -((self._now() - grant.retry) // 60_000)) if grant.refusal == WAIT else None

    def _begun(self, assignment: Assignment) -> dict[str, Any]:
        return {
            "session": session_bearer(self._secret, self.study.id, assignment.id),
            "total": assignment.trials,
            "answered": len(assignment.answers),
            "trial": self._next(assignment, assignment.answers),
            "lease_ms": self.study.serving.lease,
        }

    # Trials ---------------------------------------------------------------------------------------------------------

    async def trial(self, id: str) -> dict[str, Any]:
        """Return the first trial without an answer, or the end."""
        assignment = self._assignment(await self._writer.study_state(), id)
        if assignment.state not in (CLAIMED, COMPLETE):
            raise self._not_active(assignment.state)
        record = self._next(assignment, assignment.answers)
        await self._writer.commit(())
        return record

    async def answer(self, id: str, number: int, body: AnswerBody, network: str) -> tuple[dict[str, Any], bool]:
        """Store an answer; return it with the next trial, and True if it is new."""
        study_state = await self._writer.study_state()
        assignment, now = self._assignment(study_state, id), self._now()
        trials = self.shown.trials(assignment.task, assignment.slot)
        if not 1 <= number <= len(trials):
            raise Failure(404, "not_found", f"there are trials 1 to {len(trials)}")
        shown = shown_at(body.ticket, self._secret, self.study.id, assignment.id, number)
        if shown is None:
            raise Failure(403, "not_shown", "this trial was not shown yet")
        if fault := answer_fault(trials[number - 1].item, body.value):
            raise Failure(422, "invalid", f"value {fault}")
        if assignment.id.startswith(PREVIEW):
            return {"number": number, "value": body.value, "next": self._next(assignment, range(1, number + 1))}, True
        lease = self.study.serving.lease
        if assignment.state == CLAIMED and not assignment.holds(now):
            self._take_share(study_state, assignment.id, network)
            lease //= 4 if self._claims.rate else 1  # one answer alone holds for less
        times = body.rt_ms, body.shown_ms, max(0, now - shown), now + lease
        receipt = study_state.submit(Submitted(now, assignment.id, number, body.value, *times, body.blur))
        stored = self._writer.commit(receipt.facts)
        record = {"number": number, "value": receipt.value, "next": self._next(assignment, assignment.answers)}
        await stored
        if receipt.kind == REFUSED:
            raise self._not_active(assignment.state)
        if receipt.kind == DIFFERENT:
            raise Failure(409, "different", "another answer is stored already; it stays", stored=receipt.value)
        return record, receipt.kind == NEW

    def _next(self, assignment: Assignment, answered: Collection[int]) -> dict[str, Any]:
        """Return the next trial with the proof that it was shown, or the end with its code."""
        trial, now = self.shown.next_trial(self.shown.trials(assignment.task, assignment.slot), answered), self._now()
        if trial is None:
            codes = {"code": None, "redirect": None} if assignment.id.startswith(PREVIEW) else self._codes(assignment)
            return {"done": True, "debrief": self.study.texts.words["debrief"], **codes}
        ticket = trial_ticket(self._secret, self.study.id, assignment.id, trial["number"], now)
        return {**trial, "ticket": ticket, "lease_ms": max(0, assignment.expires - now)}

    async def withdraw(self, id: str) -> dict[str, Any]:
        """End an assignment because its rater wishes so."""
        study_state = await self._writer.study_state()
        assignment = self._assignment(study_state, id)
        if assignment.id.startswith(PREVIEW):
            return {"code": None, "redirect": None}
        keeps = self.study.serving.keep_withdrawn_answers
        await self._writer.commit(*study_state.withdraw(assignment, self._now(), keep_answers=keeps))
        if assignment.state != WITHDRAWN:
            raise self._not_active(assignment.state)
        return self._codes(assignment)

    async def event(self, id: str, body: EventBody) -> None:
        """Keep what the page reports."""
        assignment = self._assignment(await self._writer.study_state(), id)
        if assignment.state not in (CLAIMED, COMPLETE):
            raise self._not_active(assignment.state)
        if len(assignment.answer_entries) - len(assignment.answers) >= MOST_NOTES:
            raise Failure(429, "too_many", "enough was reported in this session")
        if not assignment.id.startswith(PREVIEW):
            await self._writer.commit([Noted(self._now(), assignment.id, body.kind, body.detail, body.number)])

    # ----------------------------------------------------------------------------------------------------------------

    def _codes(self, assignment: Assignment) -> dict[str, Any]:
        """Return the code of an assignment that has ended, and the address with it."""
        serving = self.study.serving
        code, address = serving.code_withdrawn, serving.redirect_withdrawn
        if assignment.state == COMPLETE:
            code = serving.code_completed or completion_code(self._secret, self.study.id, assignment.id)
            address = serving.redirect_completed
        return {"code": code or None, "redirect": address.replace("{code}", code) or None}

    def _not_active(self, state: str) -> Failure:
        messages = {
            COMPLETE: "the task is complete",
            WITHDRAWN: "you have withdrawn",
            EXPIRED: "the time for this task has run out",
        }
        return Failure(409, "not_active", messages.get(state, "there is no such session"), state=state or None)

    def _now(self) -> int:
        return int(self._clock() * 1000)


class ShownStudy:
    """The trials of a study as records for the page."""

    def __init__(self, study: Study, secret: Secret) -> None:
        self._study = study
        opaque = {id: mac_of(secret, "image", f"{study.id}/{id}") for id in study.images}
        self._opaque = {id: base64.urlsafe_b64encode(mac).rstrip(b"=").decode() for id, mac in opaque.items()}
        self.images: dict[str, StudyImage] = {self._opaque[id]: image for id, image in study.images.items()}
        """By opaque id."""
        self.trials = lru_cache(MOST_SLOTS)(study.trials)
        """(task, slot) -> the trials of a slot in its order."""

    def next_trial(self, trials: tuple[ShownTrial, ...], answered: Collection[int]) -> dict[str, Any] | None:
        """Return the first trial without an answer; None if all have one."""
        coming = [trial_ahead for trial_ahead in trials if trial_ahead.number not in answered][:2]
        if not coming:
            return None
        trial, *after = coming
        next_image = self._image(after[0].item) if after else None
        return {
            "number": trial.number,
            "total": len(trials),
            "answered": len(answered),
            "use": trial.item.use if trial.item.use in (BEFORE, AFTER) else "trial",
            **self._record(trial),
            "next_image": next_image and next_image["url"],
        }

    def practice(self, feedback_right: str, feedback_wrong: str) -> list[dict[str, Any]]:
        """Return the trials of the practice, with what the page shall expect. Sides are taken by turns."""
        trials = [ShownTrial(number, item, number % 2 == 0) for number, item in enumerate(self._study.practice, 1)]
        feedback = {"feedback_right": feedback_right, "feedback_wrong": feedback_wrong}
        return [{**self._record(trial), "expected": _expected(trial), **feedback} for trial in trials]

    def _record(self, trial: ShownTrial) -> dict[str, Any]:
        item = trial.item
        return {
            "kind": item.kind,
            "image": self._image(item),
            "prompt": item.prompt,
            "texts": trial.texts,
            "scale": item.scale,
            "form": item.form,
            "history": [{"text": exchange.text, "answer": exchange.answer} for exchange in item.history],
        }

    def _image(self, item: StudyItem) -> dict[str, Any] | None:
        if not item.image:
            return None
        image = self._study.images[item.image]
        return {"url": f"/img/{self._opaque[image.id]}", "width": image.width, "height": image.height}


def _expected(trial: ShownTrial) -> str | None:
    """Return the side of the better text, or the right answer; None where there is none."""
    item, gold = trial.item, trial.item.gold
    if item.kind != COMPARE or gold is None:
        return gold.answer if gold else None
    is_second = gold.better == item.candidates[1].id
    return "right" if is_second == trial.second_on_right else "left"
