"""The baselines by name, from the weakest to the strongest: the rungs of a ladder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from vqagen.errors import UsageError, unknown
from vqagen.judge.baselines import option_learners, option_rules, priors, text_learners
from vqagen.judge.baselines.execution import Executed, ProgramRunner
from vqagen.judge.baselines.learning_task import Guess, LearningTask
from vqagen.judge.baselines.settings import PER, BaselineSettings

NOISE = (0.05, 0.1, 0.2)
"""Rates at which the ladder shows the noisy oracle."""


@dataclass(frozen=True)
class Rung:
    """A baseline: its name, what it says of itself, and how it answers."""

    name: str
    meaning: str
    answer: Callable[[LearningTask, BaselineSettings], list[Guess]] | None = None
    run: Callable[[ProgramRunner, LearningTask, BaselineSettings], Executed] | None = None
    """For a baseline that runs programs on scenes."""
    needs_options: bool = False
    shown: str = ""
    """The setting that the ladder names behind the rung, such as `per`."""

    def title(self, settings: BaselineSettings) -> str:
        """Return the name with the setting that matters for it."""
        return f"{self.name} {getattr(settings, self.shown)}" if self.shown else self.name


_RUNGS = (
    Rung("uniform", "any possible answer of the type", lambda learning, _: priors.uniform(learning)),
    Rung(
        "majority",
        "the most frequent answer of the group",
        lambda learning, chosen: priors.majority(learning, chosen.per),
        shown="per",
    ),
    Rung(
        "prior",
        "an answer drawn as often as it is right",
        lambda learning, chosen: priors.prior(learning, chosen.per),
        shown="per",
    ),
    Rung("learned", "regression over the words", lambda learning, _: text_learners.learned(learning)),
    Rung("naive-bayes", "naive Bayes over the words", lambda learning, _: text_learners.naive_bayes(learning)),
    Rung(
        "nearest",
        "as the most similar questions",
        lambda learning, chosen: text_learners.nearest(learning, chosen.neighbours),
        shown="neighbours",
    ),
    Rung("random-option", "any option", lambda learning, _: option_rules.random_option(learning), needs_options=True),
    Rung(
        "option-at",
        "the option at a position",
        lambda learning, chosen: option_rules.option_at(learning, chosen.position - 1),
        needs_options=True,
        shown="position",
    ),
    Rung(
        "most-frequent-option",
        "the option that is most often right",
        lambda learning, _: option_rules.most_frequent_option(learning),
        needs_options=True,
    ),
    Rung(
        "longest-option", "the longest", lambda learning, _: option_rules.longest_option(learning), needs_options=True
    ),
    Rung(
        "shortest-option",
        "the shortest",
        lambda learning, _: option_rules.shortest_option(learning),
        needs_options=True,
    ),
    Rung(
        "choices-only",
        "regression over the options",
        lambda learning, _: option_learners.choices_only(learning),
        needs_options=True,
    ),
    Rung(
        "question-and-choices",
        "regression over question and options",
        lambda learning, _: option_learners.question_and_choices(learning),
        needs_options=True,
    ),
    Rung(
        "wrong-image",
        "the program run on other scenes",
        run=lambda runner, learning, chosen: runner.wrong_image(learning, chosen.runs),
    ),
    Rung(
        "scene-blind",
        "the program run on imagined scenes",
        run=lambda runner, learning, chosen: runner.scene_blind(learning, chosen.imagined),
    ),
    Rung(
        "noisy-oracle",
        "the program run on misread scenes",
        run=lambda runner, learning, chosen: runner.noisy_oracle(learning, chosen.rate),
        shown="rate",
    ),
    Rung("oracle", "the program run on its scene", run=lambda runner, learning, _: runner.oracle(learning)),
)
RUNGS = {rung.name: rung for rung in _RUNGS}
"""Name -> baseline, in the order of the ladder."""


class Answered(NamedTuple):
    """The guesses of a baseline, and a note for people."""

    rung: Rung
    title: str
    guesses: Sequence[Guess]
    note: str = ""


def answer_all(
    rung: Rung, learning: LearningTask, settings: BaselineSettings, runner: ProgramRunner | None
) -> Answered:
    """Return the guesses of a baseline. Raises UsageError if the files lack what it needs."""
    title = rung.title(settings)
    if rung.needs_options and not any(item.options for item in learning.items):
        raise UsageError(f"{rung.name} needs multiple choice: the questions have no options (see --mode)")
    if rung.run is not None:
        if runner is None:
            raise UsageError(f"{rung.name} runs programs on scenes: give --scenes")
        executed = rung.run(runner, learning, settings)
        return Answered(rung, title, executed.guesses, executed.notes())
    assert rung.answer is not None
    return Answered(rung, title, rung.answer(learning, settings))


def find_rung(name: str) -> Rung:
    """Return the baseline of a name. Raises UsageError if there is none."""
    if name not in RUNGS:
        raise UsageError(unknown("baseline", name, [*RUNGS, "all"]))
    return RUNGS[name]


def ladder(
    learning: LearningTask, settings: BaselineSettings, has_scenes: bool
) -> Iterator[tuple[Rung, BaselineSettings]]:
    """Yield the baselines that the files allow, each with its settings; some with several."""
    most = max((len(item.options) for item in learning.items), default=0)
    has_order = all(item.has_letters for item in learning.items if item.options)
    varied: dict[str, list[BaselineSettings]] = {
        "majority": [replace(settings, per=per) for per in PER],
        "nearest": [replace(settings, neighbours=number) for number in (1, 5)],
        "option-at": [replace(settings, position=number + 1) for number in range(most if has_order else 0)],
        "noisy-oracle": [replace(settings, rate=rate) for rate in NOISE],
    }
    for rung in _RUNGS:
        if (rung.needs_options and not most) or (rung.run is not None and not has_scenes):
            continue
        for chosen in varied.get(rung.name, [settings]):
            yield rung, chosen
