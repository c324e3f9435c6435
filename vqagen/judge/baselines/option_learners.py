"""Learned rules for multiple choice: logistic regression over the options alone, or with the question.

Each option is one row: its text and words, its rank by length and by number, and each of the options beside it. With
the question, each of its words is joined with the option. The option with the highest probability is the answer.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from vqagen.extras import needed
from vqagen.judge.baselines.option_rules import most_frequent_option, right_option
from vqagen.judge.baselines.study import Answering, Guess, Study
from vqagen.judge.gold.item import GoldItem

LEARNABLE = 20
"""Questions below which the most frequent option is the answer."""
_COLUMNS = 1 << 18


def choices_only(study: Study) -> list[Guess]:
    """Answer by regression over the options alone."""
    return _learned(study, False)


def question_and_choices(study: Study) -> list[Guess]:
    """Answer by regression over the options and the words of the question."""
    return _learned(study, True)


def _learned(study: Study, with_question: bool) -> list[Guess]:
    text = needed("sklearn.feature_extraction.text", "stats", "a baseline that learns")
    models = needed("sklearn.linear_model", "stats", "a baseline that learns")
    hashed = text.HashingVectorizer(analyzer=lambda row: row, n_features=_COLUMNS, alternate_sign=False, norm=None)
    most_frequent = most_frequent_option(study)

    def learn(trained: Sequence[GoldItem]) -> Answering:
        rows = [list(row) for item in trained for row in _rows(item, with_question)]
        right = [option == right_option(item) for item in trained for option in _ordered(item)]
        if len(trained) < LEARNABLE or len(set(right)) < 2:
            return lambda places: [most_frequent[place] for place in places]
        model: Any = models.LogisticRegression(C=1.0, max_iter=200)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # not converged
            model.fit(hashed.transform(rows), right)

        def answer(places: Sequence[int]) -> list[Guess]:
            asked = [list(row) for place in places for row in _rows(study.items[place], with_question)]
            scores = iter(model.decision_function(hashed.transform(asked)).tolist() if asked else ())
            guesses = []
            for place in places:
                ranked = sorted((-next(scores), option) for option in _ordered(study.items[place]))
                guesses.append(study.sure(place, [option for _, option in ranked]))
            return guesses

        return answer

    with needed("threadpoolctl", "stats", "a baseline that learns").threadpool_limits(1):
        return study.answer(learn)


def _ordered(item: GoldItem) -> list[str]:
    """Return the options by text: their order in the file tells nothing of the picture, and may tell the answer."""
    return sorted(item.options)


def _rows(item: GoldItem, with_question: bool) -> Iterator[Iterator[str]]:
    """Yield the features of each option."""
    options = _ordered(item)
    words = re.findall(r"\w+", item.question.lower()) if with_question else []
    said = [*words, *map(" ".join, pairwise(words))]
    for option in options:
        yield _features(option, options, said)


def _features(option: str, options: Sequence[str], said: Sequence[str]) -> Iterator[str]:
    yield f"option={option.lower()}"
    yield from (f"word={word}" for word in re.findall(r"\w+", option.lower()))
    yield from (f"{option.lower()}|beside={other.lower()}" for other in options if other != option)
    yield f"length={sorted(map(len, options)).index(len(option))}"
    if all(other.isdecimal() for other in options):
        yield f"number={sorted(map(int, options)).index(int(option))}"
    yield from (f"{word}|{option.lower()}" for word in said)
