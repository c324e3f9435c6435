"""The contract of a store: writes as values, outcomes as values, and everything it holds as rows.

A write is acknowledged when `apply` returns: it is durable then. The store has no clock; every write says the time of
the server, in milliseconds since 1970.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from vqagen.errors import VqagenError

CLAIMED, COMPLETE, EXPIRED, WITHDRAWN = STATES = "claimed", "complete", "expired", "withdrawn"
"""Expired: the time ran out, the answers stay as partial, and the slot is free for another rater."""

NEW, SAME, DIFFERENT = "new", "same", "different"
"""How an answer relates to the one that is stored for its trial."""


class StoreError(VqagenError):
    """The store cannot be opened or does not answer."""


# Writes ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Claim:
    """Take a free slot of the first of `tasks` that has one for this rater; the rater has consented.

    A rater has at most one assignment of a task and `most` in all; withdrawn ones count. Asking again returns the
    assignment that the rater already has among `tasks`: a claimed one, else an expired one whose slot is still free,
    which is claimed again with a new lease, else the one that comes first in `tasks`, whatever its state. So a rater
    gets a further task only if `tasks` has none of the rater's own.
    A slot is free unless an assignment of it is claimed or complete. Of the slots of one task, the lowest free one is
    taken. Where no task has a free one, the lease that ran out first ends, and its slot is taken.
    """

    rater: str
    """A pseudonym; the same person has the same in one study."""
    platform: str
    person: str
    """The id on the platform. Kept apart from the answers; "" when none is to be kept."""
    tasks: tuple[str, ...]
    slots: int
    """Slots of each task."""
    only_slot: int | None
    """The one slot that a personal link allows."""
    most: int
    consent: str
    """Hash of the text that was consented to."""
    lease: int
    """Milliseconds until the slot is free for another rater."""
    now: int


@dataclass(frozen=True, slots=True)
class Submit:
    """Keep the answer to a trial of an assignment. The first one stays.

    An `idem` that was stored with another trial of the assignment is refused as `DIFFERENT`; "" is no key.
    """

    assignment: str
    trial: int
    value: int
    rt_ms: int
    """From the image being shown to the choice."""
    shown_ms: int
    """From the image being shown to the submission."""
    blur: int
    """How often the page lost the rater's attention (was hidden)."""
    idem: str
    """Made by the page for this answer; the same when it is sent again."""
    now: int


@dataclass(frozen=True, slots=True)
class Complete:
    """End an assignment all of whose `trials` have answers."""

    assignment: str
    trials: int
    now: int


@dataclass(frozen=True, slots=True)
class Withdraw:
    """End an assignment because the rater wishes so; delete its answers unless they are to be kept.

    The lease may have run out; a complete assignment stays.
    """

    assignment: str
    keep_answers: bool
    now: int


@dataclass(frozen=True, slots=True)
class Reclaim:
    """Free the slots of all assignments whose lease has run out."""

    now: int


@dataclass(frozen=True, slots=True)
class Forget:
    """Delete everything about raters: ids, assignments, answers and events."""

    raters: tuple[str, ...]
    now: int


@dataclass(frozen=True, slots=True)
class Log:
    """Keep an event: something that happened in an assignment, such as `focus` or `reload`.

    The outcome is NotActive("") if there is no such assignment.
    """

    assignment: str
    kind: str
    detail: str
    now: int


Write = Claim | Submit | Complete | Withdraw | Reclaim | Forget | Log


# Outcomes -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assignment:
    """A slot that a rater has taken. `id` is `task-slot-attempt`, attempt from 0."""

    id: str
    task: str
    slot: int
    rater: str
    state: str
    consent: str
    claimed: int
    expires: int
    ended: int | None
    """When it was completed, withdrawn or found expired."""


@dataclass(frozen=True, slots=True)
class NoSlot:
    """No slot is free, or (`is_limit`) the rater has as many assignments as a rater may have."""

    is_limit: bool


@dataclass(frozen=True, slots=True)
class Submitted:
    """`NEW`, `SAME` (the same value was stored before) or `DIFFERENT` (another is, and stays), and the stored value."""

    kind: str
    value: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The assignment after Complete or Withdraw. It stays claimed if answers are missing, for the trials `missing`."""

    assignment: Assignment
    missing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NotActive:
    """The write needs an assignment that is claimed; this one has `state`, or does not exist ("")."""

    state: str


@dataclass(frozen=True, slots=True)
class Count:
    """How many assignments a Reclaim freed, or rows a Forget deleted; 1 for a Log."""

    number: int


Outcome = Assignment | NoSlot | Submitted | Ended | NotActive | Count


# Rows ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """A stored answer."""

    assignment: str
    trial: int
    value: int
    rt_ms: int
    shown_ms: int
    blur: int
    stored: int
    idem: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """A line of the log, in the order in which things happened. Every attempt to answer is one.

    Kinds of the store: claim, answer_new, answer_same, answer_different, answer_refused, complete, withdraw, expire,
    and forget, which has no assignment (""). Others are those of Log. Forget leaves gaps in the numbers.
    """

    number: int
    assignment: str
    kind: str
    detail: str
    time: int


@dataclass(frozen=True, slots=True)
class Person:
    """Who a rater is on a platform. Deleted by Forget."""

    rater: str
    platform: str
    person: str


@dataclass(frozen=True, slots=True)
class SlotAttempts:
    """How often a slot was taken. The next assignment of the slot has this number, even after Forget."""

    task: str
    slot: int
    attempts: int


Row = Assignment | Answer | Event | Person | SlotAttempts


def attempt_detail(submit: Submit) -> str:
    """Return the detail of the event that an attempt to answer is."""
    names = ("trial", "value", "rt_ms", "shown_ms", "blur", "idem")
    return json.dumps({name: getattr(submit, name) for name in names}, separators=(",", ":"))


class Store(Protocol):
    """The methods of both stores. Not safe for threads: one thread writes. Raises StoreError."""

    def apply(self, writes: Sequence[Write]) -> list[Outcome]:
        """Do all writes in order, in one durable step, and return their outcomes."""
        ...

    def assignment(self, id: str) -> Assignment | None:
        """Return one assignment."""
        ...

    def assignments(self) -> Iterator[Assignment]:
        """Yield all assignments, sorted by id."""
        ...

    def answers(self, assignment: str | None = None) -> Iterator[Answer]:
        """Yield the answers of one assignment or of all, sorted by assignment and trial."""
        ...

    def events(self) -> Iterator[Event]:
        """Yield the log."""
        ...

    def people(self) -> Iterator[Person]:
        """Yield who the raters are, sorted by rater."""
        ...

    def attempts(self) -> Iterator[SlotAttempts]:
        """Yield how often each slot was taken, sorted by task and slot."""
        ...

    def close(self) -> None:
        """Close the store; what was applied stays."""
        ...
