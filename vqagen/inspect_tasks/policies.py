"""Policies that answer trials without a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from vqagen.bits import Objects, indexes
from vqagen.judge.director.rules import PARTICIPANT
from vqagen.judge.director.trial import Trial, label
from vqagen.judge.director.views import Views, answers, fitting, views_of
from vqagen.judge.director.vocabulary import Item
from vqagen.rng import pick, stream

Policy = Callable[[Trial, Views], Objects]

POLICIES: Mapping[str, Policy] = {
    "oracle": lambda trial, views: answers(views.unmirrored, trial.criteria, trial.rule),
    "egocentric": lambda trial, views: answers(views.participant, trial.criteria, trial.rule),
    "no-flip": lambda trial, views: answers(views.unmirrored, trial.criteria, trial.spoken_rule(trial.frame)),
    "random-visible": lambda trial, views: views.director.everything,
    "ignore-rule": lambda trial, views: fitting(views.director, trial.criteria),
}


def cells_of_policies(trial: Trial, items: Mapping[str, Item], has_director: bool = True) -> dict[str, str]:
    """Return the cell that each policy answers with: policy -> label. Without a director, no cell is blocked."""
    if not has_director:
        trial = replace(trial, blocked=0, frame=PARTICIPANT)
    views = views_of(trial, items)
    found = {name: list(indexes(policy(trial, views))) for name, policy in POLICIES.items()}
    return {
        name: label(pick(stream(0, f"policy {name}", trial.index), cells), trial.width)
        for name, cells in found.items()
        if cells
    }
