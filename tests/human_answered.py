"""A small study with answers of all kinds: complete, unfinished, expired, withdrawn."""

from __future__ import annotations

from pathlib import Path

from human_stores import HOUR, claimed, one, submit
from study_files import make_study
from vqagen.human.store.store import Complete, Log, Reclaim, Store, Withdraw

from vqagen.human.store.opening import ANSWERS, open_store
from vqagen.human.study.study import Study

RATERS = tuple(f"{number:016x}" for number in range(6))
START = 1_700_000_000_000
"""Milliseconds: the first rater consents."""


def make_answered(folder: Path) -> Study:
    """Make a study of two systems, three raters for each task, whose first raters have answered."""
    study = make_study(folder, systems=("ours", "theirs"), raters_per_item=3, checks_per_task=1, imc_per_task=1)
    store = open_store(study.folder / ANSWERS, study.id, create=True)
    answer_study(study, store)
    store.close()
    return study


def answer_study(study: Study, store: Store) -> None:
    """Let raters 0 and 1 complete a task, 2 work, 3 be late, 4 and 5 withdraw, one with and one without answers."""
    for number, rater in enumerate(RATERS):
        now = START + number * 60_000 - (HOUR if number == 3 else 0)
        made = claimed(store, rater, *study.tasks, slots=3, now=now, person=f"Person{number}")
        trials = study.trials(made.task, made.slot)
        answers = trials if number < 2 else trials[:2]
        values = [(number * 3 + trial.number) % 9 + 1 for trial in answers]
        times = {"now": now + 5_000, "rt_ms": 2_000, "shown_ms": 2_500}
        store.apply(
            [submit(made.id, trial.number, value, **times) for trial, value in zip(answers, values, strict=True)]
        )
        if number < 2:
            store.apply([Log(made.id, "webdriver", "", now)] if number else [])
            one(store, Complete(made.id, len(trials), now + 60_000))
        if number > 3:
            one(store, Withdraw(made.id, keep_answers=number == 4, now=now + 60_000))
    one(store, Reclaim(START + 3 * 60_000))
