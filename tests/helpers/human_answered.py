"""A small study with answers of all kinds: complete, unfinished, expired, withdrawn; and what its raters wrote."""

from __future__ import annotations

from pathlib import Path

from human_stores import HOUR, Desk, open_desk
from study_files import make_study

from vqagen.human.store.facts import ANSWERS, Claimed, Noted
from vqagen.human.study.study import Study

RATERS = tuple(f"{number:016x}" for number in range(6))
START = 1_700_000_000_000
"""Milliseconds: the first rater consents."""


def make_answered(folder: Path) -> Study:
    """Make a study of two systems, three raters for each task, whose first raters have answered."""
    study = make_study(folder, systems=("ours", "theirs"), raters_per_item=3, checks_per_task=1, imc_per_task=1)
    desk = open_desk(study.folder / ANSWERS, study.id)
    answer_study(study, desk)
    desk.log.close()
    return study


def answer_study(study: Study, desk: Desk) -> None:
    """Let raters 0 and 1 complete a task, 2 work, 3 lose the slot to 0, 4 and 5 withdraw; only 5 takes answers along.

    Rater 0 comments, and rater 1, whose browser is driven by a program, reports a problem with trial 2.
    """
    tasks = {task: len(study.tasks[task].trials) for task in study.tasks}
    for number in (3, 0, 1, 2, 4, 5):
        now = START + number * 60_000 - (3 * HOUR if number == 3 else 0)
        wish = Claimed(now, "", RATERS[number], 0, "c0", now + HOUR, "id", f"Person{number}")
        grant = desk.study_state.claim(wish, tasks, study.slots, None, 9)
        desk.commit(*grant.facts)
        trials = desk.study_state.assignments[grant.assignment].trials
        for trial in range(1, (trials if number < 2 else 2) + 1):
            times = {"rt_ms": 2_000, "shown_ms": 2_500, "server_ms": 2_600}
            desk.answer(grant.assignment, trial, (number * 3 + trial) % 9 + 1, now + trial * 5_000, **times)
        if number == 0:
            desk.commit(Noted(now + 60_000, grant.assignment, "comment", "=Thanks"))
        if number == 1:
            desk.commit(Noted(now, grant.assignment, "webdriver"), Noted(now, grant.assignment, "problem", "dark", 2))
        if number > 3:
            desk.withdraw(grant.assignment, now + 60_000, keep_answers=number == 4)
