"""`comparison_tasks.json` as HUMANr's own pages read it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

import orjson

from vqagen.human.study.checks import CORRECT, DISTRACTOR
from vqagen.human.study.item import CHECK, REAL, Candidate, Item
from vqagen.human.study.pairs import HUMAN, HUMANS
from vqagen.human.study.plan import Plan
from vqagen.human.study.trial import trials_of_slot

COMPARISON_TASKS = "comparison_tasks.json"
RESERVED = (HUMAN, *HUMANS, CORRECT, DISTRACTOR)
"""Sources with a meaning in HUMANr; a system with such a name would be scored as something else there."""


def comparison_tasks(plan: Plan, seed: int) -> bytes:
    """Return the file: link id -> trials in the order and with the sides of the first rater.

    Only comparisons of an image are in it: HUMANr has neither instructed nor practice trials.
    """
    tasks: Mapping[str, object] = {
        task.id: [
            _entry(trial.item, trial.second_on_right)
            for trial in trials_of_slot(task, 0, plan.items, seed)
            if trial.item.use in (REAL, CHECK)
        ]
        for task in plan.tasks.values()
    }
    return orjson.dumps(tasks, option=orjson.OPT_APPEND_NEWLINE)


def _entry(item: Item, second_on_right: bool) -> dict[str, str]:
    sides = item.candidates if second_on_right else item.candidates[::-1]
    entry = {"image": item.image}
    for number, candidate in enumerate(sides, 1):
        entry |= {
            f"c{number}_id": _caption_id(item, candidate),
            f"c{number}_text": candidate.text,
            f"c{number}_source": candidate.source,
        }
    return entry


def _caption_id(item: Item, candidate: Candidate) -> str:
    stem = PurePosixPath(item.image).stem
    if candidate.source == CORRECT:
        return f"{stem}_attention_check_correct"
    if candidate.source == DISTRACTOR:
        return f"{PurePosixPath(candidate.id.split('#')[0]).stem}_attention_check_distractor"
    second = item.candidates[1].source
    return f"{stem}_{HUMAN if second in HUMANS else second}-human_{candidate.source}"
