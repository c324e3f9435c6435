"""Rehearsals: simulated raters do a whole study on a real server, and their answers are compared with its store."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass

from vqagen.human.answers import AnswerRow
from vqagen.human.export.rows import answer_row, answer_rows
from vqagen.human.simulation.through_data import assigned_work
from vqagen.human.simulation.visit import REFUSED, WITHDREW, Drive, Guests, Visit
from vqagen.human.store.opening import ANSWERS, open_store
from vqagen.human.store.store import CLAIMED, COMPLETE, Answer, Assignment
from vqagen.human.study.study import Study


@dataclass(frozen=True)
class Rehearsal:
    """All visits of a rehearsal, the answers that can be scored, and what went wrong."""

    visits: tuple[Visit, ...]
    seconds: float
    rows: tuple[AnswerRow, ...]
    faults: tuple[str, ...]

    @property
    def outcomes(self) -> Counter[str]:
        """How many visits had each outcome."""
        return Counter(visit.outcome for visit in self.visits)


def visit_all(
    guests: Guests, raters: int, drive: Drive, on_done: Callable[[int], None] = lambda _: None
) -> tuple[tuple[Visit, ...], float]:
    """Let all raters do their tasks, several at once; return their visits in order, and the seconds that it took."""
    tasks: dict[str, list[str]] = {}
    for each in assigned_work(guests.study, raters):
        tasks.setdefault(each.assignment.rater, []).append(each.assignment.task)

    def visits_of(rater: str) -> list[Visit]:
        return list(drive(guests, rater, tasks[rater]))

    began = time.monotonic()
    found: list[Visit] = []
    pool = ThreadPoolExecutor(guests.settings.at_once)
    try:
        for future in as_completed([pool.submit(visits_of, rater) for rater in tasks]):
            found += future.result()
            on_done(len(future.result()))
    finally:
        pool.shutdown(cancel_futures=True)
    return tuple(sorted(found, key=lambda visit: (visit.task, visit.rater))), time.monotonic() - began


def acknowledged_rows(study: Study, visits: Iterable[Visit]) -> Iterator[AnswerRow]:
    """Yield the answers of visits as an export has them."""
    for visit in visits:
        if visit.outcome in (REFUSED, WITHDREW):
            continue
        task, slot, _ = visit.assignment.split("-")
        state = COMPLETE if visit.outcome == COMPLETE else CLAIMED
        assignment = Assignment(visit.assignment, task, int(slot), visit.rater, state, "", 0, 0, None)
        trials = {trial.number: trial for trial in study.trials(task, int(slot))}
        yield from (answer_row(assignment, trials[answer.trial], answer) for answer in visit.answers)


def stored_rows(study: Study, visits: Sequence[Visit]) -> tuple[tuple[AnswerRow, ...], tuple[str, ...]]:
    """Return the answers in the store of a study, and how they differ from those that it acknowledged in visits."""
    with closing(open_store(study.folder / ANSWERS, study.id, create=False, read_only=True)) as store:
        stored = {(each.assignment, each.trial): each for each in store.answers()}
        rows = tuple(answer_rows(study, store))
    keeps = study.serving.keep_withdrawn_answers
    expected = {
        (answer.assignment, answer.trial): answer
        for visit in visits
        if visit.outcome != WITHDREW or keeps
        for answer in visit.answers
    }
    return rows, tuple(_differences(expected, stored))


def _differences(expected: dict[tuple[str, int], Answer], stored: dict[tuple[str, int], Answer]) -> Iterator[str]:
    for key in sorted(expected.keys() | stored.keys()):
        place = f"trial {key[1]} of {key[0]}"
        if key not in stored:
            yield f"the answer to {place} was acknowledged and is lost"
        elif key not in expected:
            yield f"the answer to {place} is stored, though nobody gave it or its rater has withdrawn"
        elif stored[key].value != expected[key].value:
            yield f"the answer to {place} is stored as {stored[key].value}, not {expected[key].value}"
