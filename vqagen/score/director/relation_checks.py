"""Checks of trials that ask for the item next to a reference object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vqagen.bits import Objects, is_single, only
from vqagen.score.director.case import Case, Check
from vqagen.score.director.rules import CLASS_OF, RELATION, TEST
from vqagen.score.director.trial import TrialFault
from vqagen.score.director.views import ray


def on_ray(case: Case) -> Objects:
    """Return all items in the direction of the relation; no item if the reference object is not the only one."""
    if not is_single(case.fitting):
        return 0
    return ray(only(case.fitting), case.views.participant, case.trial.rule)


def _reference(case: Case) -> Iterator[TrialFault]:
    trial = case.trial
    if not is_single(case.fitting):
        message = f"the reference object must be the only one of its description, found {trial.labels(case.fitting)}"
        yield TrialFault("R1", "cells", message)
    elif case.fitting & trial.blocked:
        yield TrialFault("R1", "blocked", f"the reference object in {trial.labels(case.fitting)} is blocked")


def _nearest(case: Case) -> Iterator[TrialFault]:
    trial, visible = case.trial, on_ray(case) & ~case.trial.blocked
    if is_single(case.fitting) and not trial.answer & visible:
        message = (
            f"{trial.labels(trial.answer)} is none of the items that the director sees there: {trial.labels(visible)}"
        )
        yield TrialFault("R2", "answer", message)


def _before_answer(case: Case) -> Iterator[TrialFault]:
    trial, own = case.trial, case.own
    is_nearer = bool(own & trial.blocked)
    if is_nearer != (trial.type == TEST):
        nearest = f"the nearest item is in {trial.labels(own)}, which is {'' if is_nearer else 'not '}blocked"
        yield TrialFault("R4", "blocked", f"a {trial.type} trial, but {nearest}")


def _in_catalogue(case: Case) -> Iterator[TrialFault]:
    if case.vocabulary.items and not case.vocabulary.has_item(case.trial.criteria):
        yield TrialFault("R5", "noun", "the catalogue has no item of this description")


_CHECKS: Sequence[Check] = (_reference, _nearest, _before_answer, _in_catalogue)


def _relation_checks(case: Case) -> Iterator[TrialFault]:
    if CLASS_OF[case.trial.rule] == RELATION:
        for check in _CHECKS:
            yield from check(case)


RELATION_CHECKS: Sequence[Check] = (_relation_checks,)
