r"""Rewards for reinforcement learning: one scorer of replies, in the shapes that trainers call.

    TRL       reward_funcs=[accuracy, format]
    EasyR1    worker.reward.reward_function: <file>:easyr1_score, reward_type batch or sequential
    verl      custom_reward_function.path: <file>, custom_reward_function.name: verl_score

`grounding` rewards answers that are places, and `hops` the places in a reasoning; `easyr1_grounding`, `verl_hops` and
so on are their other shapes.

`<file>` is `rewards.__file__`. Rewards are strict, as a policy finds whatever a lenient reader lets pass. What counts
is the last complete `<answer>…</answer>` or `\boxed{…}`, else the reply as a whole; text in other tags never does. It
earns the reward if it is one answer of the asked type, with article, full stop or its option's letter: "a cube." is
cube, and "red cube" is neither. Rewards are 0 or 1 unless partial credit is asked for. No reply raises an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import orjson

from vqagen.errors import Problem, UsageError, unknown, warn
from vqagen.items.answers import (
    ANSWER_TYPES,
    BOOL,
    CELL,
    INTEGER,
    LIST,
    NO_VOCABULARY,
    PLACES,
    TEXT,
    WORD,
    Vocabulary,
    read_answer,
    vocabulary_of,
)
from vqagen.items.table import Gold, Options
from vqagen.language.domain_files import SHIPPED_DOMAINS
from vqagen.score.answers.finders import LETTERS
from vqagen.score.answers.judging import judge
from vqagen.score.answers.replies import strict_answer
from vqagen.score.place_rewards import (
    easyr1_grounding as easyr1_grounding,
    easyr1_hops as easyr1_hops,
    grounding as grounding,
    grounding_score as grounding_score,
    hops as hops,
    hops_score as hops_score,
    verl_grounding as verl_grounding,
    verl_hops as verl_hops,
)
from vqagen.score.rewarding import (
    FORMAT_WEIGHT as FORMAT_WEIGHT,
    HOW_TO_REPLY as HOW_TO_REPLY,
    Completion,
    Figures,
    Inputs,
    cell_text,
    figures_of,
    format_score as format_score,
    of_easyr1,
    reply_of as reply_of,
    value_of,
)

_KIND_OF = {type: kind for kind, type in ANSWER_TYPES.items()}
_LISTED = re.compile(r",\s")


def score(
    reply: Completion,
    answer: object,
    answer_type: str | None = None,
    choices: Sequence[str] | None = None,
    *,
    domain: str | None = None,
    partial: bool = False,
) -> float:
    """Return the reward for a reply, from 0 to 1.

    `answer_type` is one of `items.answers.ANSWER_TYPES`, found from the answer if it is missing. `choices` are options
    that the model saw: a letter names one. `domain` tells which words are values: a shipped domain's name, a folder, or
    a file's `vocabulary` as JSON; by default the first shipped domain that has the answer. Without it, replies are
    compared as whole texts, and InputWarning says so.
    `partial` gives half the reward for a count that is off by one, a quarter if by two, and so on. Raises UsageError
    for a missing answer and an unknown type; never for a reply, which earns nothing if it is no text.

    >>> score("<think>…</think> <answer>two</answer>", "2"), score("It is red.", "red", "value")
    (1.0, 0.0)
    """
    gold, options, vocabulary = _asked(answer, answer_type, choices, domain)
    given = strict_answer(reply_of(reply), gold, options, vocabulary)
    if given is None:
        return 0.0
    if partial and isinstance(right := gold.answers[0], int) and gold.kind == INTEGER:
        number = read_answer(given, INTEGER, vocabulary)
        return 0.5 ** abs(number - right) if isinstance(number, int) and number >= 0 else 0.0
    if gold.kind == PLACES:  # by the numbers of objects: points and boxes are rewarded by `grounding`
        return float(read_answer(given, PLACES, vocabulary) == gold.answers[0])
    return judge([given], gold, options, vocabulary=vocabulary).credits[0]


def credit(
    reply: Completion,
    answer: object,
    answer_type: str | None = None,
    choices: Sequence[str] | None = None,
    *,
    domain: str | None = None,
) -> float:
    """Return the credit that `vqagen evaluate` gives for a reply: it may be free text, so it is no reward.

    >>> credit("The cube is red.", "red", "value"), score("The cube is red.", "red", "value")
    (1.0, 0.0)
    """
    gold, options, vocabulary = _asked(answer, answer_type, choices, domain)
    if gold.kind == PLACES:
        return score(reply, answer, answer_type, choices, domain=domain)
    return judge([reply_of(reply)], gold, options, vocabulary=vocabulary).credits[0]


def _asked(
    answer: object, answer_type: object, choices: Any, domain: object
) -> tuple[Gold, Options | None, Vocabulary]:
    """Return the right answer, the options and the words that answers are made of, from the cells of a table."""
    text, answer_type, choices, domain = cell_text(answer), *map(value_of, (answer_type, choices, domain))
    if text is None:
        raise UsageError("a reply cannot be rewarded: its row has no right answer; leave out rows without one")
    if not isinstance(choices, list | tuple | None):
        raise UsageError(f"expected a list of choices, found {choices!r}")
    texts = tuple(map(str, choices or (LETTERS if not answer_type and text in LETTERS else ())))
    if text in LETTERS[: len(texts)] and text not in texts:
        text = texts[LETTERS.index(text)]
    vocabulary = _vocabulary(domain and str(domain), text, answer_type)
    kind = _kind(text, answer_type, vocabulary)
    read = read_answer(text, kind, vocabulary)
    return Gold(kind, (text if read is None else read,)), Options(texts, None) if texts else None, vocabulary


def _kind(text: str, answer_type: Any, vocabulary: Vocabulary) -> str:
    """Return the kind of an answer. Values may be a list, which datasets give the type `value` too.

    Without a type, a letter alone names an option, and is not a short yes or no.
    """
    if answer_type and answer_type not in _KIND_OF:
        raise UsageError(unknown("answer type", answer_type, list(_KIND_OF)))
    kinds = (BOOL, INTEGER, CELL) if len(text) > 1 or text.isdigit() else ()
    found = (kind for kind in kinds if read_answer(text, kind, NO_VOCABULARY) is not None)
    kind = _KIND_OF[answer_type] if answer_type else next(found, WORD if vocabulary.words else TEXT)
    return LIST if kind == WORD and _LISTED.search(text) else kind


@cache
def _vocabulary(domain: str | None, answer: str, answer_type: object) -> Vocabulary:
    """Return the words of the domain, or of the first shipped one, that has all words of the answer."""
    names = [domain] if domain else list(SHIPPED_DOMAINS)
    said = _LISTED.split(answer.lower())
    found = next((each for each in map(words_of, names) if all(word in each.words for word in said)), NO_VOCABULARY)
    is_sure = domain or found.words or answer in LETTERS or answer_type in (TEXT, PLACES)
    if not is_sure and _kind(answer, None, found) == TEXT:
        _warn_unknown("no column `domain`")
    return found


@cache
def words_of(domain: str) -> Vocabulary:
    """Return the words of a shipped domain, of one in a folder, or of a file's `vocabulary` as JSON."""
    made = {"vocabulary": orjson.loads(domain)} if domain.startswith("{") else {"domain": domain}
    found = vocabulary_of({"generator": made}, are_dialogs=False)
    if not found.words:  # a dataset may be used where its domain is not
        _warn_unknown(f"domain {domain[:40]!r}")
    return found


