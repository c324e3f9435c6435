"""Policies that answer trials: the right one, each way to miss a view or words, and guesses.

A policy chooses a set of cells, of which it answers one at random; so its expected accuracy in a trial is one over the
number of chosen cells if the right one is among them. Policies see a trial as the two views of its grid.

A guess learns from the trials before: it chooses the cells that have what was most often right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple

from vqagen.bits import Objects, indexes, is_single, only, union_of
from vqagen.score.director.case import Case
from vqagen.score.director.numbers import beating
from vqagen.score.director.rules import CLASS_OF, DIRECTOR, NONE, RELATION, SIZE, VERTICAL
from vqagen.score.director.views import BEATEN_BY, RAYS, answers, ray


class Policy(NamedTuple):
    """A way to answer."""

    meaning: str
    choose: Callable[[Case], Objects]


def expected_accuracy(policy: Policy, case: Case) -> float:
    """Return the probability that a policy answers right."""
    chosen = policy.choose(case)
    return (chosen & case.trial.answer).bit_count() / max(chosen.bit_count(), 1)


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
    return _next_best(case, 1)


def _third_best(case: Case) -> Objects:
    return _next_best(case, 2)


def _last(case: Case) -> Objects:
    return _next_best(case, len(case.trial.cells))


def _next_best(case: Case, passed: int) -> Objects:
    """Return the answers that the participant would give if the own answers, so many times, were not there."""
    trial, view, found = case.trial, case.views.participant, case.own
    for _ in range(passed):
        view = view.seen(view.everything & ~found)
        rest = answers(view, trial.criteria, trial.rule)
        if not rest:
            break
        found = rest
    return found


def _random_match(case: Case) -> Objects:
    return case.fitting


def _not_extreme(case: Case) -> Objects:
    """Return the best of the items that stand at no edge, or are neither of the smallest nor the largest size."""
    trial, view = case.trial, case.views.participant
    sizes = {item.size for item in case.vocabulary.items.values()}
    inner = (
        cell
        for cell in indexes(view.everything)
        if not (
            (trial.rule in BEATEN_BY and _line(case, cell) in (0, _lines(case) - 1))
            or (CLASS_OF[trial.rule] == SIZE and case.items[trial.cells[cell] or ""].size in (min(sizes), max(sizes)))
        )
    )
    return answers(view.seen(union_of(inner)), trial.criteria, trial.rule) or case.own


def _line(case: Case, cell: int) -> int:
    """Return the row of a cell for a rule about rows, and else its column."""
    return cell // case.trial.width if CLASS_OF[case.trial.rule] == VERTICAL else cell % case.trial.width


def _lines(case: Case) -> int:
    return case.trial.height if CLASS_OF[case.trial.rule] == VERTICAL else case.trial.width


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
    "third-best": Policy("the one after that", _third_best),
    "last": Policy("the last of all fitting items by the rule, blocked or not", _last),
    "not-extreme": Policy("the best of all items but those at an edge, or of an extreme size", _not_extreme),
    "random-match": Policy("any fitting item, blocked or not", _random_match),
    "middle": Policy("the middle one of all fitting items, blocked or not", _middle),
    "ignore-rule": Policy("any open item of the description", _ignore_rule),
    "ignore-adjectives": Policy("looks for the noun only", _ignore_adjectives),
    "ignore-description": Policy("follows the rule among all open items", _ignore_description),
    "look-alike": Policy("the open item most like all others, without the instruction", _look_alike),
    "random-visible": Policy("any open item", _random_visible),
}
"""Name -> policy."""
BLIND = ("egocentric", "second-best", "third-best", "last", "not-extreme", "random-match", "middle", "rank", "place")
"""Policies and guesses that read the instruction and ignore what is blocked."""


# Guesses --------------------------------------------------------------------------------------------------------------


class Guess(NamedTuple):
    """A way to guess: what of each cell is compared with the cells that were right before."""

    meaning: str
    look: Callable[[Case], Mapping[int, Hashable]]
    """The cells to choose from, each with what is known of it."""


class Guesser:
    """Guesses the answers of trials, one after the other, and learns each."""

    def __init__(self, guess: Guess) -> None:
        self._look = guess.look
        self._right: Counter[Hashable] = Counter()
        self._seen: Counter[Hashable] = Counter()

    def take(self, case: Case) -> float:
        """Return the probability that the guess is right, and learn the right answer."""
        looks = self._look(case)
        rates = {cell: (self._right[look] + 1) / (self._seen[look] + 8) for cell, look in looks.items()}
        most = max(rates.values(), default=0.0)
        chosen = union_of(cell for cell, rate in rates.items() if rate == most)
        self._seen.update(looks.values())
        self._right.update(look for cell, look in looks.items() if case.trial.answer >> cell & 1)
        return 1 / chosen.bit_count() if chosen & case.trial.answer else 0.0


def _by_cell(case: Case) -> Mapping[int, Hashable]:
    grid = case.trial.width, case.trial.height
    return {cell: (grid, cell) for cell in range(len(case.trial.cells))}


def _by_open_cell(case: Case) -> Mapping[int, Hashable]:
    grid = case.trial.width, case.trial.height
    return {cell: (grid, cell) for cell in indexes(case.views.director.everything)}


def _by_rank(case: Case) -> Mapping[int, Hashable]:
    fitting, rule_class = case.fitting, CLASS_OF[case.trial.rule]
    return {cell: (rule_class, fitting.bit_count(), beating(case, cell).bit_count()) for cell in indexes(fitting)}


def _by_place(case: Case) -> Mapping[int, Hashable]:
    trial, ranks = case.trial, _by_rank(case)
    if CLASS_OF[trial.rule] == SIZE:
        return {cell: (trial.rule, rank, case.items[trial.cells[cell] or ""].size) for cell, rank in ranks.items()}
    return {cell: (trial.rule, rank, _line(case, cell)) for cell, rank in ranks.items()}


def _by_likeness(case: Case) -> Mapping[int, Hashable]:
    trial, everything = case.trial, case.views.participant.everything
    words = {cell: case.items[trial.cells[cell] or ""].true for cell in indexes(everything)}
    found: dict[int, Hashable] = {}
    for cell in indexes(case.views.director.everything):
        shared = {other: len(words[cell] & words[other]) for other in words if other != cell}
        blocked = [number for other, number in shared.items() if trial.blocked >> other & 1]
        seen = [number for other, number in shared.items() if not trial.blocked >> other & 1]
        found[cell] = max(blocked, default=0), max(seen, default=0), sum(number > 2 for number in shared.values())
    return found


GUESSES: Mapping[str, Guess] = {
    "rank": Guess("the k-th best of n fitting items, blocked or not, as was most often right", _by_rank),
    "place": Guess("the same by the line or size of the items", _by_place),
    "cell": Guess("the cell that was most often right", _by_cell),
    "open-cell": Guess("the open item in the cell that was most often right", _by_open_cell),
    "likeness": Guess("the open item as like others as those that were right, without the instruction", _by_likeness),
}
"""Name -> guess. They need a file: its trials in their order."""
