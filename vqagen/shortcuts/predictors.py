"""Predictors: ways to answer without the picture. Each is a function over the table of items, and a row of PREDICTORS.

What can be guessed (`stats`), whether it is more than chance (`audit`), what a guess scores (`baseline`) and the floor
of an evaluation are views of this list. To add one, write a function such as `items.guessing` shows, and its row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vqagen.errors import UsageError
from vqagen.items.guessing import Floats, Guesses, Guessing, Predict, majority, majority_of, of_family, uniform
from vqagen.items.table import NONE, Items, Places
from vqagen.shortcuts import learners, options
from vqagen.tasks.contract import OptionClues

OnGuess = Callable[[int, int], None]
"""Called before each predictor answers, and after the last, with the number of those that have answered, and of all."""


def not_shown(done: int, total: int) -> None:
    """Show no progress."""


def in_turn(predictors: Sequence[Predictor], on_guess: OnGuess) -> Iterator[Predictor]:
    """Yield predictors one by one, and report how many have answered."""
    for number, predictor in enumerate(predictors):
        on_guess(number, len(predictors))
        yield predictor
    on_guess(len(predictors), len(predictors))


class Predictor(NamedTuple):
    """A row of PREDICTORS."""

    name: str
    meaning: str
    answer: Predict
    """Answers the items at the last places by what those at the first ones teach."""
    needs: str = ""
    """What items must have for it: a name of NEEDS."""
    is_learned: bool = False
    """True if scikit-learn learns it: that takes seconds, and the extra `stats`."""
    sees_answers: bool = False
    """True if it reads right answers to items about the very image, which no model has: no reason to fail an audit."""


OPTIONS, CELLS, ORDERED, NUMBERS = "options", "open cells", "options in a known order", "options that are numbers"
CHOOSING = (OPTIONS, CELLS, ORDERED, NUMBERS)
"""What predictors need that choose among options."""
NEEDS: Mapping[str, Callable[[Items], bool]] = {
    "": lambda items: True,
    "texts": lambda items: bool(items.learning.texts.values),
    "programs": lambda items: bool(items.learning.programs.values),
    "histories": lambda items: bool(items.learning.histories.values),
    "several questions about an image": lambda items: len(np.unique(items.images.codes)) < len(items),
    OPTIONS: lambda items: bool(items.options.values) and items.kind != "trials",
    CELLS: lambda items: bool(items.options.values) and items.kind == "trials",
    ORDERED: lambda items: NEEDS[OPTIONS](items) and all(offered.has_letters for offered in items.options.values),
    NUMBERS: lambda items: (
        NEEDS[OPTIONS](items) and any(options.are_numbers(offered.texts) for offered in items.options.values)
    ),
}
"""What a predictor may need -> whether items have it."""

PREDICTORS = (
    Predictor("uniform", "any possible answer of the type", uniform),
    Predictor("majority-all", "the most frequent answer", majority_of("all")),
    Predictor("majority", "the most frequent answer of the type", majority),
    Predictor("majority-family", "the most frequent answer of the family", of_family),
    Predictor("order", "regression over the numbers of image and question", learners.order, "", True),
    Predictor("words", "regression over the words", learners.words, "texts", True),
    Predictor("history", "regression over the words and those said before", learners.history, "histories", True),
    Predictor("tree", "boosted trees over the phrases of the program", learners.tree, "programs", True),
    Predictor(
        "others",
        "boosted trees over the answers to other questions about the image",
        learners.others,
        "several questions about an image",
        is_learned=True,
        sees_answers=True,
    ),
    Predictor("random-option", "any option", options.random_option, OPTIONS),
    Predictor("position", "the position that is most often right", options.position, ORDERED),
    Predictor("number-rank", "of numbers, the rank that is most often right", options.number_rank, NUMBERS),
    Predictor("most-frequent-option", "the option that is most often right", options.most_frequent, OPTIONS),
    Predictor("choices-only", "regression over the options", options.choices_only, OPTIONS, True),
    Predictor(
        "question-and-choices", "regression over question and options", options.question_and_choices, OPTIONS, True
    ),
    Predictor("cell", "the open cell that is most often right", options.most_frequent, CELLS),
)
"""All predictors, from the weakest to the strongest."""
NAMED = {predictor.name: predictor for predictor in PREDICTORS}
RETIRED: Mapping[str, str] = {
    "majority-question": "`words` learns from the text, and `majority-family` counts",
    "prior": "`uniform` draws answers, and `majority` counts them",
    **dict.fromkeys(
        ("least-number", "greatest-number", "median-number"),
        "`number-rank` chooses the rank that is most often right",
    ),
    **dict.fromkeys(
        ("longest-option", "shortest-option", "most-neighbors"),
        "`choices-only` learns from the options, their lengths and what stands beside them",
    ),
    "open-cell": "`cell` answers with the open cell that is most often right",
    **dict.fromkeys(
        ("oracle", "noisy-oracle-0.05", "noisy-oracle-0.1", "noisy-oracle-0.2", "wrong-image", "scene-blind"),
        "`vqagen verify` runs programs on their scenes; `tree` learns from programs",
    ),
}
"""Predictor that version 2.0 removed -> what to use instead."""


def applicable(items: Items) -> Iterator[Predictor]:
    """Yield the predictors that have what they need."""
    return (predictor for predictor in PREDICTORS if NEEDS[predictor.needs](items))


def predict(predictor: Predictor, guessing: Guessing) -> Guesses:
    """Return the answers of a predictor to all items; those that no split asks for have none.

    UsageError if the items lack what it needs.
    """
    if not NEEDS[predictor.needs](guessing.items):
        raise UsageError(f"{predictor.name} needs {predictor.needs}: {guessing.items.name} has none")
    return guessing.predict(predictor.answer)


def known(name: str, meaning: str, scores: Floats) -> Predictor:
    """Return the predictor whose probabilities of a right answer are known of all items; NaN where it has no guess."""

    def answer(guessing: Guessing, learn: Places, ask: Places) -> Guesses:
        return Guesses(np.full((len(ask), 1), NONE), scores[ask])

    return Predictor(name, meaning, answer)


def trial_predictors(clues: Sequence[OptionClues]) -> Iterator[Predictor]:
    """Yield predictors of trials, which are the items of the guessing, by what their options tell: the open cells."""
    alike = np.array([share for share, _ in clues])
    yield known("look-alike", "the open item most like all others, without the instruction", alike)

    def features(guessing: Guessing) -> Any:
        return learners.counted([row for _, rows in clues for row in rows])

    def grid(guessing: Guessing, learn: Places, ask: Places) -> Guesses:
        return options.learned_choice(guessing, learn, ask, guessing.once(features)) or options.random_option(
            guessing, learn, ask
        )

    yield Predictor("grid", "regression over the items of the grid, without the instruction", grid, CELLS, True)
