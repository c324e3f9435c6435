"""The roster: assignments and which of their trials have answers, in memory, so that showing a trial reads no store.

The server is the only one that writes the store, so the roster follows from what was there at the start and from the
outcomes of the server's own writes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace

from vqagen.human.store.store import CLAIMED, COMPLETE, EXPIRED, WITHDRAWN, Assignment

MOST_SESSIONS = 20_000
"""Assignments whose answered trials are kept in memory."""
_LIKELIEST = (CLAIMED, COMPLETE, WITHDRAWN, EXPIRED)
"""The states by which one of a rater's assignments is found for a link, the first one first."""


class Roster:
    """Assignments by id, by rater and by slot."""

    def __init__(self, assignments: Iterable[Assignment]) -> None:
        self._by_id: dict[str, Assignment] = {}
        self._of_rater: dict[str, dict[str, str]] = {}
        self._holders: dict[str, dict[int, str]] = {}
        """task -> slot -> the assignment that is claimed or complete."""
        self._answered: OrderedDict[str, set[int]] = OrderedDict()
        for each in sorted(assignments, key=lambda each: (each.state != EXPIRED, each.claimed, each.id)):
            self.enter(each)

    def enter(self, assignment: Assignment) -> bool:
        """Enter an assignment as an outcome states it; return True if it was not active before.

        Who takes a slot ends the lease of who had it.
        """
        holders = self._holders.setdefault(assignment.task, {})
        before = self._by_id.get(assignment.id)
        self._by_id[assignment.id] = assignment
        self._of_rater.setdefault(assignment.rater, {})[assignment.task] = assignment.id
        former = self._by_id.get(holders.get(assignment.slot, ""))
        if assignment.state in (CLAIMED, COMPLETE):
            if former is not None and former.id != assignment.id and former.state == CLAIMED:
                self._by_id[former.id] = replace(former, state=EXPIRED)
            holders[assignment.slot] = assignment.id
        elif former is not None and former.id == assignment.id:
            del holders[assignment.slot]
        if assignment.state != CLAIMED:
            self._answered.pop(assignment.id, None)
        return before is None or before.state != CLAIMED

    def expire(self, now: int) -> None:
        """Enter that all leases which had run out at a time in milliseconds are ended."""
        for each in list(self._by_id.values()):
            if each.state == CLAIMED and each.expires <= now:
                self.enter(replace(each, state=EXPIRED))

    def assignment(self, id: str) -> Assignment | None:
        """Return an assignment."""
        return self._by_id.get(id)

    def of_rater(self, rater: str, task: str) -> Assignment | None:
        """Return the rater's assignment of a task, or of any task (""): an active one if there is one."""
        own = self._of_rater.get(rater, {})
        ids = own.values() if not task else [own[task]] if task in own else []
        return min((self._by_id[id] for id in ids), key=lambda each: _LIKELIEST.index(each.state), default=None)

    def count_of(self, rater: str) -> int:
        """Return how many assignments a rater has, in any state."""
        return len(self._of_rater.get(rater, {}))

    def is_free(self, task: str, slot: int, now: int) -> bool:
        """True if a rater may take a slot at a time in milliseconds."""
        holder = self._holders.get(task, {}).get(slot)
        return holder is None or self._is_overdue(holder, now)

    def has_free(self, task: str, slots: int, now: int) -> bool:
        """True if a rater may take any of the slots of a task."""
        holders = self._holders.get(task, {})
        return len(holders) < slots or any(self._is_overdue(holder, now) for holder in holders.values())

    def _is_overdue(self, id: str, now: int) -> bool:
        holder = self._by_id[id]
        return holder.state == CLAIMED and holder.expires <= now

    # Answered trials ------------------------------------------------------------------------------------------------

    def answered(self, assignment: str) -> set[int] | None:
        """Return the trials of an assignment that have answers, or None if they must be read from the store first."""
        found = self._answered.get(assignment)
        if found is not None:
            self._answered.move_to_end(assignment)
        return found

    def enter_answers(self, assignment: str, trials: Iterable[int]) -> set[int]:
        """Enter all answered trials of an assignment, as the store has them, and return them."""
        found = self._answered.setdefault(assignment, set())
        found.update(trials)
        if len(self._answered) > MOST_SESSIONS:
            self._answered.popitem(last=False)
        return found

    def enter_answer(self, assignment: str, trial: int) -> None:
        """Enter one answer, where the others are in memory."""
        found = self._answered.get(assignment)
        if found is not None:
            found.add(trial)