@cache
def _warn_unknown(what: str) -> None:
    """Warn once of what does not say which words are values."""
    warn(
        Problem(
            f"{what}: its words are not known, so that replies are compared as whole texts; export again", "rewards"
        )
    )


# TRL ------------------------------------------------------------------------------------------------------------------


def accuracy(prompts: object = None, completions: Sequence[Completion] = (), **columns: Any) -> list[float | None]:
    """Return the `score` of each completion, as TRL calls a reward; None for a row without answer.

    `prompts` is not used.
    `columns` are those of the dataset, each with a value for every completion: `answer` or `solution`, and if there are
    any `answer_type`, `choices` and `domain`. Raises UsageError if there is neither an answer nor a solution.
    """
    return _scores(completions, columns, partial=False)


def partial_accuracy(
    prompts: object = None, completions: Sequence[Completion] = (), **columns: Any
) -> list[float | None]:
    """Return what `accuracy` does, with partial credit for counts."""
    return _scores(completions, columns, partial=True)


def format(prompts: object = None, completions: Sequence[Completion] = (), **columns: Any) -> list[float]:
    """Return the `format_score` of each completion, as TRL calls a reward."""
    return [format_score(each) for each in completions]


def _scores(completions: Sequence[Completion], columns: Mapping[str, Any], partial: bool) -> list[float | None]:
    given = {name: column for name, column in columns.items() if column is not None}
    answers = given.get("answer", given.get("solution"))
    if answers is None:
        raise UsageError("a reward needs a column `answer` or `solution`; TRL hands over all columns of the dataset")
    nothing = [None] * len(completions)
    columns = {name: given.get(name, nothing) for name in ("answer_type", "choices", "domain")} | {"answer": answers}
    if wrong := [name for name, cells in columns.items() if isinstance(cells, str) or len(cells) != len(completions)]:
        raise UsageError(f"a reward needs a value for each of {len(completions)} completions in {', '.join(wrong)}")
    return [
        None if cell_text(answer) is None else score(completion, answer, kind, options, domain=domain, partial=partial)
        for completion, kind, options, domain, answer in zip(completions, *columns.values(), strict=True)
    ]


# EasyR1 and verl ------------------------------------------------------------------------------------------------------


def easyr1_score(reward_inputs: Inputs, format_weight: float = FORMAT_WEIGHT) -> Figures | list[Figures]:
    """Return `overall`, `format` and `accuracy` of a reply, or of each of a batch, as EasyR1 calls a reward.

    An input has `response` and `ground_truth`, and may have `answer_type`, `choices` and `domain`. Raises UsageError
    without a ground truth.
    """
    return of_easyr1(_accuracy_of, "accuracy", reward_inputs, format_weight)


def verl_score(
    data_source: str,
    solution_str: Completion,
    ground_truth: object,
    extra_info: Mapping[str, Any] | None = None,
    format_weight: float = FORMAT_WEIGHT,
    **_: Any,
) -> Figures:
    """Return `score`, with `acc` and `format` for the log, as verl calls a reward.

    `extra_info` may have `answer_type`, `choices` and `domain`. `data_source` is not used. Raises UsageError
    without a ground truth.
    """
    about = {**(extra_info or {}), "ground_truth": ground_truth}
    both = figures_of(_accuracy_of, "accuracy", solution_str, about, format_weight)
    return {"score": both["overall"], "acc": both["accuracy"], "format": both["format"]}


def _accuracy_of(reply: Completion, about: Mapping[str, Any]) -> float:
    right, kind = about.get("ground_truth"), about.get("answer_type")
    return score(reply, right, kind, about.get("choices"), domain=about.get("domain"))
