"""Answers to multiple choice: rules that look at the options, and learners that see them with or without the question.

Each gives every option a score, and the highest is chosen. Of equal ones the first by text is named, since files like
Visual7W's begin with the right one; the expected credit is that of choosing any of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from vqagen.extras import in_one_thread
from vqagen.items.groups import Integers
from vqagen.items.table import NONE, Places
from vqagen.rng import stream
from vqagen.shortcuts.learners import WHAT, counted, regression, tokens
from vqagen.shortcuts.task import Floats, Guesses, Task

LEARNABLE = 20
"""Items below which the most frequent option is chosen."""


def choose(task: Task, ask: Places, scores: Floats) -> Guesses:
    """Return the options with the highest scores, one score for each row of `task.option_rows(ask)`."""
    number, rows = task.option_rows(ask)
    known = ~np.isnan(scores)
    number, rows, scores = number[known], rows[known], np.round(scores[known], 9)
    codes = task.offered.codes[rows]
    order = np.lexsort((task.text_order[codes], -scores, number))
    number, rows, codes, scores = number[order], rows[order], codes[order], scores[order]
    firsts = np.searchsorted(number, number)
    place, is_best = np.arange(len(number)) - firsts, scores == scores[firsts]
    ranked = np.full((len(ask), task.top_k), NONE, dtype=np.int32)
    taken = place < task.top_k
    ranked[number[taken], place[taken]] = codes[taken]
    expected = _mean(task.offered.credits[rows][is_best], number[is_best], len(ask))
    if task.top_k > 1:
        expected = np.where(np.isnan(expected), np.nan, task.credits(ask, ranked))
    return Guesses(ranked, expected)


def _mean(values: Floats, groups: Integers, number: int) -> Floats:
    """Return the mean of each group; NaN for one without values."""
    sizes = np.bincount(groups, minlength=number)
    return np.where(sizes > 0, np.bincount(groups, values, number) / np.maximum(1, sizes), np.nan)


# Rules ----------------------------------------------------------------------------------------------------------------


def random_option(task: Task, learn: Places, ask: Places) -> Guesses:
    """Choose any option."""
    number, rows = task.option_rows(ask)
    drawn = np.random.RandomState(stream(task.seed, "options").getrandbits(32)).random_sample(len(task.offered.codes))
    share = _mean(task.offered.credits[rows], number, len(ask))
    return choose(task, ask, drawn[rows])._replace(expected=np.minimum(1.0, task.top_k * share))


def position(task: Task, learn: Places, ask: Places) -> Guesses:
    """Choose the position that is most often right among items with as many options."""

    def positions(places: Places) -> tuple[Integers, Integers]:
        number, rows = task.option_rows(places)
        sizes = np.bincount(number, minlength=len(places))[number]
        return rows, sizes * (sizes + 1) + np.arange(len(number)) - np.searchsorted(number, number)

    (taught, theirs), (_, own) = positions(learn), positions(ask)
    rights = np.bincount(theirs, task.offered.credits[taught], int(own.max(initial=0)) + 1)
    return choose(task, ask, rights[own].astype(np.float64))


def most_frequent(task: Task, learn: Places, ask: Places) -> Guesses:
    """Choose the option that is most often the right answer; of equally frequent ones, the one that occurs first."""
    counts = np.bincount(task.answers[learn], minlength=len(task.numbers)).astype(np.float64)
    codes, first = np.unique(task.answers[learn], return_index=True)
    counts[codes] -= first / (len(learn) + 1)
    return choose(task, ask, counts[task.offered.codes[task.option_rows(ask)[1]]])


def are_numbers(texts: Sequence[str]) -> bool:
    """Return true for options that are all whole numbers."""
    return all(text.isdecimal() for text in texts)


# Learning -------------------------------------------------------------------------------------------------------------


def choices_only(task: Task, learn: Places, ask: Places) -> Guesses:
    """Choose by regression over the options."""
    return _learned(task, learn, ask, task.once("options", lambda: _features(task, with_question=False)))


def question_and_choices(task: Task, learn: Places, ask: Places) -> Guesses:
    """Choose by regression over the options and the words of the question."""
    return _learned(task, learn, ask, task.once("asked", lambda: _features(task, with_question=True)))


def _learned(task: Task, learn: Places, ask: Places, features: Any) -> Guesses:
    """Choose by a model that tells the right options of other items from wrong ones."""
    return learned_choice(task, learn, ask, features) or most_frequent(task, learn, ask)


def learned_choice(task: Task, learn: Places, ask: Places, features: Any) -> Guesses | None:
    """Choose by a model that tells right options from wrong ones by their features; None if it has too few to learn."""
    taught, asked = task.option_rows(learn)[1], task.option_rows(ask)[1]
    is_right = task.offered.credits[taught] > 0
    if is_right.sum() < LEARNABLE or is_right.all() or not len(asked):
        return None
    with in_one_thread(WHAT), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # not converged
        model = regression(task)
        model.fit(features[taught], is_right)
        return choose(task, ask, model.decision_function(features[asked]))


def _features(task: Task, with_question: bool) -> Any:
    """Return what is seen of each option: of its place, nothing."""
    offered, rows = task.items.options, list[Sequence[str]]()
    seen = [_seen(each.texts) for each in offered.values]
    for place, code in enumerate(offered.codes.tolist()):
        if code != NONE and with_question:
            words = set(tokens(task.learning.texts.at(place) or ""))
            for option, own in zip(offered.values[code].texts, seen[code], strict=True):
                rows.append((*own, *_joined(option, words, int(task.families[place]))))
        elif code != NONE:
            rows += seen[code]
    return counted(rows, least=2)


def _seen(options: Sequence[str]) -> list[tuple[str, ...]]:
    """Return what is seen of each option: itself, its words, its ranks, and the others beside it."""
    lengths, ranks = [len(option) for option in options], _ranks(options)
    return [
        (
            f"is {option}",
            *(f"has {word}" for word in sorted(set(tokens(option)))),
            f"length {sum(length < lengths[place] for length in lengths)}",
            f"rank {ranks[place]}",
            *(f"is {option} beside {other}" for other in options if other != option),
        )
        for place, option in enumerate(options)
    ]


def _joined(option: str, words: set[str], family: int) -> Iterator[str]:
    """Yield what joins an option with a question: the family, the number of words said, and each of these."""
    yield f"is {option} in {family}"
    yield f"said {len(words & set(tokens(option)))}"
    for word in sorted(words):
        yield f"is {option} with {word}"


def _ranks(options: Sequence[str]) -> list[int]:
    """Return the rank of each option: of numbers by size, of others by the number of words they share with others."""
    if are_numbers(options):
        values = [float(option) for option in options]
    else:
        words = [set(tokens(option)) for option in options]
        values = [float(sum(len(own & other) for other in words)) for own in words]
    return [sum(other < value for other in values) for value in values]
