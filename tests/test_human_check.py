"""`vqagen human check` finds every broken property of a plan: each is planted in a study that has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from study_files import make_study

from vqagen.human.study.invariants import plan_faults
from vqagen.human.study.item import Gold
from vqagen.human.study.item_record import identified
from vqagen.human.study.study import Study
from vqagen.human.study.trial import PlannedTrial, Task

Change = Callable[[Study], Study]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study without faults."""
    return make_study(tmp_path_factory.mktemp("study"), systems=("a", "b"), imc_per_task=1, raters_per_item=2)


def first_of(study: Study, use: str) -> Any:
    """Return the first item of a use."""
    return next(item for item in study.items.values() if item.use == use)


def with_item(study: Study, item: Any, **changes: Any) -> Study:
    """Return the study with another content of an item, under a new id that fits it."""
    changed = replace(item, **changes)
    changed = identified(changed, study.images[changed.image].sha256 if changed.image else "")
    items = {
        changed.id if name == item.id else name: changed if name == item.id else each
        for name, each in study.items.items()
    }
    tasks = {
        name: Task(
            name, tuple(replace(each, item=changed.id) if each.item == item.id else each for each in task.trials)
        )
        for name, task in study.tasks.items()
    }
    return replace(study, items=items, tasks=tasks)


def with_trials(study: Study, change: Callable[[list[PlannedTrial]], object]) -> Study:
    """Return the study with a change of the trials of its first task."""
    name, task = next(iter(study.tasks.items()))
    trials = list(task.trials)
    change(trials)
    return replace(study, tasks={**study.tasks, name: Task(name, tuple(trials))})


def all_on_the_right(study: Study) -> Study:
    return replace(
        study,
        tasks={
            name: Task(name, tuple(PlannedTrial(each.item, True) for each in task.trials))
            for name, task in study.tasks.items()
        },
    )


def show_the_picture_of_another(study: Study) -> Study:
    """Give two scored items of a task one image."""
    task = next(iter(study.tasks.values()))
    first, second = [study.items[each.item] for each in task.trials if study.items[each.item].use == "real"][:2]
    return with_item(study, first, image=second.image)


def distract_by_a_caption_of_the_image(study: Study) -> Study:
    """Give a check a wrong text that stands in a comparison about its image."""
    check = first_of(study, "check")
    text = (
        next(item for item in study.items.values() if item.use == "real" and item.image == check.image)
        .candidates[0]
        .text
    )
    return with_item(study, check, candidates=(check.candidates[0], replace(check.candidates[1], text=text)))


CHANGES: list[tuple[Change, str]] = [
    (lambda study: with_trials(study, lambda trials: trials.pop(0)), "it is scored and stands in 0 tasks, not in one"),
    (lambda study: with_trials(study, lambda trials: trials.append(trials[0])), "stands in 2 tasks, not in one"),
    (lambda study: with_trials(study, lambda trials: trials.append(trials[0])), "it has 6 trials, more than 5"),
    (lambda study: with_trials(study, lambda trials: trials.pop()), "0 trials whose use is instructed, not 1"),
    (lambda study: with_trials(study, lambda trials: trials.append(PlannedTrial("x", True))), "item x does not exist"),
    (
        lambda study: with_trials(study, lambda trials: trials.append(PlannedTrial(study.practice[0].id, True))),
        "it is practice and stands in a task",
    ),
    (show_the_picture_of_another, "more than once"),
    (all_on_the_right, "its text is on the right in 12 of 12 items"),
    (lambda study: with_item(study, first_of(study, "check"), gold=Gold(better="x")), "which of its texts is right"),
    (
        lambda study: with_item(study, first_of(study, "real"), gold=Gold(value=3)),
        "it is scored, and has a known answer",
    ),
    (lambda study: with_item(study, first_of(study, "instructed"), gold=Gold(value=0)), "which value of its scale"),
    (distract_by_a_caption_of_the_image, "its wrong text is one by people about its image"),
    (lambda study: replace(study, images={}), "is not among the images of the study"),
    (
        lambda study: replace(
            study, items={name: replace(item, prompt="Other?") for name, item in study.items.items()}
        ),
        "its id is not the hash of its content",
    ),
    (
        lambda study: with_item(study, first_of(study, "real"), candidates=first_of(study, "real").candidates[::-1]),
        "its reference is not the first text",
    ),
]


def test_a_plan_without_faults_has_none(study: Study) -> None:
    assert list(plan_faults(study)) == []


@pytest.mark.parametrize(("change", "message"), CHANGES, ids=[message for _, message in CHANGES])
def test_a_broken_property_is_found(change: Change, message: str, study: Study) -> None:
    assert any(message in str(fault) for fault in plan_faults(change(study)))
