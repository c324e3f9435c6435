"""How far a study is: slots, systems, raters at work, flags, what raters report, and when it may be complete."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from vqagen.errors import counted
from vqagen.human.answers import AnswerRow, answer_rows, automated, study_facts
from vqagen.human.export import comments
from vqagen.human.scores.flags import find_flags
from vqagen.human.store.study_state import CLAIMED, COMPLETE, EXPIRED, WITHDRAWN, Assignment, StudyState
from vqagen.human.study.item import REAL, SYSTEM, StudyItem
from vqagen.human.study.study import Study, load_study
from vqagen.report.table import COUNT, SHARE, TEXT, Report, Table, columns, nonempty

RECENT = 20
"""Completed slots whose times say how fast the study is."""
_MINUTE, _HOUR = 60_000, 3_600_000
_LAST_SECOND = 253_402_300_799
"""The end of the year 9999."""


def study_status(folder: str | Path, store: str | Path | None = None, *, now: int | None = None) -> Report:
    """Return how far a study is, also while it is served. `store` is a place other than the study's own file.

    A study that was never served has no answers. `now` is a time in milliseconds. The facts of the report are counts.
    """
    study = load_study(folder)
    log, now = study_facts(study, store), time.time_ns() // 1_000_000 if now is None else now
    study_state = StudyState(log)
    rows, given = list(answer_rows(study, study_state)), list(study_state.assignments.values())
    working = [
        assignment
        for assignment in sorted(given, key=lambda assignment: assignment.expires)
        if assignment.state == CLAIMED and assignment.holds(now)
    ]
    states, planned = Counter(assignment.state for assignment in given), study.slots * len(study.tasks)
    done, remaining = states[COMPLETE], _remaining(given, planned, now)
    slots = {"planned": planned, "complete": done, "active": len(working), "free": planned - done - len(working)}
    flags = find_flags(rows, automated(log))
    concerned = Counter(kind for kind, _ in sorted({(flag.kind, flag.rater) for flag in flags}))
    leases = (
        (
            assignment.id,
            assignment.rater,
            len(assignment.answers),
            assignment.trials,
            -((now - assignment.expires) // _MINUTE),
        )
        for assignment in working
    )
    written = ((*cells, _utc(at)) for *cells, at in comments(study, study_state, log))
    raters, systems = len({assignment.rater for assignment in given}), list(_systems(study, rows))
    head = (
        f"study {study.id} at {_utc(now)}: {done:,} of {counted(planned, 'slot')} complete ({100 * done // planned} %),"
        f" {slots['active']:,} active, {slots['free']:,} free",
        f"{counted(raters, 'rater')}, {counted(len(rows), 'answer')},"
        f" {states[EXPIRED]:,} expired, {states[WITHDRAWN]:,} withdrawn",
        f"complete in: {'unknown' if remaining is None else f'about {remaining / _HOUR:,.1f} hours'}",
    )
    tables = nonempty(
        Table(key, title, columns(**forms), tuple(cells))
        for key, title, forms, cells in (
            ("systems", "Answers of complete raters to real trials", _SYSTEMS, systems),
            ("tasks", "Tasks, the least complete first", _TASKS, _tasks(study, given, working)),
            ("working", "Raters at work", _WORKING, leases),
            ("flags", "Flags", {"flag": TEXT, "raters": COUNT}, concerned.items()),
            ("comments", "Comments and problems", _COMMENTS, written),
        )
    )
    facts = {"study": study.id, "now": now, "slots": slots, "raters": raters, "answers": len(rows)}
    facts |= {"expired": states[EXPIRED], "withdrawn": states[WITHDRAWN], "remaining": remaining}
    return Report("Progress of a study", head, tables, facts)


_SYSTEMS = {"system": TEXT, "answers": COUNT, "planned": COUNT, "share": SHARE}
_TASKS = {"task": TEXT, "planned": COUNT, "complete": COUNT, "active": COUNT, "free": COUNT}
_WORKING = {"assignment": TEXT, "rater": TEXT, "answers": COUNT, "trials": COUNT, "minutes_left": COUNT}
_COMMENTS = {"kind": TEXT, "assignment": TEXT, "rater": TEXT, "trial": COUNT, "item": TEXT, "text": TEXT, "time": TEXT}


def _systems(study: Study, rows: Iterable[AnswerRow]) -> Iterator[tuple[str, int, int, float]]:
    items = (study.items[trial.item] for task in study.tasks.values() for trial in task.trials)
    planned = Counter(name for item in items if item.use == REAL for name in _sources(item))
    complete = (study.items[row.item] for row in rows if row.use == REAL and row.state == COMPLETE)
    answered = Counter(name for item in complete for name in _sources(item))
    for name, times in sorted(planned.items()):
        yield name, answered[name], times * study.slots, answered[name] / (times * study.slots)


def _sources(item: StudyItem) -> list[str]:
    """Return the systems that an answer to an item says something about, or what stands for them."""
    systems = [candidate.source for candidate in item.candidates if candidate.role == SYSTEM]
    return systems or ["references" if item.candidates else "questions"]


def _tasks(
    study: Study, given: Iterable[Assignment], working: Iterable[Assignment]
) -> list[tuple[str, int, int, int, int]]:
    complete, active = (
        Counter(assignment.task for assignment in given if assignment.state == COMPLETE),
        Counter(assignment.task for assignment in working),
    )
    counts = ((task, complete[task], active[task]) for task in study.tasks)
    rows = [(task, study.slots, done, taken, study.slots - done - taken) for task, done, taken in counts]
    return sorted(rows, key=lambda row: (row[2], row[0]))


def _remaining(given: Iterable[Assignment], planned: int, now: int) -> int | None:
    """Return the milliseconds until all slots are complete, at the rate of the last ones; None if these are too few."""
    complete = sorted(assignment.ended or 0 for assignment in given if assignment.state == COMPLETE)
    recent, missing = complete[-RECENT:], planned - len(complete)
    if not missing:
        return 0
    if len(recent) < 2 or now <= recent[0]:
        return None
    return round(missing * (now - recent[0]) / (len(recent) - 1))


def _utc(milliseconds: int) -> str:
    seconds = min(max(milliseconds // 1000, 0), _LAST_SECOND)  # an entry of the store may be damaged
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
