"""Stores of answers for tests: writes that are quick to state, and all that a store holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vqagen.human.store.store import Assignment, Claim, Outcome, Store, Submit, Write

STUDY = "0123456789abcdef"
HOUR = 3_600_000


def claim(rater: str, *tasks: str, **more: Any) -> Claim:
    """Return a claim of one of two slots (of task t), for an hour."""
    given = {"person": f"person-{rater}", "slots": 2, "only_slot": None, "most": 9, "consent": "c0", "lease": HOUR}
    return Claim(rater=rater, platform="id", tasks=tasks or ("t",), **{**given, "now": 0, **more})


def submit(assignment: str, trial: int, value: int, **more: Any) -> Submit:
    """Return an answer with a key of its own."""
    given = {"rt_ms": 900, "shown_ms": 1_000, "blur": 0, "idem": f"{assignment}/{trial}", "now": 1}
    return Submit(assignment, trial, value, **{**given, **more})


def one(store: Store, write: Write) -> Outcome:
    """Do one write."""
    (outcome,) = store.apply([write])
    return outcome


def claimed(store: Store, rater: str, *tasks: str, **more: Any) -> Assignment:
    """Claim a slot, which must succeed."""
    outcome = one(store, claim(rater, *tasks, **more))
    assert isinstance(outcome, Assignment)
    return outcome


def content(store: Store) -> dict[str, Sequence[Any]]:
    """Return all that a store holds."""
    return {
        "attempts": list(store.attempts()),
        "people": list(store.people()),
        "assignments": list(store.assignments()),
        "answers": list(store.answers()),
        "events": list(store.events()),
    }
