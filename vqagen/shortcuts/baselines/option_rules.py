"""Rules for multiple choice that look at the options, and not at the picture.

Of options that a rule finds equally good, the first by text is taken: the order of options never decides, because files
like Visual7W's begin with the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vqagen.errors import UsageError
from vqagen.rng import shuffled, stream
from vqagen.score.gold.item import GoldItem
from vqagen.shortcuts.baselines.learning_task import Answering, Guess, LearningTask, accepted_texts, gold_text
from vqagen.shortcuts.baselines.priors import Rankings

NO_ORDER = "the file does not record the order of options that a model sees, so a position means nothing"


def random_option(learning: LearningTask) -> list[Guess]:
    """Answer with any of the options."""
    guesses = []
    for place, item in enumerate(learning.items):
        order = shuffled(stream(learning.seed, "options", place), sorted(item.options))
        share = learning.top_k * _right_options(item) / len(item.options) if item.options else 0.0
        guesses.append(Guess(tuple(order[: learning.top_k]), min(1.0, share)))
    return guesses


def option_at(learning: LearningTask, place: int) -> list[Guess]:
    """Answer with the option at a place, from 1 on; not where there are fewer options.

    Of several candidates, the options behind it come next, then those before it. Raises UsageError if the file does not
    record their order.
    """
    if any(item.options and not item.has_letters for item in learning.items):
        raise UsageError(f"no fixed position can be answered: {NO_ORDER}")
    return [
        learning.sure(
            number, (*item.options[place - 1 :], *item.options[: place - 1]) if place <= len(item.options) else ()
        )
        for number, item in enumerate(learning.items)
    ]


def most_frequent_option(learning: LearningTask) -> list[Guess]:
    """Answer with the option that is most often the right answer in the questions to learn from.

    Of equally frequent options, the one that occurs first there is taken; of unknown ones, the first by text.
    """

    def learn(trained: Sequence[GoldItem]) -> Answering:
        known = {text: number for number, text in enumerate(_ranked_texts(trained))}

        def rank(option: str) -> tuple[int, str]:
            return known.get(option, len(known)), option

        return lambda places: [
            learning.sure(place, sorted(learning.items[place].options, key=rank)) for place in places
        ]

    return learning.answer(learn)


def longest_option(learning: LearningTask) -> list[Guess]:
    """Answer with the option of most characters."""
    return _sorted_options(learning, lambda option: (-len(option), option))


def shortest_option(learning: LearningTask) -> list[Guess]:
    """Answer with the option of fewest characters."""
    return _sorted_options(learning, lambda option: (len(option), option))


def _sorted_options(learning: LearningTask, key: Callable[[str], tuple[int, str]]) -> list[Guess]:
    return [learning.sure(place, sorted(item.options, key=key)) for place, item in enumerate(learning.items)]


def _ranked_texts(trained: Sequence[GoldItem]) -> tuple[str, ...]:
    return Rankings(trained, "all").of(trained[0]).texts if trained else ()


def _right_options(item: GoldItem) -> int:
    accepted = accepted_texts(item)
    return sum(option.lower() in accepted for option in item.options)


def right_option(item: GoldItem) -> str:
    """Return the option that is right; the canonical answer if none is."""
    accepted = accepted_texts(item)
    return next((option for option in item.options if option.lower() in accepted), gold_text(item))
