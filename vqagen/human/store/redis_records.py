"""Writes, outcomes and rows as Redis and its scripts have them: lists of texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import orjson

from vqagen.human.store.store import (
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


def encode_writes(writes: Iterable[Write]) -> bytes:
    """Return the argument of apply.lua."""
    return orjson.dumps([_ENCODE[type(write)](write) for write in writes])


def _claim(claim: Claim) -> list[Any]:
    only = "" if claim.only_slot is None else str(claim.only_slot)
    person = json.dumps([claim.platform, claim.person]) if claim.person else ""
    return [
        *("claim", claim.rater, claim.tasks, str(claim.slots), only, str(claim.most)),
        *(claim.consent, str(claim.now + claim.lease), str(claim.now), person),
    ]


def _submit(submit: Submit) -> list[Any]:
    answer = encode_answer(
        Answer(
            *(submit.assignment, submit.trial, submit.value, submit.rt_ms, submit.shown_ms, submit.blur),
            *(submit.now, submit.idem),
        )
    )
    place = [submit.assignment, str(submit.trial), str(submit.value), submit.idem, str(submit.now)]
    return ["submit", *place, answer, attempt_detail(submit)]


_ENCODE: dict[type, Callable[[Any], list[Any]]] = {
    Claim: _claim,
    Submit: _submit,
    Complete: lambda write: ["complete", write.assignment, str(write.trials), str(write.now)],
    Withdraw: lambda write: ["withdraw", write.assignment, "1" if write.keep_answers else "", str(write.now)],
    Reclaim: lambda write: ["reclaim", str(write.now)],
    Forget: lambda write: ["forget", write.raters, str(write.now)],
    Log: lambda write: ["log", write.assignment, write.kind, write.detail, str(write.now)],
}


def encode_answer(answer: Answer) -> str:
    """Return an answer as it is stored under its trial; the value is first."""
    values = [answer.value, answer.rt_ms, answer.shown_ms, answer.blur, answer.stored, answer.idem]
    return json.dumps(values, separators=(",", ":"))


def decode_outcome(reply: Sequence[Any]) -> Outcome:
    """Return the outcome that apply.lua gave for one write."""
    match reply[0], *reply[1:]:
        case b"assignment", *values:
            return decode_assignment(values)
        case b"submitted", kind, value:
            return Submitted(kind.decode(), int(value))
        case b"no_slot", is_limit:
            return NoSlot(is_limit=bool(is_limit))
        case b"not_active", state:
            return NotActive(state.decode())
        case b"ended", values, missing:
            return Ended(decode_assignment(values[1:]), tuple(map(int, missing)))
        case b"count", number:
            return Count(int(number))
    raise AssertionError(f"unknown outcome {reply!r}")


def decode_assignment(values: Sequence[bytes]) -> Assignment:
    """Return an assignment from its id and fields."""
    id, task, slot, rater, state, consent, claimed, expires, ended = (value.decode() for value in values)
    ends = int(ended) if ended else None
    return Assignment(id, task, int(slot), rater, state, consent, int(claimed), int(expires), ends)


def decode_answers(assignment: str, found: Iterable[tuple[bytes, bytes]]) -> Iterator[Answer]:
    """Yield the answers of an assignment, sorted by trial."""
    for trial, text in sorted((int(trial), text) for trial, text in found):
        yield Answer(assignment, trial, *json.loads(text))


def decode_event(assignment: str, text: bytes) -> Event:
    """Return an event from its text."""
    number, time, length, rest = text.split(b" ", 3)
    kind, detail = rest[: int(length)], rest[int(length) :]
    return Event(int(number), assignment, kind.decode(), detail.decode(), int(time))


class Content(NamedTuple):
    """All that a study holds, sorted as a store yields it."""

    assignments: list[Assignment]
    answers: list[Answer]
    events: list[Event]
    people: list[Person]
    attempts: list[SlotAttempts]


def decode_content(reply: Sequence[Any]) -> Content:
    """Return the content from the reply of read.lua."""
    found, of_study, people, attempts = reply
    by_id = sorted((id.decode(), fields, answers, events) for id, fields, answers, events in found)
    events = [decode_event(id, text) for id, _, _, texts in by_id for text in texts]
    events += [decode_event("", text) for text in of_study]
    return Content(
        [decode_assignment([id.encode(), *fields]) for id, fields, _, _ in by_id],
        [answer for id, _, answers, _ in by_id for answer in decode_answers(id, in_pairs(answers))],
        sorted(events, key=lambda event: event.number),
        sorted((_person(*pair) for pair in in_pairs(people)), key=lambda person: person.rater),
        sorted((_attempts(*pair) for pair in in_pairs(attempts)), key=lambda each: (each.task, each.slot)),
    )


def in_pairs(flat: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the fields and values of a hash, which a script returns one after the other."""
    return zip(flat[::2], flat[1::2], strict=True)


def _person(rater: bytes, text: bytes) -> Person:
    return Person(rater.decode(), *json.loads(text))


def _attempts(place: bytes, count: bytes) -> SlotAttempts:
    task, _, slot = place.decode().rpartition("-")
    return SlotAttempts(task, int(slot), int(count))
