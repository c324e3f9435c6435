"""An independent check of all that a store holds about a study: what must be true after any run."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from vqagen.human.store.store import CLAIMED, COMPLETE, STATES, WITHDRAWN, Answer, Assignment, Store
from vqagen.human.study.study import Study

Acknowledged = Mapping[tuple[str, int], int]
"""(assignment, trial) -> the value that the server said is stored."""


def broken_rules(study: Study, store: Store, acknowledged: Acknowledged, *, kept: bool = False) -> list[str]:
    """Return what is wrong; `kept` if answers of raters who withdrew are to be kept."""
    assignments = {each.id: each for each in store.assignments()}
    answers = list(store.answers())
    return [
        *_wrong_assignments(study, assignments),
        *_wrong_answers(study, assignments, answers, kept),
        *_wrong_log(store, answers),
        *_lost(assignments, answers, acknowledged, kept),
    ]


def _wrong_assignments(study: Study, assignments: Mapping[str, Assignment]) -> Iterator[str]:
    attempts = defaultdict(list)
    for id, each in assignments.items():
        task, slot, attempt = id.rsplit("-", 2)
        attempts[each.task, each.slot].append(int(attempt))
        if (task, int(slot)) != (each.task, each.slot) or each.state not in STATES:
            yield f"{id} is {each}"
        if each.task not in study.tasks or not 0 <= each.slot < study.slots:
            yield f"{id} is in no slot of the study"
        if (each.ended is None) != (each.state == CLAIMED) or each.expires <= each.claimed:
            yield f"{id} has times that its state {each.state} cannot have"
    for place, numbers in attempts.items():
        if sorted(numbers) != list(range(len(numbers))):
            yield f"slot {place} has the attempts {numbers}"
    held = Counter((each.task, each.slot) for each in assignments.values() if each.state in (CLAIMED, COMPLETE))
    yield from (f"slot {place} is held {count} times" for place, count in held.items() if count > 1)
    shares = Counter((each.rater, each.task) for each in assignments.values())
    yield from (f"rater and task {pair} have {count} assignments" for pair, count in shares.items() if count > 1)


def _wrong_answers(
    study: Study, assignments: Mapping[str, Assignment], answers: list[Answer], kept: bool
) -> Iterator[str]:
    numbers = defaultdict(set)
    items: Counter[tuple[str, str]] = Counter()
    for answer in answers:
        owner = assignments.get(answer.assignment)
        if owner is None:
            yield f"{answer} is of no assignment"
            continue
        trials = {trial.number: trial for trial in study.trials(owner.task, owner.slot)}
        if answer.trial not in trials:
            yield f"{answer} is of no trial"
            continue
        scale = trials[answer.trial].item.scale
        if not scale.least <= answer.value <= scale.largest or (owner.state == WITHDRAWN and not kept):
            yield f"{answer} cannot be, in state {owner.state}"
        if not owner.claimed <= answer.stored:
            yield f"{answer} is older than its assignment"
        numbers[answer.assignment].add(answer.trial)
        items[owner.rater, trials[answer.trial].item.id] += 1
    yield from (f"rater and item {pair} have {count} answers" for pair, count in items.items() if count > 1)
    if len(answers) != sum(map(len, numbers.values())):
        yield "a trial has two answers"
    for id, each in assignments.items():
        if each.state == COMPLETE and len(numbers[id]) != len(study.tasks[each.task].trials):
            yield f"{id} is complete with {len(numbers[id])} answers"


def _wrong_log(store: Store, answers: list[Answer]) -> Iterator[str]:
    """Each answer was new once, with this value."""
    logged = Counter()
    for event in store.events():
        if event.kind == "answer_new":
            detail = json.loads(event.detail)
            logged[event.assignment, detail["trial"], detail["value"]] += 1
    for answer in answers:
        if logged[answer.assignment, answer.trial, answer.value] != 1:
            yield f"the log has {answer} {logged[answer.assignment, answer.trial, answer.value]} times"


def _lost(
    assignments: Mapping[str, Assignment], answers: list[Answer], acknowledged: Acknowledged, kept: bool
) -> Iterator[str]:
    stored = {(each.assignment, each.trial): each.value for each in answers}
    for (assignment, trial), value in acknowledged.items():
        if assignments[assignment].state == WITHDRAWN and not kept:
            continue
        if stored.get((assignment, trial)) != value:
            yield f"{assignment} trial {trial}: {value} was acknowledged, {stored.get((assignment, trial))} is stored"
