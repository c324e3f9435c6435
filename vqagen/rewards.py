"""Rewards for reinforcement learning: one scorer of replies, in the shapes that trainers call.

    TRL       reward_funcs=[accuracy, format]
    EasyR1    worker.reward.reward_function: <file>:easyr1_score, reward_type batch or sequential
    verl      custom_reward_function.path: <file>, custom_reward_function.name: verl_score

`<file>` is `rewards.__file__`. A reply is read as `vqagen evaluate` reads it (`score.answers`): by the type of the
answer, and never in two ways, so that "2 or 3" earns nothing. Rewards are 0 or 1 unless partial credit is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import orjson

from vqagen.errors import Problem, UsageError, unknown, warn
from vqagen.language.domain_files import SHIPPED_DOMAINS
from vqagen.score.answers.judging import judge
from vqagen.score.answers.kinds import (
    BOOL,
    CELL,
    INTEGER,
    LIST,
    NO_VOCABULARY,
    TEXT,
    WORD,
    Vocabulary,
    read_answer,
    vocabulary_of,
)
from vqagen.score.items.table import Gold, Options

KIND_OF = {"count": INTEGER, "yes/no": BOOL, "value": WORD, **{kind: kind for kind in (CELL, LIST, TEXT)}}
"""Type of an answer, as datasets write it -> its kind, as it is scored."""
LETTERS = tuple("ABCDEFGH")
"""Answers that are options of a question whose texts are not known, as those which EasyR1 hands over."""
_LISTED = re.compile(r",\s")
_WITHOUT_TAGS = r"(?:(?!</?(?:think|answer)>).)*?"
FORMAT = re.compile(
    rf"\s*<think>{_WITHOUT_TAGS}</think>\s*<answer>(?=\s*[^\s<]){_WITHOUT_TAGS}</answer>\s*", re.DOTALL | re.IGNORECASE
)
_TAGGED = re.compile(r"\s*<answer>(.*)</answer>\s*", re.DOTALL | re.IGNORECASE)
HOW_TO_REPLY = (
    "First think between <think> and </think>, then give nothing but the answer between <answer> and </answer>, such as"
    " <think>…</think> <answer>…</answer>."
)
"""The end of a system message that asks for the `FORMAT`."""
FORMAT_WEIGHT = 0.1
"""Share of the format in the rewards of EasyR1 and verl, which take one number."""


def score(
    reply: str,
    answer: object,
    answer_type: str | None = None,
    choices: Sequence[str] | None = None,
    *,
    domain: str | None = None,
    partial: bool = False,
) -> float:
    """Return the reward for a reply, from 0 to 1.

    `answer_type` is a key of `KIND_OF`, found from the answer if it is missing. `choices` are options that the model
    saw: a letter names one. `domain` tells which words are values: a shipped domain's name, a folder, or a file's
    `vocabulary` as JSON; by default the first shipped domain that has the answer. Without it, replies are compared as
    whole texts, and InputWarning says so.
    `partial` gives half the reward for a count that is off by one, a quarter if by two, and so on. Raises UsageError
    for an unknown type.

    >>> score("<think>…</think> <answer>two</answer>", "2"), score("It is red or blue.", "red", "value")
    (1.0, 0.0)
    """
    text = _text(answer)
    if not choices and not answer_type and text in LETTERS:
        choices = LETTERS  # so that "B) red" says B, as it does where the options are known
    vocabulary = _vocabulary(domain, text)
    kind = _kind(text, answer_type, vocabulary)
    read = read_answer(text, kind, vocabulary)
    gold = Gold(kind, (text if read is None else read,))
    judged = judge([reply], gold, Options(tuple(choices), None) if choices else None, vocabulary=vocabulary)
    if partial and kind == INTEGER and isinstance(read, int):
        given = read_answer(judged.given, INTEGER, vocabulary)
        return 0.5 ** abs(given - read) if isinstance(given, int) else 0.0
    return judged.credits[0]


def format_score(reply: str) -> float:
    """Return 1 if a reply is `<think>…</think><answer>…</answer>`, each once and the answer not empty; otherwise 0."""
    return float(FORMAT.fullmatch(reply) is not None)


def _text(answer: object) -> str:
    """Return an answer without the tags of a `solution`."""
    text = str(answer)
    tagged = _TAGGED.fullmatch(text)
    return (tagged[1] if tagged else text).strip()


def _kind(text: str, answer_type: str | None, vocabulary: Vocabulary) -> str:
    """Return the kind of an answer. Values may be a list, which datasets give the type `value` too."""
    if answer_type and answer_type not in KIND_OF:
        raise UsageError(unknown("answer type", answer_type, list(KIND_OF)))
    kind = KIND_OF[answer_type] if answer_type else _kind_of(text, vocabulary)
    return LIST if kind == WORD and _LISTED.search(text) else kind


def _kind_of(text: str, vocabulary: Vocabulary) -> str:
    """Return the kind of an answer without a type. A letter alone names an option, and is not a short yes or no."""
    kinds = (BOOL, INTEGER, CELL) if len(text) > 1 or text.isdigit() else ()
    found = next((kind for kind in kinds if read_answer(text, kind, NO_VOCABULARY) is not None), None)
    return found or (WORD if vocabulary.words else TEXT)


@cache
def _vocabulary(domain: str | None, answer: str) -> Vocabulary:
    """Return the words of the domain, or of the first shipped one, that has all words of the answer."""
    names = [domain] if domain else list(SHIPPED_DOMAINS)
    said = _LISTED.split(answer.lower())
    found = next((each for each in map(words_of, names) if all(word in each.words for word in said)), NO_VOCABULARY)
    if not domain and not found.words and _kind_of(answer, found) == TEXT and answer not in LETTERS:
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
    message = f"{what}: its words are not known, so that replies are compared as whole texts; export again"
    warn(Problem(message, "rewards"))


# TRL ------------------------------------------------------------------------------------------------------------------

Completion = str | Sequence[Mapping[str, Any]]
"""A reply as text, or as the messages of a chat, whose contents are texts or lists of parts."""


def reply_of(completion: Completion) -> str:
    """Return the text of a completion: of its last message, if it is a chat."""
    if isinstance(completion, str):
        return completion
    content = completion[-1].get("content") if completion else ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or "" for part in content or () if part.get("type", "text") == "text")


def accuracy(prompts: object = None, completions: Sequence[Completion] = (), **columns: Any) -> list[float]:
    """Return the `score` of each completion, as TRL calls a reward. `prompts` is not used.

    `columns` are those of the dataset, each with a value for every completion: `answer` or `solution`, and if there are
    any `answer_type`, `choices` and `domain`. Raises UsageError if there is neither an answer nor a solution.
    """
    return _scores(completions, columns, partial=False)


def partial_accuracy(prompts: object = None, completions: Sequence[Completion] = (), **columns: Any) -> list[float]:
    """Return what `accuracy` does, with partial credit for counts."""
    return _scores(completions, columns, partial=True)


def format(prompts: object = None, completions: Sequence[Completion] = (), **columns: Any) -> list[float]:
    """Return the `format_score` of each completion, as TRL calls a reward."""
    return [format_score(reply_of(each)) for each in completions]


def _scores(completions: Sequence[Completion], columns: Mapping[str, Any], partial: bool) -> list[float]:
    given = {name: column for name, column in columns.items() if column is not None}
    answers = given.get("answer", given.get("solution"))
    if answers is None:
        raise UsageError("a reward needs a column `answer` or `solution`; TRL hands over all columns of the dataset")
    nothing = [None] * len(completions)
    types, choices, domains = (given.get(name, nothing) for name in ("answer_type", "choices", "domain"))
    return [
        score(reply_of(completion), answer, kind, options, domain=domain, partial=partial)
        for completion, answer, kind, options, domain in zip(completions, answers, types, choices, domains, strict=True)
    ]


# EasyR1 and verl ------------------------------------------------------------------------------------------------------


def easyr1_score(
    reward_inputs: Mapping[str, Any] | Sequence[Mapping[str, Any]], format_weight: float = FORMAT_WEIGHT
) -> dict[str, float] | list[dict[str, float]]:
    """Return `overall`, `format` and `accuracy` of a reply, or of each of a batch, as EasyR1 calls a reward.

    An input has `response` and `ground_truth`, and may have `answer_type`, `choices` and `domain`.
    """
    if isinstance(reward_inputs, Mapping):
        return _both(reward_inputs["response"], reward_inputs["ground_truth"], reward_inputs, format_weight)
    return [_both(each["response"], each["ground_truth"], each, format_weight) for each in reward_inputs]


def verl_score(
    data_source: str,
    solution_str: str,
    ground_truth: object,
    extra_info: Mapping[str, Any] | None = None,
    format_weight: float = FORMAT_WEIGHT,
    **_: Any,
) -> dict[str, float]:
    """Return `score`, with `acc` and `format` for the log, as verl calls a reward.

    `extra_info` may have `answer_type`, `choices` and `domain`. `data_source` is not used.
    """
    both = _both(solution_str, ground_truth, extra_info or {}, format_weight)
    return {"score": both["overall"], "acc": both["accuracy"], "format": both["format"]}


def _both(reply: str, answer: object, about: Mapping[str, Any], format_weight: float) -> dict[str, float]:
    right = score(reply, answer, about.get("answer_type"), about.get("choices"), domain=about.get("domain"))
    formed = format_score(reply)
    return {"overall": (1 - format_weight) * right + format_weight * formed, "format": formed, "accuracy": right}
