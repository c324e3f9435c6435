"""Writes of the SQLite store, each inside a transaction that the store has begun."""

from __future__ import annotations

import json
from collections.abc import Callable
from sqlite3 import Connection
from typing import Any

from vqagen.human.store.store import (
    CLAIMED,
    COMPLETE,
    DIFFERENT,
    EXPIRED,
    NEW,
    SAME,
    WITHDRAWN,
    Assignment,
    Claim,
    Complete,
    Count,
    Ended,
    Forget,
    Log,
    NoSlot,
    NotActive,
    Outcome,
    Reclaim,
    Submit,
    Submitted,
    Withdraw,
    Write,
    attempt_detail,
)

_COLUMNS = "id, task, slot, rater, state, consent, claimed, expires, ended"
_HOLDS = "state IN ('claimed', 'complete')"
"""The assignments whose slots are not free."""


def apply_write(connection: Connection, write: Write) -> Outcome:
    """Do one write."""
    outcome: Outcome = _APPLY[type(write)](connection, write)
    return outcome


# Claims -------------------------------------------------------------------------------------------------------------


def _claim(connection: Connection, claim: Claim) -> Outcome:
    found = connection.execute(f"SELECT {_COLUMNS} FROM assignment WHERE rater = ?", (claim.rater,))
    own = {row[1]: Assignment(*row) for row in found}
    among = [own[task] for task in claim.tasks if task in own]
    if among:
        return _claim_again(connection, claim, among)
    if len(own) >= claim.most:
        return NoSlot(is_limit=True)
    place = _free_place(connection, claim) or _overdue_place(connection, claim)
    if place is None:
        return NoSlot(is_limit=False)
    if claim.person:
        connection.execute("INSERT OR IGNORE INTO person VALUES (?, ?, ?)", (claim.rater, claim.platform, claim.person))
    return _assign(connection, claim, *place)


def _claim_again(connection: Connection, claim: Claim, among: list[Assignment]) -> Assignment:
    """Return the assignment that the rater is in. One whose time ran out starts again if its slot is free."""
    for one in among:
        if one.state == CLAIMED and one.expires > claim.now:
            return one
    for one in among:
        if one.state == CLAIMED or (one.state == EXPIRED and _is_free(connection, one.task, one.slot)):
            connection.execute(
                "UPDATE assignment SET state = 'claimed', expires = ?, ended = NULL WHERE id = ?",
                (claim.now + claim.lease, one.id),
            )
            _log(connection, one.id, "claim", "again", claim.now)
            return _stored(connection, one.id)
    return among[0]


def _is_free(connection: Connection, task: str, slot: int) -> bool:
    query = f"SELECT 1 FROM assignment WHERE task = ? AND slot = ? AND {_HOLDS}"
    return connection.execute(query, (task, slot)).fetchone() is None


def _free_place(connection: Connection, claim: Claim) -> tuple[str, int] | None:
    """Return the first task with a free slot, and the lowest free slot of it."""
    query = f"""SELECT value FROM json_each(:tasks) WHERE (
            SELECT count(*) FROM assignment WHERE task = value AND {_HOLDS} AND (:slot IS NULL OR slot = :slot)
        ) < :room ORDER BY key LIMIT 1"""
    room = claim.slots if claim.only_slot is None else 1
    row = connection.execute(query, {**_places(claim), "room": room}).fetchone()
    if row is None:
        return None
    if claim.only_slot is not None:
        return row[0], claim.only_slot
    return row[0], next(slot for slot in range(claim.slots) if _is_free(connection, row[0], slot))


def _overdue_place(connection: Connection, claim: Claim) -> tuple[str, int] | None:
    """End the lease that ran out first, and return its place."""
    query = """SELECT assignment.id, task, slot FROM json_each(:tasks) JOIN assignment ON task = value
        WHERE state = 'claimed' AND expires <= :now AND (:slot IS NULL OR slot = :slot)
        ORDER BY expires, key, slot LIMIT 1"""
    row = connection.execute(query, {**_places(claim), "now": claim.now}).fetchone()
    if row is None:
        return None
    _expire(connection, row[0], claim.now)
    return row[1], row[2]


def _places(claim: Claim) -> dict[str, Any]:
    return {"tasks": json.dumps(claim.tasks), "slot": claim.only_slot}


