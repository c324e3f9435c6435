"""The state of a study, which follows from its facts alone.

Methods that are verbs of raters (`claim`, `submit`, …) decide: they return facts and change nothing. `apply` is the one
place where facts take effect, in a server that runs as in a command that reads the log of last week.

A slot is *held* by an assignment that is complete, or that has an answer and whose lease has not run out. Consent alone
holds nothing, or a program that consents under a thousand names would close a study: several raters may have been given
one slot. The first of them to answer holds it, and the others are expired.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace

from vqagen.human.store.facts import Claimed, Ended, Fact, Forgotten, Noted, Resumed, Submitted, encode_fact

CLAIMED, COMPLETE, EXPIRED, WITHDRAWN = "claimed", "complete", "expired", "withdrawn"
"""Expired: somebody else holds the slot; answers stay, as partial ones. A claimed one whose lease has run out still
takes answers, as long as nobody else holds its slot."""
NEW, SAME, DIFFERENT, REFUSED = "new", "same", "different", "refused"
"""How an answer relates to what is stored: the first one, the same again, another one, or the assignment has ended."""
LIMIT, WAIT, FULL, ELSEWHERE = "limit", "wait", "full", "elsewhere"
"""Why a rater gets no slot: has done as many tasks as allowed; all free ones are leased; all are complete; has one with
answers, and does not prove to be who gave them."""
Erasure = tuple[tuple[Fact, ...], tuple[int, ...]]
"""Facts, and the numbers of the facts to delete from the log with them."""
_LIKELIEST = (CLAIMED, COMPLETE, WITHDRAWN, EXPIRED)
"""The states by which one of a rater's assignments is found for a link, the first one first."""


@dataclass(slots=True)
class Assignment:
    """A slot that a rater was given, and the answers."""

    id: str
    task: str
    slot: int
    rater: str
    trials: int
    consent: str
    claimed: int
    expires: int
    state: str = CLAIMED
    ended: int | None = None
    """When it was completed, withdrawn or found expired."""
    answers: dict[int, Submitted] = field(default_factory=dict)
    """By the number of the trial."""
    entries: list[int] = field(default_factory=list)
    """Numbers of the facts about it in the log, but for those of `answer_entries`."""
    answer_entries: list[int] = field(default_factory=list)
    """Numbers of the facts that hold what its rater gave: answers, and what the page reported, such as a comment."""

    def holds(self, now: int) -> bool:
        """True if nobody else can have its slot at a time in milliseconds."""
        return self.state == COMPLETE or (self.state == CLAIMED and bool(self.answers) and self.expires > now)


class Grant(NamedTuple):
    """The assignment that a rater is given, or why there is none."""

    assignment: str
    refusal: str = ""
    retry: int = 0
    """Of `WAIT`: when the first lease ends."""
    facts: tuple[Fact, ...] = ()


class Receipt(NamedTuple):
    """How an answer relates to what is stored, and what is stored."""

    kind: str
    value: int | str | None
    facts: tuple[Fact, ...] = ()


