"""Policies that answer trials: the right one, each way to miss a view or words, and guesses.

A policy chooses a set of cells, of which it answers one at random; so its expected accuracy in a trial is one over the
number of chosen cells if the right one is among them. Policies see a trial as the two views of its grid.

    views = Views(read_trial(record, catalogue))
    meaning, choose = POLICIES["egocentric"]
    choose(views)                        # a set of cells
    expected_accuracy(choose, views)     # 0.0 in a test trial with a rule

A guess learns from the trials before: it chooses the cells that have what was most often right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

from vqagen.bits import Objects, indexes, union_of
from vqagen.tasks.director.rules import (
    CLASS_OF,
    NONE,
    RELATION,
    SIZE,
    STEPS,
    VERTICAL,
)
from vqagen.tasks.director.views import Views

Choose = Callable[[Views], Objects]
"""A way to answer: any of these cells."""
Look = Callable[[Views], Mapping[int, Hashable]]
"""A way to guess: the cells to choose from, each with what is compared with the cells that were right before."""


def expected_accuracy(choose: Choose, views: Views) -> float:
    """Return the probability that a policy answers right."""
    chosen = choose(views)
    return (chosen & views.trial.answer).bit_count() / max(chosen.bit_count(), 1)


def _ignore_rule(views: Views) -> Objects:
    if CLASS_OF[views.trial.rule] != RELATION:
        return views.fitting & views.open
    cells = 0
    for rule in STEPS:
        cells |= views.ahead(views.fitting, views.open, rule)
    return cells


def _middle(views: Views) -> Objects:
    """Return the fitting items in the middle of all by the rule; two for an even number, and all without a rule."""
    if CLASS_OF[views.trial.rule] in (NONE, RELATION):
        return views.fitting
    by_rank = sorted(indexes(views.fitting), key=lambda cell: _number_beating(views, cell))
    return union_of(by_rank[(len(by_rank) - 1) // 2 : len(by_rank) // 2 + 1])


def _next_best(passed: int) -> Choose:
    """Return the answers that the participant would give if the own answers, so many times, were not there."""

    def choose(views: Views) -> Objects:
        trial, seen, answers = views.trial, views.all, views.own
        for _ in range(passed):
            seen &= ~answers
            rest = views.picked(seen, trial.criteria, trial.rule)
            if not rest:
                break
            answers = rest
        return answers

    return choose


def _not_extreme(views: Views) -> Objects:
    """Return the best of the items that stand at no edge, or are neither of the smallest nor the largest size."""
    trial, rule_class = views.trial, CLASS_OF[views.trial.rule]
    inner = views.all
    for cell in indexes(inner) if rule_class not in (NONE, RELATION) else ():
        if rule_class == SIZE:
            is_extreme = _size(views, cell) in (1, views.largest)
        else:
            is_extreme = _line(views, cell) in (0, (trial.height if rule_class == VERTICAL else trial.width) - 1)
        inner &= ~(is_extreme << cell)
    return views.picked(inner, trial.criteria, trial.rule) or views.own


def _look_alike(views: Views) -> Objects:
    """Return the open items that have the most words in common with all other items, whatever the instruction says."""
    alike = {cell: sum(_shared_words(views, cell).values()) for cell in indexes(views.open)}
    return union_of(cell for cell, number in alike.items() if number == max(alike.values()))


POLICIES: Mapping[str, tuple[str, Choose]] = {
    "oracle": ("takes the director's view and words", lambda views: views.gold),
    "egocentric": ("answers for all items, blocked ones too", lambda views: views.own),
    "no-flip": (
        "takes the director's view, but left and right for the own ones",
        lambda views: views.picked(views.open, views.trial.criteria, views.heard),
    ),
    "self-centered": ("does neither", lambda views: views.picked(views.all, views.trial.criteria, views.heard)),
    "visible-only": (
        "egocentric; any open fitting item if that answer is blocked",
        lambda views: views.own & ~views.trial.blocked or _ignore_rule(views),
    ),
    "second-best": ("the next best of all items, blocked or not", _next_best(1)),
    "third-best": ("the one after that", _next_best(2)),
    "last": ("the last of all fitting items by the rule, blocked or not", _next_best(1000)),
    "not-extreme": ("the best of all items but those at an edge, or of an extreme size", _not_extreme),
    "random-match": ("any fitting item, blocked or not", lambda views: views.fitting),
    "middle": ("the middle one of all fitting items, blocked or not", _middle),
    "ignore-rule": ("any open item of the description", _ignore_rule),
    "ignore-adjectives": (
        "looks for the noun only",
        lambda views: views.picked(views.open, frozenset({views.trial.noun}), views.trial.rule),
    ),
    "ignore-description": (
        "follows the rule among all open items",
        lambda views: (
            views.open
            if CLASS_OF[views.trial.rule] == RELATION
            else views.picked(views.open, frozenset(), views.trial.rule)
        ),
    ),
    "look-alike": ("the open item most like all others, without the instruction", _look_alike),
    "random-visible": ("any open item", lambda views: views.open),
}
"""Name of a policy -> its meaning, and what it chooses."""
BLIND = ("egocentric", "second-best", "third-best", "last", "not-extreme", "random-match", "middle", "rank", "place")
"""Policies and guesses that read the instruction and ignore what is blocked."""


# Guesses --------------------------------------------------------------------------------------------------------------


def guessed(look: Look, trials: Iterable[Views]) -> Iterator[float]:
    """Yield the probability that a guess is right in each trial, of which it then learns the right answer."""
    right, seen = Counter[Hashable](), Counter[Hashable]()
    for views in trials:
        looks = look(views)
        rates = {cell: (right[looked] + 1) / (seen[looked] + 8) for cell, looked in looks.items()}
        most = max(rates.values(), default=0.0)
        chosen = union_of(cell for cell, rate in rates.items() if rate == most)
        seen.update(looks.values())
        right.update(looked for cell, looked in looks.items() if views.trial.answer >> cell & 1)
        yield 1 / chosen.bit_count() if chosen & views.trial.answer else 0.0


def _by_cell(cells: Choose) -> Look:
    return lambda views: {cell: (views.trial.width, views.trial.height, cell) for cell in indexes(cells(views))}


def _by_rank(views: Views) -> Mapping[int, Hashable]:
    rule_class, number = CLASS_OF[views.trial.rule], views.fitting.bit_count()
    return {cell: (rule_class, number, _number_beating(views, cell)) for cell in indexes(views.fitting)}


def _by_place(views: Views) -> Mapping[int, Hashable]:
    measure = _size if CLASS_OF[views.trial.rule] == SIZE else _line
    return {cell: (views.trial.rule, rank, measure(views, cell)) for cell, rank in _by_rank(views).items()}


def _by_likeness(views: Views) -> Mapping[int, Hashable]:
    looks: dict[int, Hashable] = {}
    for cell in indexes(views.open):
        shared = _shared_words(views, cell)
        blocked, seen = (
            [shared[other] for other in shared if views.open >> other & 1 == is_open] for is_open in (0, 1)
        )
        looks[cell] = max(blocked, default=0), max(seen, default=0), sum(number > 2 for number in shared.values())
    return looks


GUESSES: Mapping[str, tuple[str, Look]] = {
    "rank": ("the k-th best of n fitting items, blocked or not, as was most often right", _by_rank),
    "place": ("the same by the line or size of the items", _by_place),
    "cell": ("the cell that was most often right", _by_cell(lambda views: (1 << len(views.trial.cells)) - 1)),
    "open-cell": ("the open item in the cell that was most often right", _by_cell(lambda views: views.open)),
    "likeness": ("the open item as like others as those that were right, without the instruction", _by_likeness),
}
"""Name of a guess -> its meaning, and what it looks at. They need a file: its trials in their order."""


# Looks of cells -------------------------------------------------------------------------------------------------------


def _number_beating(views: Views, cell: int) -> int:
    """Return how many fitting items the rule puts before the item of a cell; without a rule, all others."""
    if CLASS_OF[views.trial.rule] in (NONE, RELATION):
        return (views.fitting & ~(1 << cell)).bit_count()
    ranks = views.ranks(views.trial.rule)
    return sum(ranks[other] < ranks[cell] for other in indexes(views.fitting))


def _size(views: Views, cell: int) -> int:
    item = views.items[cell]
    return item.size if item else 0


def _line(views: Views, cell: int) -> int:
    """Return the row of a cell for a rule about rows, and else its column."""
    width = views.trial.width
    return cell // width if CLASS_OF[views.trial.rule] == VERTICAL else cell % width


def _shared_words(views: Views, cell: int) -> dict[int, int]:
    """Return for each other item how many words are true of both."""
    true = {other: item.true for other, item in enumerate(views.items) if item}
    return {other: len(true[cell] & words) for other, words in true.items() if other != cell}


def seen(views: Views, cell: int) -> list[str]:
    """Return what is seen of the item in an open cell: where it is, and what is like it."""
    trial, chosen = views.trial, views.items[cell]
    assert chosen is not None
    column, row = cell % trial.width, cell // trial.width
    others = {other: views.items[other] for other in indexes(views.all & ~(1 << cell))}
    blocked = {other: item for other, item in others.items() if trial.blocked >> other & 1}
    near = [other for other in blocked if abs(other % trial.width - column) + abs(other // trial.width - row) == 1]
    features = [
        f"{trial.width}x{trial.height} cell {cell}",
        f"column {column}",
        f"row {row}",
        f"item {chosen.name}",
        *(f"word {word}" for word in sorted(chosen.true)),
        f"blocked items beside, {len(near)}",
        f"items, tenth {10 * len(others) // len(trial.cells)}",
    ]
    for name, beside in (("all", others), ("blocked", blocked)):
        items = [item for item in beside.values() if item]
        kin = [item.size for item in items if item.kind == chosen.kind]
        shared = [len(chosen.true & item.true) for item in items]
        features += [
            f"shared with {name}, {sum(shared)}",
            f"shared at most with {name}, {max(shared, default=0)}",
            f"kind among {name}, {len(kin)}",
            f"larger of kind among {name}, {sum(size > chosen.size for size in kin)}",
            f"smaller of kind among {name}, {sum(size < chosen.size for size in kin)}",
        ]
    return features
