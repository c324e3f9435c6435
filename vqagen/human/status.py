"""How far a study is: slots, systems, open leases, flags, and when it may be complete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from vqagen.errors import counted
from vqagen.human.answers import AnswerRow
from vqagen.human.scores.flags import find_flags
from vqagen.human.scores.settings import WEBDRIVER, ScoreSettings
from vqagen.human.store.roster import CLAIMED, COMPLETE, EXPIRED, WITHDRAWN, Assignment
from vqagen.human.study.item import REAL, SYSTEM, Item
from vqagen.human.study.study import Study

RECENT = 20
"""Completed slots whose times say how fast the study is."""
_REFERENCES = "references"
"""Stands for pairs of two reference texts, which are of no system."""


class Slots(NamedTuple):
    """Slots of one task or of all."""

    planned: int
    complete: int
    active: int
    """Taken, and their time has not run out."""
    overdue: int
    """Taken, but free for the next rater."""

    @property
    def free(self) -> int:
        """Slots that nobody has."""
        return self.planned - self.complete - self.active - self.overdue


class Lease(NamedTuple):
    """A slot that a rater works on."""

    assignment: str
    rater: str
    answers: int
    trials: int
    expires: int
    """Milliseconds since 1970; in the past for an overdue one."""


@dataclass(frozen=True)
class StudyStatus:
    """The state of a study at one moment."""

    study: str
    now: int
    slots: Slots
    tasks: dict[str, Slots]
    systems: dict[str, tuple[int, int]]
    """Source -> answers of complete assignments to real trials, and how many are planned."""
    raters: int
    answers: int
    expired: int
    withdrawn: int
    leases: tuple[Lease, ...]
    flags: dict[str, int]
    """Kind -> how many raters it concerns."""
    remaining: int | None
    """Milliseconds until all slots are complete, at the rate of the last ones; None if too few are complete."""

    def to_record(self) -> dict[str, Any]:
        """Return the status as JSON has it."""
        systems = {name: {"answers": answers, "planned": planned} for name, (answers, planned) in self.systems.items()}
        return {
            **asdict(self),
            "slots": _slots_record(self.slots),
            "tasks": {name: _slots_record(slots) for name, slots in self.tasks.items()},
            "systems": systems,
            "leases": [lease._asdict() for lease in self.leases],
        }


def _slots_record(slots: Slots) -> dict[str, int]:
    return {**slots._asdict(), "free": slots.free}


def status_of(
    study: Study, assignments: Sequence[Assignment], rows: Sequence[AnswerRow], events: Iterable[Event], now: int
) -> StudyStatus:
    """Return the status of a study from all that its store holds, at a time in milliseconds."""
    by_task: dict[str, list[Assignment]] = {task: [] for task in study.tasks}
    for each in assignments:
        by_task[each.task].append(each)
    tasks = {task: _slots(study.slots, found, now) for task, found in by_task.items()}
    states = Counter(each.state for each in assignments)
    flags = find_flags(rows, ScoreSettings(), (event.assignment for event in events if event.kind == WEBDRIVER))
    concerned = {(flag.kind, flag.rater) for flag in flags}
    return StudyStatus(
        study=study.id,
        now=now,
        slots=Slots(*(sum(column) for column in zip(*tasks.values(), strict=True))),
        tasks=tasks,
        systems=_systems(study, rows),
        raters=len({each.rater for each in assignments}),
        answers=len(rows),
        expired=states[EXPIRED],
        withdrawn=states[WITHDRAWN],
        leases=tuple(_leases(study, assignments, rows)),
        flags=dict(sorted(Counter(kind for kind, _ in concerned).items())),
        remaining=_remaining(study, assignments, now),
    )


def _slots(planned: int, assignments: Iterable[Assignment], now: int) -> Slots:
    complete = active = overdue = 0
    for each in assignments:
        complete += each.state == COMPLETE
        active += each.state == CLAIMED and each.expires > now
        overdue += each.state == CLAIMED and each.expires <= now
    return Slots(planned, complete, active, overdue)


def _systems(study: Study, rows: Iterable[AnswerRow]) -> dict[str, tuple[int, int]]:
    items = (study.items[trial.item] for task in study.tasks.values() for trial in task.trials)
    planned = Counter(name for item in items if item.use == REAL for name in _sources(item))
    complete = (row for row in rows if row.use == REAL and row.state == COMPLETE)
    answered = Counter(name for row in complete for name in _sources(study.items[row.item]))
    return {name: (answered[name], planned[name] * study.slots) for name in sorted(planned)}


def _sources(item: Item) -> list[str]:
    """Return the systems that an answer to an item says something about."""
    return [each.source for each in item.candidates if each.role == SYSTEM] or [_REFERENCES]


def _leases(study: Study, assignments: Iterable[Assignment], rows: Iterable[AnswerRow]) -> Iterable[Lease]:
    """Yield the leases, the one that ends first at the beginning."""
    answers = Counter(row.assignment for row in rows)
    claimed = (each for each in assignments if each.state == CLAIMED)
    for each in sorted(claimed, key=lambda each: (each.expires, each.id)):
        yield Lease(each.id, each.rater, answers[each.id], len(study.tasks[each.task].trials), each.expires)


def _remaining(study: Study, assignments: Iterable[Assignment], now: int) -> int | None:
    complete = sorted(each.ended or 0 for each in assignments if each.state == COMPLETE)
    missing = len(study.tasks) * study.slots - len(complete)
    if not missing:
        return 0
    recent = complete[-RECENT:]
    if len(recent) < 2 or now <= recent[0]:
        return None
    return round(missing * (now - recent[0]) / (len(recent) - 1))


# For people ---------------------------------------------------------------------------------------------------------


def format_status(status: StudyStatus) -> str:
    """Return the status for people: a few lines, then tables of systems, tasks that are not complete, and leases."""
    slots = status.slots
    lines = [
        f"study {status.study}: {slots.complete:,} of {counted(slots.planned, 'slot')} complete"
        f" ({_percent(slots.complete, slots.planned)}), {slots.active:,} active, {slots.overdue:,} overdue,"
        f" {slots.free:,} free",
        f"{counted(status.raters, 'rater')}, {counted(status.answers, 'answer')},"
        f" {status.expired:,} expired, {status.withdrawn:,} withdrawn",
        f"flags: {', '.join(f'{kind} {number}' for kind, number in status.flags.items()) or 'none'}",
        f"complete in: {_duration(status.remaining)}",
        "",
        *_columns([("system", "answers", "planned", ""), *(_system_line(*each) for each in status.systems.items())]),
    ]
    open_tasks = {task: each for task, each in status.tasks.items() if each.complete < each.planned}
    if open_tasks:
        head = ("open task", "complete", "active", "overdue", "free")
        shown = list(open_tasks.items())[:_MOST_LINES]
        found = [(task, *map(str, (e.complete, e.active, e.overdue, e.free))) for task, e in shown]
        lines += ["", *_columns([head, *found]), *_more(len(open_tasks), "open task")]
    if status.leases:
        titles = ("lease", "rater", "answers", "ends in")
        leases = [
            (each.assignment, each.rater, f"{each.answers} of {each.trials}", _end(each.expires - status.now))
            for each in status.leases[:_MOST_LINES]
        ]
        lines += ["", *_columns([titles, *leases]), *_more(len(status.leases), "lease")]
    return "\n".join(line.rstrip() for line in lines)


_MOST_LINES = 20


def _more(number: int, thing: str) -> list[str]:
    return [f"… and {counted(number - _MOST_LINES, thing)} more (--json has all)"] if number > _MOST_LINES else []


def _system_line(name: str, counts: tuple[int, int]) -> tuple[str, str, str, str]:
    return name, f"{counts[0]:,}", f"{counts[1]:,}", _percent(*counts)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part // whole if whole else 0} %"


def _end(milliseconds: int) -> str:
    return _duration(milliseconds) if milliseconds > 0 else "ran out"


def _duration(milliseconds: int | None) -> str:
    """Return a time for people.

    >>> _duration(90_000), _duration(7_500_000), _duration(400_000_000), _duration(0), _duration(None)
    ('2 min', '2 h 5 min', '4 d 15 h', 'done', 'unknown')
    """
    if milliseconds is None:
        return "unknown"
    if not milliseconds:
        return "done"
    minutes = max(1, round(milliseconds / 60_000))
    hours, days = minutes // 60, minutes // 1440
    if days:
        return f"{days} d {hours % 24} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines in which the first column is aligned left and the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