class StudyState:
    """All that a study holds, by assignment, rater and slot."""

    def __init__(self, facts: Iterable[tuple[int, Fact]] = ()) -> None:
        """`facts` have the numbers that they have in the log."""
        self.assignments: dict[str, Assignment] = {}
        self.people: dict[str, tuple[str, str]] = {}
        """Rater -> platform and id there."""
        self.last = 0
        """The number of the last fact."""
        self._of_rater: dict[str, list[Assignment]] = {}
        self._of_slot: dict[tuple[str, int], list[Assignment]] = {}
        self._attempts: dict[str, int] = {}
        self.full: Counter[str] = Counter()
        """Task -> slots that are complete, which are never free again."""
        for number, fact in facts:
            self.apply(fact, number)

    # Decisions ------------------------------------------------------------------------------------------------------

    def current(self, rater: str, task: str = "") -> Assignment | None:
        """Return the rater's assignment of a task, or of any task (""): an active one if there is one.

        One that expired without an answer counts as none: its rater is given another.
        """
        assignments = [
            assignment
            for assignment in self._of_rater.get(rater, ())
            if task in ("", assignment.task) and not _is_void(assignment)
        ]
        return min(assignments, key=lambda assignment: _LIKELIEST.index(assignment.state), default=None)

    def claim(
        self,
        wish: Claimed,
        tasks: Mapping[str, int],
        slots: int,
        only: int | None,
        most: int,
        task: str = "",
        proof: str | None = None,
    ) -> Grant:
        """Decide which slot of `tasks` a rater is given. The `assignment` and `trials` of the wish are not filled yet.

        Asking again returns the assignment that the rater has; if its time ran out and the slot is not held, it is
        resumed. `tasks` (task -> trials) are in the order in which this rater is to be given them, `only` is the slot
        of a personal link, `most` the number of tasks that a rater may do, and `task` that of the link, "" for any.

        `proof` is the assignment whose session the asking browser has; None if the rater is proven otherwise. Without
        it, an active assignment is not given again: one without an answer expires in favour of a new one.
        """
        now, current = wish.time, self.current(wish.rater, task)
        left: tuple[Ended, ...] = ()
        if current is not None and proof not in (None, current.id) and current.state in (CLAIMED, EXPIRED):
            if current.answers:
                return Grant("", ELSEWHERE)
            left, current = (Ended(now, current.id, EXPIRED),), None
        if current is not None:
            is_over = current.state == EXPIRED or (current.state == CLAIMED and current.expires <= now)
            if is_over and not self.is_held(current.task, current.slot, now):
                resumed = Resumed(now, current.id, wish.expires)
                return Grant(current.id, facts=(resumed, *(self._expired(current, now) if current.answers else ())))
            return Grant(current.id)
        if self.count_of(wish.rater) - len(left) >= most:
            return Grant("", LIMIT)
        free = self.find_place(tasks, slots, only, now)
        if free is None:
            retry = self.next_end(tasks, slots, only)
            return Grant("", WAIT if retry else FULL, retry)
        slot = f"{free[0]}-{free[1]}"
        id = f"{slot}-{self._attempts.get(slot, 0)}"
        return Grant(id, facts=(*left, replace(wish, assignment=id, trials=tasks[free[0]])))

    def find_place(self, tasks: Iterable[str], slots: int, only: int | None, now: int) -> tuple[str, int] | None:
        """Return the first slot that nobody was given; else the one that the fewest raters without an answer have."""
        best: tuple[str, int] | None = None
        fewest = 0
        for task in tasks:
            if self.full[task] >= slots:
                continue
            for slot in range(slots) if only is None else (only,):
                given = self._of_slot.get((task, slot), ())
                if any(assignment.holds(now) for assignment in given):
                    continue
                waiting = sum(assignment.state == CLAIMED and assignment.expires > now for assignment in given)
                if best is None or waiting < fewest:
                    best, fewest = (task, slot), waiting
                if not fewest:
                    return best
        return best

    def next_end(self, tasks: Iterable[str], slots: int, only: int | None) -> int:
        """Return when the first lease of a slot ends; 0 if all slots are complete."""
        ends = (
            assignment.expires
            for task in tasks
            for slot in (range(slots) if only is None else (only,))
            for assignment in self._of_slot.get((task, slot), ())
            if assignment.state == CLAIMED and assignment.answers
        )
        return min(ends, default=0)

    def is_held(self, task: str, slot: int, now: int) -> bool:
        """True if an assignment holds a slot at a time in milliseconds."""
        return any(assignment.holds(now) for assignment in self._of_slot.get((task, slot), ()))

    def count_of(self, rater: str) -> int:
        """Return how many assignments a rater has, in any state, but for those that expired without an answer."""
        return sum(not _is_void(assignment) for assignment in self._of_rater.get(rater, ()))

    def submit(self, answer: Submitted) -> Receipt:
        """Decide about an answer. The first one to a trial stays.

        One rule for late answers: an answer is taken unless somebody else holds the slot. Who holds a slot has made the
        others' assignments expired by answering, so the state says it.
        """
        assignment = self.assignments.get(answer.assignment)
        if assignment is None:
            return Receipt(REFUSED, None)
        stored = assignment.answers.get(answer.trial)
        if stored is not None and assignment.state in (CLAIMED, COMPLETE):
            return Receipt(SAME if stored.value == answer.value else DIFFERENT, stored.value)
        if assignment.state != CLAIMED:
            return Receipt(REFUSED, None)
        return Receipt(NEW, answer.value, (answer, *self._expired(assignment, answer.time)))

    def _expired(self, holder: Assignment, now: int) -> list[Ended]:
        """Return that all others who were given the slot of a holder have lost it."""
        given = self._of_slot[holder.task, holder.slot]
        return [
            Ended(now, assignment.id, EXPIRED)
            for assignment in given
            if assignment is not holder and assignment.state == CLAIMED
        ]

    def withdraw(self, assignment: Assignment, now: int, *, keep_answers: bool) -> Erasure:
        """Decide about a withdrawal. It changes nothing if the assignment is complete, or was withdrawn before."""
        if assignment.state in (COMPLETE, WITHDRAWN):
            return (), ()
        ended = Ended(now, assignment.id, WITHDRAWN, keep_answers)
        return (ended,), () if keep_answers else tuple(assignment.answer_entries)

    def forget(self, raters: Sequence[str], now: int) -> Erasure:
        """Return the fact that raters are forgotten, and the numbers of all facts about them."""
        assignments = [assignment for rater in raters for assignment in self._of_rater.get(rater, ())]
        numbers = sorted(
            number for assignment in assignments for number in (*assignment.entries, *assignment.answer_entries)
        )
        attempts = {
            slot: self._attempts[slot]
            for slot in sorted(f"{assignment.task}-{assignment.slot}" for assignment in assignments)
        }
        return (Forgotten(now, len(numbers), attempts),), tuple(numbers)

    # Facts ----------------------------------------------------------------------------------------------------------

    def take(self, facts: Iterable[Fact]) -> list[tuple[int, bytes]]:
        """Let new facts take effect, and return them as entries of the log."""
        entries = []
        for fact in facts:
            entries.append((self.last + 1, encode_fact(fact)))
            self.apply(fact, self.last + 1)
        return entries

    def apply(self, fact: Fact, number: int) -> None:
        """Let a fact take effect, which has this number in the log."""
        self.last = max(self.last, number)
        match fact:
            case Claimed():
                self._give(fact)
            case Resumed():
                assignment = self.assignments[fact.assignment]
                assignment.state, assignment.expires, assignment.ended = CLAIMED, fact.expires, None
            case Submitted():
                self._keep(fact, number)
                return
            case Ended():
                assignment = self.assignments[fact.assignment]
                assignment.state, assignment.ended = fact.state, fact.time
                if not fact.kept:
                    assignment.expires = fact.time
                    assignment.answers.clear()
                    assignment.answer_entries.clear()
            case Noted():
                self.assignments[fact.assignment].answer_entries.append(number)
                return
            case Forgotten():
                for slot, attempts in fact.attempts.items():
                    self._attempts[slot] = max(attempts, self._attempts.get(slot, 0))
                return
        self.assignments[fact.assignment].entries.append(number)

    def _give(self, fact: Claimed) -> None:
        # "4f1c-0-2" is the third time that slot 0 of task 4f1c was given.
        slot, _, attempt = fact.assignment.rpartition("-")
        task, _, number = slot.rpartition("-")
        made = Assignment(
            *(fact.assignment, task, int(number), fact.rater, fact.trials, fact.consent, fact.time, fact.expires)
        )
        self._attempts[slot] = max(int(attempt) + 1, self._attempts.get(slot, 0))
        self.assignments[made.id] = made
        self._of_rater.setdefault(made.rater, []).append(made)
        self._of_slot.setdefault((task, made.slot), []).append(made)
        if fact.person:
            self.people.setdefault(fact.rater, (fact.platform, fact.person))

    def _keep(self, fact: Submitted, number: int) -> None:
        assignment = self.assignments[fact.assignment]
        assignment.answers[fact.trial] = fact
        assignment.answer_entries.append(number)
        assignment.expires = fact.expires
        if len(assignment.answers) == assignment.trials:
            assignment.state, assignment.ended = COMPLETE, fact.time
            self.full[assignment.task] += 1


def _is_void(assignment: Assignment) -> bool:
    return assignment.state == EXPIRED and not assignment.answers
