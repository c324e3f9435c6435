"""The baselines by name, from the weakest to the strongest: the rungs of a ladder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from vqagen.errors import UsageError, unknown
from vqagen.shortcuts.baselines import option_learners, option_rules, priors, text_learners
from vqagen.shortcuts.baselines.execution import Executed, ProgramRunner
from vqagen.shortcuts.baselines.learning_task import Guess, LearningTask

POSITIONS = range(1, 11)
"""Positions of options that have a baseline each."""
NOISE = (0.05, 0.1, 0.2)
"""Shares of values that are misread, each of which has a baseline."""
OTHER_SCENES = 20
"""Other scenes on which wrong-image runs a program."""
IMAGINED_SCENES = 100
"""Imagined scenes on which scene-blind runs a program."""


@dataclass(frozen=True)
class Rung:
    """A baseline: its name, what it says of itself, and how it answers."""

    name: str
    meaning: str
    answer: Callable[[LearningTask], list[Guess]] | None = None
    run: Callable[[ProgramRunner, LearningTask], Executed] | None = None
    """For a baseline that runs programs on scenes."""
    options: int = 0
    """Options that a question must have, so that there is anything to answer."""


_RUNGS = (
    Rung("uniform", "any possible answer of the type", priors.uniform),
    Rung("majority-all", "the most frequent answer", partial(priors.majority, per="all")),
    Rung("majority", "the most frequent answer of the type", partial(priors.majority, per="type")),
    Rung("majority-family", "the most frequent answer of the family", partial(priors.majority, per="family")),
    Rung("majority-question", "the most frequent answer of the text", partial(priors.majority, per="question")),
    Rung("prior", "an answer drawn as often as it is right in the type", partial(priors.prior, per="type")),
    Rung("learned", "regression over the words", text_learners.learned),
    Rung("random-option", "any option", option_rules.random_option, options=1),
    *(
        Rung(
            f"option-at-{place}", "the option at a position", partial(option_rules.option_at, place=place), None, place
        )
        for place in POSITIONS
    ),
    Rung(
        "most-frequent-option",
        "the option that is most often right",
        option_rules.most_frequent_option,
        options=1,
    ),
    Rung("longest-option", "the longest", option_rules.longest_option, options=1),
    Rung("shortest-option", "the shortest", option_rules.shortest_option, options=1),
    Rung("choices-only", "regression over the options", option_learners.choices_only, options=1),
    Rung(
        "question-and-choices",
        "regression over question and options",
        option_learners.question_and_choices,
        options=1,
    ),
    Rung(
        "wrong-image",
        "the program run on other scenes",
        run=lambda runner, learning: runner.wrong_image(learning, OTHER_SCENES),
    ),
    Rung(
        "scene-blind",
        "the program run on imagined scenes",
        run=lambda runner, learning: runner.scene_blind(learning, IMAGINED_SCENES),
    ),
    *(
        Rung(
            f"noisy-oracle-{rate}",
            "the program run on misread scenes",
            run=partial(ProgramRunner.noisy_oracle, rate=rate),
        )
        for rate in NOISE
    ),
    Rung("oracle", "the program run on its scene", run=ProgramRunner.oracle),
)
RUNGS = {rung.name: rung for rung in _RUNGS}
"""Name -> baseline, in the order of the ladder."""


class Answered(NamedTuple):
    """The guesses of a baseline, and a note for people."""

    rung: Rung
    guesses: Sequence[Guess]
    note: str = ""


def answer_all(rung: Rung, learning: LearningTask, runner: ProgramRunner | None) -> Answered:
    """Return the guesses of a baseline. Raises UsageError if the files lack what it needs."""
    if rung.options and not any(item.options for item in learning.items):
        raise UsageError(f"{rung.name} needs multiple choice: the questions have no options (see --mode)")
    if rung.run is not None:
        if runner is None:
            raise UsageError(f"{rung.name} runs programs on scenes: give --scenes")
        executed = rung.run(runner, learning)
        return Answered(rung, executed.guesses, executed.notes())
    assert rung.answer is not None
    return Answered(rung, rung.answer(learning))


def find_rung(name: str) -> Rung:
    """Return the baseline of a name. Raises UsageError if there is none."""
    if name not in RUNGS:
        raise UsageError(unknown("baseline", name, [*RUNGS, "all"]))
    return RUNGS[name]


def ladder(learning: LearningTask, has_scenes: bool) -> Iterator[Rung]:
    """Yield the baselines that the files allow."""
    most = max((len(item.options) for item in learning.items), default=0)
    has_order = all(item.has_letters for item in learning.items if item.options)
    for rung in RUNGS.values():
        is_fixed = rung.name.startswith("option-at")
        if rung.options <= most and (has_order or not is_fixed) and (has_scenes or rung.run is None):
            yield rung
