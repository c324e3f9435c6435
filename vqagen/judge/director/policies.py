"""Policies that answer trials: the right one, each way to miss a view or words, and guesses.

A policy chooses a set of cells, of which it answers one at random; so its expected accuracy in a trial is one over the
number of chosen cells if the right one is among them. Policies see a trial as the two views of its grid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from vqagen.bits import Objects, indexes, is_single, only, union_of
from vqagen.judge.director.case import Case
from vqagen.judge.director.numbers import beating
from vqagen.judge.director.rules import CLASS_OF, DIRECTOR, NONE, RELATION
from vqagen.judge.director.views import RAYS, answers, ray


class Policy(NamedTuple):
    """A way to answer."""

    meaning: str
    choose: Callable[[Case], Objects]


def expected_accuracy(policy: Policy, case: Case) -> float:
    """Return the probability that a policy answers right."""
    chosen = policy.choose(case)
    return 1 / chosen.bit_count() if chosen & case.trial.answer else 0.0


def _oracle(case: Case) -> Objects:
    return case.gold


def _egocentric(case: Case) -> Objects:
    return case.own


def _no_flip(case: Case) -> Objects:
    return answers(case.views.unmirrored, case.trial.criteria, _heard(case))


def _self_centered(case: Case) -> Objects:
    return answers(case.views.participant, case.trial.criteria, _heard(case))


def _heard(case: Case) -> str:
    """Return the rule as its words sound to someone who takes left and right for his own."""
    return case.trial.spoken_rule(case.trial.frame or DIRECTOR)


def _visible_only(case: Case) -> Objects:
    return case.own & ~case.trial.blocked or _ignore_rule(case)


def _ignore_rule(case: Case) -> Objects:
    if CLASS_OF[case.trial.rule] != RELATION:
        return case.open_fitting
    if not is_single(case.fitting):
        return 0
    found = 0
    for rule in RAYS:
        found |= ray(only(case.fitting), case.views.unmirrored, rule)
    return found


def _ignore_adjectives(case: Case) -> Objects:
    return case.with_criteria(frozenset({case.trial.noun}))


def _ignore_description(case: Case) -> Objects:
    if CLASS_OF[case.trial.rule] == RELATION:
        return _random_visible(case)
    return answers(case.views.unmirrored, frozenset(), case.trial.rule)


def _random_visible(case: Case) -> Objects:
    return case.views.director.everything


def _middle(case: Case) -> Objects:
    """Return the fitting items in the middle of all by the rule; two for an even number, and all without a rule."""
    if CLASS_OF[case.trial.rule] in (NONE, RELATION):
        return case.fitting
    by_rank = sorted(indexes(case.fitting), key=lambda cell: beating(case, cell).bit_count())
    return union_of(by_rank[(len(by_rank) - 1) // 2 : len(by_rank) // 2 + 1])


def _second_best(case: Case) -> Objects:
    """Return the answers that the participant would give if the own answers were not there."""
    trial, rest = case.trial, case.views.participant.seen(case.views.participant.everything & ~case.own)
    return answers(rest, trial.criteria, trial.rule)


def _look_alike(case: Case) -> Objects:
    """Return the open items that have the most words in common with all other items, whatever the instruction says."""
    cells = indexes(case.views.participant.everything)
    words = {cell: case.items[case.trial.cells[cell] or ""].true for cell in cells}
    alike = {
        cell: sum(len(words[cell] & words[other]) for other in cells if other != cell)
        for cell in indexes(case.views.director.everything)
    }
    return union_of(cell for cell, number in alike.items() if number == max(alike.values()))


POLICIES: Mapping[str, Policy] = {
    "oracle": Policy("takes the director's view and words", _oracle),
    "egocentric": Policy("answers for all items, blocked ones too", _egocentric),
    "no-flip": Policy("takes the director's view, but left and right for the own ones", _no_flip),
    "self-centered": Policy("does neither", _self_centered),
    "visible-only": Policy("egocentric; any open fitting item if that answer is blocked", _visible_only),
    "second-best": Policy("the next best of all items, blocked or not", _second_best),
    "middle": Policy("the middle one of all fitting items, blocked or not", _middle),
    "ignore-rule": Policy("any open item of the description", _ignore_rule),
    "ignore-adjectives": Policy("looks for the noun only", _ignore_adjectives),
    "ignore-description": Policy("follows the rule among all open items", _ignore_description),
    "look-alike": Policy("the open item most like all others, without the instruction", _look_alike),
    "random-visible": Policy("any open item", _random_visible),
}
"""Name -> policy. Others, which guess by how often cells are right, need a whole file; see `statistics`."""
