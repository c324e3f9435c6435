"""Predictors: ways to answer without the picture. Each is a function over the table of items, and a row of PREDICTORS.

What can be guessed (`stats`), whether it is more than chance (`audit`), what a guess scores (`baseline`) and the floor
of an evaluation are views of this list. To add one, write a function such as `items.guessing` shows, and its row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from vqagen.errors import UsageError
from vqagen.items.guessing import Guesses, Guessing, Predict, majority, majority_of, of_family, uniform
from vqagen.items.table import Codes, Column, Items
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
    asks: str
    """What it tests, one of ASKED; "" for a prior, which knows how often answers occur and nothing else."""
    meaning: str
    answer: Predict
    """Answers the items at the last places by what those at the first ones teach."""
    needs: str = ""
    """What items must have for it: a name of NEEDS."""
    is_learned: bool = False
    """True if scikit-learn learns it: that takes seconds, and the extra `stats`."""


ASKED = ("picture alone", "words alone", "options alone", "order and neighbours", "other questions")
"""What an audit asks of a file. OTHERS, those about the same image, fail no file: a model is asked one at a time."""
PICTURE, WORDS, CHOICES, ORDER, OTHERS = ASKED
SEVERAL = "several questions about an image"
OPTIONS, CELLS, ORDERED, NUMBERS = "options", "open cells", "options in a known order", "options that are numbers"
CHOOSING = (OPTIONS, CELLS, ORDERED, NUMBERS)
"""What predictors need that choose among options."""
NEEDS: Mapping[str, Callable[[Items], bool]] = {
    "": lambda items: True,
    "texts": lambda items: bool(items.learning.texts.values),
    "programs": lambda items: bool(items.learning.programs.values),
    "histories": lambda items: bool(items.learning.histories.values),
    SEVERAL: lambda items: len(np.unique(items.images.codes)) < len(items),
    OPTIONS: lambda items: bool(items.options.values) and items.kind != "trials",
    CELLS: lambda items: bool(items.options.values) and items.kind == "trials",
    ORDERED: lambda items: NEEDS[OPTIONS](items) and all(offered.has_letters for offered in items.options.values),
    NUMBERS: lambda items: (
        NEEDS[OPTIONS](items) and any(options.are_numbers(offered.texts) for offered in items.options.values)
    ),
}
"""What a predictor may need -> whether items have it."""

PREDICTORS = (
    Predictor("uniform", "", "any possible answer of the type", uniform),
    Predictor("majority-all", "", "the most frequent answer", majority_of("all")),
    Predictor("majority", "", "the most frequent answer of the type", majority),
    Predictor("majority-family", "", "the most frequent answer of the family", of_family),
    Predictor("order", ORDER, "regression over the numbers of image and question", learners.order, "", True),
    Predictor(
        "occurrence", ORDER, "regression over the place in the family's questions", learners.occurrence, "", True
    ),
    Predictor("previous", ORDER, "regression over the family's previous right answer", learners.previous, "", True),
    Predictor("words", WORDS, "regression over the words", learners.words, "texts", True),
    Predictor("history", WORDS, "regression over the words and those said before", learners.history, "histories", True),
    Predictor("tree", WORDS, "boosted trees over phrases and pairs of words", learners.tree, "texts", True),
    Predictor("others", OTHERS, "boosted trees over their right answers", learners.others, SEVERAL, True),
    Predictor("other-texts", OTHERS, "boosted trees over their words", learners.other_texts, SEVERAL, True),
    Predictor("random-option", "", "any option", options.random_option, OPTIONS),
    Predictor("position", CHOICES, "the position that is most often right", options.position, ORDERED),
    Predictor("number-rank", CHOICES, "of numbers, the rank that is most often right", options.number_rank, NUMBERS),
    Predictor("most-frequent-option", CHOICES, "the option most often right", options.most_frequent, OPTIONS),
    Predictor("choices-only", CHOICES, "regression over the options", options.choices_only, OPTIONS, True),
    Predictor(
        "question-and-choices",
        WORDS,
        "regression over question and options",
        options.question_and_choices,
        OPTIONS,
        is_learned=True,
    ),
    Predictor("cell", PICTURE, "the open cell that is most often right", options.most_frequent, CELLS),
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


def _clue(guessing: Guessing, rows: Sequence[Sequence[str]], place: int) -> Codes:
    """Return the class of each option by the clue at a place of its row."""
    return Column.of(row[place] for row in rows).codes


def trial_predictors(clues: Sequence[OptionClues]) -> Iterator[Predictor]:
    """Yield predictors of trials, which are the items of the guessing, by what their options tell: the open cells."""
    rows = [row for of_trial in clues for row in of_trial]
    look_alike, strict = (partial(options.best_class, make=partial(_clue, rows=rows, place=place)) for place in (0, 1))
    yield Predictor("look-alike", PICTURE, "an open item by how like the others it is", look_alike, CELLS)
    yield Predictor("strict-questions", PICTURE, "an open item by how many questions can mean it", strict, CELLS)
    grid = partial(options.learned_choice, make=lambda _: learners.counted(rows))
    yield Predictor("grid", PICTURE, "regression over the items of the grid", grid, CELLS, True)
