"""Checks of a trial's answers: who sees what, and what each of the two answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vqagen.bits import indexes, is_single
from vqagen.score.director.case import Case, Check
from vqagen.score.director.rules import CLASS_OF, CONTROL, HORIZONTAL, MIRRORED, NONE, RELATION, SIZE, TEST
from vqagen.score.director.trial import TrialFault, label
from vqagen.score.director.views import answers


def _one_answer(case: Case) -> Iterator[TrialFault]:
    trial = case.trial
    if not is_single(case.gold):
        yield TrialFault("O4", "answer", f"the director means {trial.labels(case.gold)}, and must mean one cell")
    if trial.answer != case.gold:
        written, right = trial.labels(trial.answer), trial.labels(case.gold)
        yield TrialFault("O4", "answer", f"written as {written}, but the director means {right}")
    if trial.answer & trial.blocked:
        yield TrialFault("O4", "answer", f"{trial.labels(trial.answer)} is blocked")
    for cell, name in enumerate(trial.cells):
        if name is not None and not case.items[name].is_clear(trial.criteria):
            doubtful = ", ".join(sorted(trial.criteria & case.items[name].unclear))
            message = f"{label(cell, trial.width)} holds {name}, of which people may not agree that it is: {doubtful}"
            yield TrialFault("O4", f"cells[{cell}]", message)


def _own_answers(case: Case) -> Iterator[TrialFault]:
    trial = case.trial
    if trial.participant_answers != case.own:
        written, right = trial.labels(trial.participant_answers), trial.labels(case.own)
        yield TrialFault("O3", "participant_answers", f"written as {written}, but the participant's are {right}")


def _type(case: Case) -> Iterator[TrialFault]:
    trial, own, gold = case.trial, case.own, case.gold
    said = f"the director means {trial.labels(gold)}, the participant {trial.labels(own)}"
    if trial.type == CONTROL and own != gold:
        yield TrialFault("O5", "trial_type", f"a control trial with two answers: {said}")
    if trial.type == TEST and own == gold:
        yield TrialFault("O6", "trial_type", f"a test trial with one answer: {said}")
    elif trial.type == TEST and own & ~gold & ~trial.blocked:
        in_open = trial.labels(own & ~gold & ~trial.blocked)
        yield TrialFault("O6", "blocked", f"the participant's answer {in_open} is not blocked")


def _test_answers(case: Case) -> Iterator[TrialFault]:
    trial, own, gold = case.trial, case.own, case.gold
    if trial.type != TEST:
        return
    if trial.rule == NONE and not own & ~gold & trial.blocked:
        message = f"the participant's answers are {trial.labels(own)}; none is a blocked one more"
        yield TrialFault("O8", "cells", message)
    if trial.rule != NONE and own != gold and (own & gold or not is_single(own)):
        message = f"the participant's own answer must be one other cell than {trial.labels(gold)}: {trial.labels(own)}"
        yield TrialFault("O7", "cells", message)


def _needed_rule(case: Case) -> Iterator[TrialFault]:
    trial = case.trial
    if CLASS_OF[trial.rule] not in (NONE, RELATION) and case.open_fitting.bit_count() < 2:
        message = f"the director sees no second item of the description: {trial.rule} says nothing"
        yield TrialFault("O9", "rule", message)


def _needed_adjectives(case: Case) -> Iterator[TrialFault]:
    trial = case.trial
    for place, adjective in enumerate(trial.adjectives):
        if case.with_criteria(frozenset({trial.noun, *trial.adjectives} - {adjective})) == case.gold:
            yield TrialFault("O10", f"adjectives[{place}]", f"without {adjective!r} the director means the same item")


def _other_frame(case: Case) -> Iterator[TrialFault]:
    trial = case.trial
    if CLASS_OF[trial.rule] == HORIZONTAL:
        flipped = answers(case.views.director, trial.criteria, trial.rule)
        if flipped & case.gold:
            yield TrialFault("O11", "answer", f"{trial.rule} and {MIRRORED[trial.rule]} give the same answer")


def _comparable_sizes(case: Case) -> Iterator[TrialFault]:
    trial = case.trial
    if CLASS_OF[trial.rule] != SIZE:
        return
    names = [trial.cells[cell] for cell in indexes(case.fitting)]
    kinds = sorted({case.items[name].kind for name in names if name is not None})
    if len(kinds) > 1:
        yield TrialFault("O12", "cells", f"items of several kinds are compared in size: {', '.join(kinds)}")


ANSWER_CHECKS: Sequence[Check] = (
    _one_answer,
    _own_answers,
    _type,
    _test_answers,
    _needed_rule,
    _needed_adjectives,
    _other_frame,
    _comparable_sizes,
)