def _assign(connection: Connection, claim: Claim, task: str, slot: int) -> Assignment:
    """Give the rater a free slot. Attempts are counted, so that no id is used twice, even after Forget."""
    row = connection.execute("SELECT attempts FROM slot WHERE task = ? AND slot = ?", (task, slot)).fetchone()
    attempt = row[0] if row else 0
    connection.execute("INSERT OR REPLACE INTO slot VALUES (?, ?, ?)", (task, slot, attempt + 1))
    made = Assignment(
        f"{task}-{slot}-{attempt}",
        task,
        slot,
        claim.rater,
        CLAIMED,
        claim.consent,
        claim.now,
        claim.now + claim.lease,
        None,
    )
    values = [getattr(made, name) for name in made.__slots__]
    connection.execute(f"INSERT INTO assignment ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    _log(connection, made.id, "claim", "", claim.now)
    return made


# Answers ------------------------------------------------------------------------------------------------------------


def _submit(connection: Connection, submit: Submit) -> Outcome:
    assignment = _found(connection, submit.assignment)
    if assignment is None:
        return NotActive("")
    if assignment.state != CLAIMED:
        _log(connection, assignment.id, "answer_refused", assignment.state, submit.now)
        return NotActive(assignment.state)
    query = "SELECT value, trial FROM answer WHERE assignment = ? AND trial = ?"
    row = connection.execute(query, (assignment.id, submit.trial)).fetchone()
    if row is None and submit.idem:
        query = "SELECT value, trial FROM answer WHERE assignment = ? AND idem = ? AND idem <> ''"
        row = connection.execute(query, (assignment.id, submit.idem)).fetchone()
    if row is None:
        kind, value = NEW, submit.value
        connection.execute(
            "INSERT INTO answer VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(assignment.id, submit.trial, submit.value, submit.rt_ms, submit.shown_ms),
                *(submit.blur, submit.now, submit.idem),
            ),
        )
    else:
        kind, value = (SAME if row == (submit.value, submit.trial) else DIFFERENT), row[0]
    _log(connection, assignment.id, f"answer_{kind}", attempt_detail(submit), submit.now)
    return Submitted(kind, value)


# Ends ---------------------------------------------------------------------------------------------------------------


def _complete(connection: Connection, complete: Complete) -> Outcome:
    assignment = _found(connection, complete.assignment)
    if assignment is None or assignment.state not in (CLAIMED, COMPLETE):
        return NotActive(assignment.state if assignment else "")
    if assignment.state == COMPLETE:
        return Ended(assignment)
    found = connection.execute("SELECT trial FROM answer WHERE assignment = ?", (assignment.id,))
    answered = {trial for (trial,) in found}
    missing = tuple(trial for trial in range(1, complete.trials + 1) if trial not in answered)
    if missing:
        return Ended(assignment, missing)
    return Ended(_end(connection, assignment.id, COMPLETE, "complete", complete.now))


def _withdraw(connection: Connection, withdraw: Withdraw) -> Outcome:
    assignment = _found(connection, withdraw.assignment)
    if assignment is None or assignment.state == COMPLETE:
        return NotActive(assignment.state if assignment else "")
    if assignment.state == WITHDRAWN:
        return Ended(assignment)
    if not withdraw.keep_answers:
        connection.execute("DELETE FROM answer WHERE assignment = ?", (assignment.id,))
        attempts = "('answer_new', 'answer_same', 'answer_different', 'answer_refused')"
        connection.execute(f"DELETE FROM event WHERE assignment = ? AND kind IN {attempts}", (assignment.id,))
    return Ended(_end(connection, assignment.id, WITHDRAWN, "withdraw", withdraw.now))


def _reclaim(connection: Connection, reclaim: Reclaim) -> Outcome:
    query = "SELECT id FROM assignment WHERE state = 'claimed' AND expires <= ? ORDER BY expires, id"
    overdue = connection.execute(query, (reclaim.now,)).fetchall()
    for (id,) in overdue:
        _expire(connection, id, reclaim.now)
    return Count(len(overdue))


def _forget(connection: Connection, forget: Forget) -> Outcome:
    deleted = 0
    for rater in forget.raters:
        of_rater = "WHERE assignment IN (SELECT id FROM assignment WHERE rater = ?)"
        for statement in (
            f"DELETE FROM answer {of_rater}",
            f"DELETE FROM event {of_rater}",
            "DELETE FROM assignment WHERE rater = ?",
            "DELETE FROM person WHERE rater = ?",
        ):
            deleted += connection.execute(statement, (rater,)).rowcount
    if deleted:
        _log(connection, None, "forget", str(deleted), forget.now)
    return Count(deleted)


def _expire(connection: Connection, id: str, now: int) -> None:
    _end(connection, id, EXPIRED, "expire", now)


def _end(connection: Connection, id: str, state: str, kind: str, now: int) -> Assignment:
    connection.execute("UPDATE assignment SET state = ?, ended = ? WHERE id = ?", (state, now, id))
    _log(connection, id, kind, "", now)
    return _stored(connection, id)


# Events -------------------------------------------------------------------------------------------------------------


def _note(connection: Connection, log: Log) -> Outcome:
    if _found(connection, log.assignment) is None:
        return NotActive("")
    _log(connection, log.assignment, log.kind, log.detail, log.now)
    return Count(1)


def _log(connection: Connection, assignment: str | None, kind: str, detail: str, now: int) -> None:
    connection.execute(
        "INSERT INTO event (assignment, kind, detail, time) VALUES (?, ?, ?, ?)", (assignment, kind, detail, now)
    )


def _found(connection: Connection, id: str) -> Assignment | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM assignment WHERE id = ?", (id,)).fetchone()
    return Assignment(*row) if row else None


def _stored(connection: Connection, id: str) -> Assignment:
    found = _found(connection, id)
    assert found is not None
    return found


_APPLY: dict[type, Callable[[Connection, Any], Outcome]] = {
    Claim: _claim,
    Submit: _submit,
    Complete: _complete,
    Withdraw: _withdraw,
    Reclaim: _reclaim,
    Forget: _forget,
    Log: _note,
}
