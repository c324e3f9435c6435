"""Answers to multiple choice: rules that look at the options, and learners that see them with or without the question.

Each gives every option a score, and the highest is chosen. Of equal ones the first by text is named, since files like
Visual7W's begin with the right one; the expected credit is that of choosing any of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from vqagen.extras import in_one_thread
from vqagen.items.groups import Integers
from vqagen.items.guessing import Floats, Guesses, Guessing
from vqagen.items.table import NONE, Places
from vqagen.rng import stream
from vqagen.shortcuts.learners import WHAT, counted, regression, tokens

LEARNABLE = 20
"""Items below which the most frequent option is chosen."""


def choose(guessing: Guessing, ask: Places, scores: Floats) -> Guesses:
    """Return the options with the highest scores, one score for each row of `guessing.option_rows(ask)`."""
    number, rows = guessing.option_rows(ask)
    known = ~np.isnan(scores)
    number, rows, scores = number[known], rows[known], np.round(scores[known], 9)
    codes = guessing.offered.codes[rows]
    order = np.lexsort((guessing.text_order[codes], -scores, number))
    number, rows, codes, scores = number[order], rows[order], codes[order], scores[order]
    firsts = np.searchsorted(number, number)
    place, is_best = np.arange(len(number)) - firsts, scores == scores[firsts]
    ranked = np.full((len(ask), guessing.top_k), NONE, dtype=np.int32)
    taken = place < guessing.top_k
    ranked[number[taken], place[taken]] = codes[taken]
    expected = _mean(guessing.offered.credits[rows][is_best], number[is_best], len(ask))
    if guessing.top_k > 1:
        expected = np.where(np.isnan(expected), np.nan, guessing.credits(ask, ranked))
    return Guesses(ranked, expected)


def _mean(values: Floats, groups: Integers, number: int) -> Floats:
    """Return the mean of each group; NaN for one without values."""
    sizes = np.bincount(groups, minlength=number)
    return np.where(sizes > 0, np.bincount(groups, values, number) / np.maximum(1, sizes), np.nan)


# Rules ----------------------------------------------------------------------------------------------------------------


def random_option(guessing: Guessing, learn: Places, ask: Places) -> Guesses:
    """Choose any option."""
    number, rows = guessing.option_rows(ask)
    rng = np.random.RandomState(stream(guessing.seed, "options").getrandbits(32))
    drawn = rng.random_sample(len(guessing.offered.codes))
    share = _mean(guessing.offered.credits[rows], number, len(ask))
    return choose(guessing, ask, drawn[rows])._replace(expected=np.minimum(1.0, guessing.top_k * share))


def most_frequent(guessing: Guessing, learn: Places, ask: Places) -> Guesses:
    """Choose the option that is most often the right answer; of equally frequent ones, the one that occurs first."""
    counts = np.bincount(guessing.answers[learn], minlength=len(guessing.numbers)).astype(np.float64)
    codes, first = np.unique(guessing.answers[learn], return_index=True)
    counts[codes] -= first / (len(learn) + 1)
    return choose(guessing, ask, counts[guessing.offered.codes[guessing.option_rows(ask)[1]]])


def best_class(guessing: Guessing, learn: Places, ask: Places, make: Callable[[Guessing], Integers]) -> Guesses:
    """Choose the option of the class of which most are right; an option of the class NONE is not chosen.

    `make` makes a class for each option.

    Of a class with few options, that most are right may be luck: it is taken to have some more, which are wrong.
    """
    classes, taught, asked = guessing.once(make), guessing.option_rows(learn)[1], guessing.option_rows(ask)[1]
    taught = taught[classes[taught] != NONE]
    size = int(classes.max(initial=0)) + 1
    rights = np.bincount(classes[taught], guessing.offered.credits[taught], size)
    shares = rights / (np.bincount(classes[taught], minlength=size) + LEARNABLE)
    return choose(guessing, ask, np.where(classes[asked] == NONE, np.nan, shares[classes[asked]]))


def _positions(texts: Sequence[str]) -> list[int]:
    """Return a number for the position of each option and how many there are."""
    return [len(texts) ** 2 + place for place in range(len(texts))]


def _number_ranks(texts: Sequence[str]) -> list[int]:
    """Return a number for the rank of each option and how many there are; NONE where they are no numbers."""
    return [len(texts) ** 2 + rank for rank in _ranks(texts)] if are_numbers(texts) else [NONE] * len(texts)


def _of_options(guessing: Guessing, of_item: Callable[[Sequence[str]], Sequence[Any]]) -> list[Any]:
    """Return what a function of an item's options says of each, for the options of all items."""
    offered = guessing.items.options
    of_each = [of_item(options.texts) for options in offered.values]
    return [value for code in offered.codes.tolist() if code != NONE for value in of_each[code]]


def are_numbers(texts: Sequence[str]) -> bool:
    """Return true for options that are all whole numbers."""
    return all(text.isdecimal() for text in texts)


# Learning -------------------------------------------------------------------------------------------------------------


def learned_choice(guessing: Guessing, learn: Places, ask: Places, make: Callable[[Guessing], Any]) -> Guesses:
    """Choose by a model that tells right options from wrong ones by their features, which `make` makes.

    Where too few are known to learn from, the most frequent option is chosen.
    """
    features, taught, asked = guessing.once(make), guessing.option_rows(learn)[1], guessing.option_rows(ask)[1]
    is_right = guessing.offered.credits[taught] > 0
    if is_right.sum() < LEARNABLE or is_right.all() or not len(asked):
        return most_frequent(guessing, learn, ask)
    with in_one_thread(WHAT), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # not converged
        model = regression().fit(features[taught], is_right)
        return choose(guessing, ask, model.decision_function(features[asked]))


def _joined_features(guessing: Guessing) -> Any:
    """Return what is seen of each option, and what joins it with its question."""
    offered, rows = guessing.items.options, list[Sequence[str]]()
    seen = [_seen(options.texts) for options in offered.values]
    for place, code in enumerate(offered.codes.tolist()):
        if code != NONE:
            words = set(tokens(guessing.learning.texts.at(place) or ""))
            for option, row in zip(offered.values[code].texts, seen[code], strict=True):
                rows.append((*row, *_joined(option, words, int(guessing.families[place]))))
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


# Predictors -----------------------------------------------------------------------------------------------------------

position = partial(best_class, make=lambda guessing: np.array(_of_options(guessing, _positions), int))
"""Chooses the position that is most often right among items with as many options."""
number_rank = partial(best_class, make=lambda guessing: np.array(_of_options(guessing, _number_ranks), int))
"""Of numbers, chooses the rank that is most often right among items with as many options, such as the least.

Options that are no numbers get no guess. A regression over all options does not find this: of a file in which the least
number was right in .32 of the questions, it said .39 where chance was .41.
"""
choices_only = partial(learned_choice, make=lambda guessing: counted(_of_options(guessing, _seen), least=2))
"""Chooses by regression over the options: of their places, nothing is seen."""
question_and_choices = partial(learned_choice, make=_joined_features)
"""Chooses by regression over the options and the words of the question."""
