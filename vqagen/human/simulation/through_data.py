"""Simulated studies without a server: raters take slots in turn, and their answers are rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vqagen.human.answers import AnswerRow
from vqagen.human.export.rows import answer_row
from vqagen.human.simulation.raters import Raters
from vqagen.human.store.facts import Submitted as Answer
from vqagen.human.store.roster import COMPLETE, Assignment
from vqagen.human.study.study import Study
from vqagen.human.study.trial import Trial


class AssignedWork(NamedTuple):
    """An assignment, and its trials in the rater's order."""

    assignment: Assignment
    trials: tuple[Trial, ...]


def assigned_work(study: Study, raters: int) -> list[AssignedWork]:
    """Return the work of simulated raters: each takes a task in turn until all slots are taken.

    No rater does a task twice, nor more tasks than the study allows. The slots of all tasks are filled evenly.
    """
    waiting = deque((task, slot) for slot in range(study.slots) for task in study.tasks)
    most = study.serving.tasks_per_person or len(study.tasks)
    names = [f"rater{number:04}" for number in range(1, raters + 1)]
    done: dict[str, set[str]] = {name: set() for name in names}
    found = []
    for _ in range(most):
        taken = 0
        for name in names:
            place = next((place for place, (task, _) in enumerate(waiting) if task not in done[name]), None)
            if place is None:
                continue
            task, slot = waiting[place]
            del waiting[place]
            done[name].add(task)
            taken += 1
            assignment = Assignment(f"{task}-{slot}-0", task, slot, name, COMPLETE, "", 0, 0, 0)
            found.append(AssignedWork(assignment, study.trials(task, slot)))
        if not taken:
            break
    return sorted(found, key=lambda work: work.assignment.id)


def simulated_rows(work: Sequence[AssignedWork], raters: Raters) -> Iterator[AnswerRow]:
    """Yield the answers of simulated raters, as an export has them."""
    for assignment, trials in work:
        for trial in trials:
            value = raters.value(assignment.rater, trial)
            spent = raters.milliseconds(assignment.rater, trial)
            answer = Answer(assignment.id, trial.number, value, spent, spent, 0, 0)
            yield answer_row(assignment, trial, answer)
