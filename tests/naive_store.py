"""The contract of stores, kept by plain dictionaries: the slow, obvious twin of both stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from vqagen.human.store.store import (
    CLAIMED,
    COMPLETE,
    DIFFERENT,
    EXPIRED,
    NEW,
    SAME,
    WITHDRAWN,
    Answer,
    Assignment,
    Claim,
    Complete,
    Count,
    Ended,
    Event,
    Forget,
    Log,
    NoSlot,
    NotActive,
    Outcome,
    Person,
    Reclaim,
    SlotAttempts,
    Submit,
    Submitted,
    Withdraw,
    Write,
    attempt_detail,
)


class NaiveStore:
    """All that a store holds, in memory."""

    def __init__(self) -> None:
        self.by_id: dict[str, Assignment] = {}
        self.answered: dict[tuple[str, int], Answer] = {}
        self.log: list[Event] = []
        self.persons: dict[str, Person] = {}
        self.tries: dict[tuple[str, int], int] = {}
        self._number = 0

    def apply(self, writes: Sequence[Write]) -> list[Outcome]:
        return [getattr(self, f"_{type(write).__name__.lower()}")(write) for write in writes]

    def content(self) -> dict[str, Sequence[Any]]:
        return {
            "attempts": [SlotAttempts(*place, count) for place, count in sorted(self.tries.items())],
            "people": [self.persons[rater] for rater in sorted(self.persons)],
            "assignments": [self.by_id[id] for id in sorted(self.by_id)],
            "answers": [self.answered[place] for place in sorted(self.answered)],
            "events": self.log,
        }

    def _claim(self, claim: Claim) -> Outcome:
        own = [each for each in self.by_id.values() if each.rater == claim.rater]
        among = sorted((each for each in own if each.task in claim.tasks), key=lambda e: claim.tasks.index(e.task))
        current = [each for each in among if each.state == CLAIMED and each.expires > claim.now]
        again = [each for each in among if each.state == CLAIMED or (each.state == EXPIRED and self._is_free(each))]
        if current:
            return current[0]
        if again:
            renewed = replace(again[0], state=CLAIMED, expires=claim.now + claim.lease, ended=None)
            self.by_id[renewed.id] = renewed
            self._add(renewed.id, "claim", "again", claim.now)
            return renewed
        if among:
            return among[0]
        if len(own) >= claim.most:
            return NoSlot(is_limit=True)
        slots = range(claim.slots) if claim.only_slot is None else [claim.only_slot]
        places = [(task, slot) for task in claim.tasks for slot in slots]
        free = [place for place in places if place not in self._held()]
        overdue = [
            self._held()[place]
            for place in places
            if place in self._held()
            and self._held()[place].state == CLAIMED
            and self._held()[place].expires <= claim.now
        ]
        if not free and not overdue:
            return NoSlot(is_limit=False)
        if not free:
            first = min(overdue, key=lambda each: each.expires)
            self._end(first, EXPIRED, "expire", claim.now)
            free = [(first.task, first.slot)]
        return self._assign(claim, *free[0])

    def _assign(self, claim: Claim, task: str, slot: int) -> Assignment:
        if claim.person:
            self.persons.setdefault(claim.rater, Person(claim.rater, claim.platform, claim.person))
        attempt = self.tries.get((task, slot), 0)
        self.tries[task, slot] = attempt + 1
        id, ends = f"{task}-{slot}-{attempt}", claim.now + claim.lease
        self.by_id[id] = Assignment(id, task, slot, claim.rater, CLAIMED, claim.consent, claim.now, ends, None)
        self._add(id, "claim", "", claim.now)
        return self.by_id[id]

    def _submit(self, submit: Submit) -> Outcome:
        assignment = self.by_id.get(submit.assignment)
        if assignment is None:
            return NotActive("")
        if assignment.state != CLAIMED:
            self._add(assignment.id, "answer_refused", assignment.state, submit.now)
            return NotActive(assignment.state)
        place = (assignment.id, submit.trial)
        with_key = [each for each in self._answers(assignment.id) if each.idem == submit.idem != ""]
        if place in self.answered:
            stored = self.answered[place]
            kind = SAME if stored.value == submit.value else DIFFERENT
        elif with_key:
            stored, kind = with_key[0], DIFFERENT
        else:
            times = (submit.rt_ms, submit.shown_ms, submit.blur, submit.now)
            stored, kind = Answer(*place, submit.value, *times, submit.idem), NEW
            self.answered[place] = stored
        self._add(assignment.id, f"answer_{kind}", attempt_detail(submit), submit.now)
        return Submitted(kind, stored.value)

    def _complete(self, complete: Complete) -> Outcome:
        assignment = self.by_id.get(complete.assignment)
        if assignment is None or assignment.state not in (CLAIMED, COMPLETE):
            return NotActive(assignment.state if assignment else "")
        trials = {each.trial for each in self._answers(assignment.id)}
        missing = tuple(trial for trial in range(1, complete.trials + 1) if trial not in trials)
        if assignment.state == COMPLETE:
            return Ended(assignment)
        if missing:
            return Ended(assignment, missing)
        return Ended(self._end(assignment, COMPLETE, "complete", complete.now))

    def _withdraw(self, withdraw: Withdraw) -> Outcome:
        assignment = self.by_id.get(withdraw.assignment)
        if assignment is None or assignment.state == COMPLETE:
            return NotActive(assignment.state if assignment else "")
        if assignment.state == WITHDRAWN:
            return Ended(assignment)
        if not withdraw.keep_answers:
            self.answered = {place: each for place, each in self.answered.items() if place[0] != assignment.id}
            own = [each for each in self.log if each.assignment == assignment.id]
            attempts = [each for each in own if each.kind.startswith("answer_")]
            self.log = [each for each in self.log if each not in attempts]
        return Ended(self._end(assignment, WITHDRAWN, "withdraw", withdraw.now))

    def _reclaim(self, reclaim: Reclaim) -> Outcome:
        overdue = [each for each in self.by_id.values() if each.state == CLAIMED and each.expires <= reclaim.now]
        for each in sorted(overdue, key=lambda each: (each.expires, each.id)):
            self._end(each, EXPIRED, "expire", reclaim.now)
        return Count(len(overdue))

    def _forget(self, forget: Forget) -> Outcome:
        ids = {each.id for each in self.by_id.values() if each.rater in forget.raters}
        before = len(self.by_id) + len(self.answered) + len(self.log) + len(self.persons)
        self.by_id = {id: each for id, each in self.by_id.items() if id not in ids}
        self.answered = {place: each for place, each in self.answered.items() if place[0] not in ids}
        self.log = [each for each in self.log if each.assignment not in ids]
        self.persons = {rater: each for rater, each in self.persons.items() if rater not in forget.raters}
        deleted = before - len(self.by_id) - len(self.answered) - len(self.log) - len(self.persons)
        if deleted:
            self._add("", "forget", str(deleted), forget.now)
        return Count(deleted)

    def _log(self, log: Log) -> Outcome:
        if log.assignment not in self.by_id:
            return NotActive("")
        self._add(log.assignment, log.kind, log.detail, log.now)
        return Count(1)

    def _add(self, assignment: str, kind: str, detail: str, now: int) -> None:
        self._number += 1
        self.log.append(Event(self._number, assignment, kind, detail, now))

    def _end(self, assignment: Assignment, state: str, kind: str, now: int) -> Assignment:
        self.by_id[assignment.id] = replace(assignment, state=state, ended=now)
        self._add(assignment.id, kind, "", now)
        return self.by_id[assignment.id]

    def _held(self) -> dict[tuple[str, int], Assignment]:
        return {(each.task, each.slot): each for each in self.by_id.values() if each.state in (CLAIMED, COMPLETE)}

    def _is_free(self, assignment: Assignment) -> bool:
        return (assignment.task, assignment.slot) not in self._held()

    def _answers(self, assignment: str) -> list[Answer]:
        return [each for each in self.answered.values() if each.assignment == assignment]
