"""Learned rules for multiple choice: logistic regression over the options alone, or with the question.

Each option is one row of features: its text and words, its rank by length and by number, and each of the options beside
it. With the question, each of its words is joined with the option. The option with the highest score is the answer.
`vqagen audit` learns the same rules.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from vqagen.extras import in_one_thread, needed
from vqagen.score.gold.item import GoldItem
from vqagen.shortcuts.baselines.learning_task import Answering, Guess, LearningTask, family_of, type_of
from vqagen.shortcuts.baselines.option_rules import most_frequent_option, right_option

LEARNABLE = 20
"""Questions below which the most frequent option is the answer."""
LEAST_COUNT = 2
"""Options in which a feature must occur to be learned from."""
Features = Sequence[Sequence[str]]
"""The features of each option of one question."""
_WORD = re.compile(r"\w+")


def choices_only(learning: LearningTask) -> list[Guess]:
    """Answer by regression over the options alone."""
    return _learned(learning, False)


def question_and_choices(learning: LearningTask) -> list[Guess]:
    """Answer by regression over the options and the words of the question."""
    return _learned(learning, True)


def _learned(learning: LearningTask, with_question: bool) -> list[Guess]:
    most_frequent = most_frequent_option(learning)

    def learn(trained: Sequence[GoldItem]) -> Answering:
        known = [item for item in trained if right_option(item) in item.options]
        rights = [_ordered(item).index(right_option(item)) for item in known]
        if len(known) < LEARNABLE or not any(len(item.options) > 1 for item in known):
            return lambda places: [most_frequent[place] for place in places]

        def answer(places: Sequence[int]) -> list[Guess]:
            asked = [learning.items[place] for place in places]
            scores = option_scores(
                [_features(item, with_question) for item in known],
                rights,
                [_features(item, with_question) for item in asked],
            )
            guesses = []
            for place, item, own in zip(places, asked, scores, strict=True):
                ranked = sorted((-score, option) for score, option in zip(own, _ordered(item), strict=True))
                guesses.append(learning.sure(place, [option for _, option in ranked]))
            return guesses

        return answer

    return learning.answer(learn)


def _ordered(item: GoldItem) -> list[str]:
    """Return the options by text: what their positions tell is left to `option-at`."""
    return sorted(item.options)


def _features(item: GoldItem, with_question: bool) -> Features:
    options = _ordered(item)
    if not with_question:
        return option_features(options)
    return features_with_question(option_features(options), options, item.question, family_of(item) or type_of(item))


# Features and learning, for the audit too -----------------------------------------------------------------------------


def option_features(options: Sequence[str]) -> list[tuple[str, ...]]:
    """Return what is seen of each option: itself, its words, its ranks, and the others beside it."""
    lengths, ranks = [len(option) for option in options], _ranks(options)
    return [
        (
            f"is {option}",
            *(f"has {word}" for word in sorted(_words(option))),
            f"length {sum(length < lengths[place] for length in lengths)}",
            f"rank {ranks[place]}",
            *(f"is {option} beside {other}" for other in options if other != option),
        )
        for place, option in enumerate(options)
    ]


def features_with_question(seen: Features, options: Sequence[str], question: str, family: str) -> Features:
    """Return features of options with those that join each option with a question."""
    words = _words(question)
    return [(*own, *_joined(option, words, family)) for own, option in zip(seen, options, strict=True)]


def _joined(option: str, words: set[str], family: str) -> Iterator[str]:
    yield f"is {option} in {family}"
    yield f"said {len(words & _words(option))}"
    for word in sorted(words):
        yield f"is {option} with {word}"


def _ranks(options: Sequence[str]) -> list[int]:
    """Return the rank of each option: of numbers by size, of others by the number of words they share with others."""
    if are_numbers(options):
        values = [float(option) for option in options]
    else:
        words = list(map(_words, options))
        values = [float(sum(len(own & other) for other in words)) for own in words]
    return [sum(other < value for other in values) for value in values]


def are_numbers(options: Sequence[str]) -> bool:
    """Return true for options that are all whole numbers."""
    return all(option.isdecimal() for option in options)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def option_scores(trained: Sequence[Features], rights: Sequence[int], asked: Sequence[Features]) -> list[list[float]]:
    """Return the score of each option of the asked questions; the highest is most likely to be right.

    Learns which options are right from other questions, whose right options have these places. Learning runs in one
    thread, so that scores are the same everywhere; they are rounded, so that equal ones are.
    """
    what = "a rule that is learned"
    text, linear = (needed(f"sklearn.{name}", "stats", what) for name in ("feature_extraction.text", "linear_model"))
    counting = text.CountVectorizer(analyzer=_row, binary=True, min_df=LEAST_COUNT)
    labels = [place == right for options, right in zip(trained, rights, strict=True) for place in range(len(options))]
    model: Any = linear.LogisticRegression(C=0.1, max_iter=300)
    with in_one_thread(what), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # not converged
        model.fit(counting.fit_transform([own for options in trained for own in options]), labels)
        rows = [own for options in asked for own in options]
        scores = iter(np.round(model.decision_function(counting.transform(rows)), 9).tolist() if rows else ())
    return [[next(scores) for _ in options] for options in asked]


def _row(features: Sequence[str]) -> Sequence[str]:
    """Return the features of an option with one that all options have, so that none has no features."""
    return (*features, "")
