"""The contract of a store: writes as values, outcomes as values, and everything it holds as rows.

A write is acknowledged when `apply` returns: it is durable then. The store has no clock; every write says the time of
the server, in milliseconds since 1970.
"""

from __future__ import annotations

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

    exit_code = 4


# Writes ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Claim:
    """Take a free slot of the first of `tasks` that has one for this rater; the rater has consented.

    A rater has at most one assignment of a task and `most` in all; withdrawn ones count. Asking again returns the
    assignment that the rater already has among `tasks`, and makes an expired one active whose slot is still free.
    Of the slots of one task, the lowest free one is taken. Where none is free, the lease that ran out first ends.
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
    """Keep the answer to a trial of an assignment. The first one stays."""

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
    """End an assignment because the rater wishes so; delete its answers unless they are to be kept."""

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
    """Keep an event: something that happened in an assignment, such as `focus` or `reload`."""

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
    """A line of the log, in the order in which things happened. Every attempt to answer is one."""

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


class Store(Protocol):
    """What both stores do. Not safe for threads: one thread writes. Raises StoreError."""

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

    def close(self) -> None:
        """Close the store; what was applied stays."""
        ...
