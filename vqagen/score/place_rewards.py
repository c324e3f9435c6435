"""Rewards for places: `grounding` for answers, `hops` for reasonings, in the shapes that `vqagen.rewards` lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from vqagen.errors import UsageError
from vqagen.items.answers import ANSWER_TYPES, NO_VOCABULARY, PLACES, read_answer
from vqagen.items.places import spots_of_boxes
from vqagen.language.question import BOXES
from vqagen.score.answers.hops import is_right, shared_hops
from vqagen.score.answers.places import read_marks, score_marks, without_tags
from vqagen.score.answers.replies import LONGEST_ANSWER, MOST_CHARACTERS, marked_answer
from vqagen.score.rewarding import (
    FORMAT_WEIGHT,
    Completion,
    Figures,
    Inputs,
    Reward,
    cell_text,
    of_easyr1,
    of_verl,
    reply_of,
    value_of,
)

_THOUGHT = re.compile(r"<think>((?:(?!</?think>).)*)</think>", re.DOTALL)


def grounding_score(reply: Completion, boxes: Iterable[Sequence[float]]) -> float:
    """Return the reward for an answer that is places, from 0 to 1; `boxes` are those of the right objects, in pixels.

    It is the mean IoU of the boxes, and 1 for a point in a box; but 0 unless the answer is nothing but one box or point
    for each object, and every one is right: an IoU of .5, or a point in its box. `none` is right where there is none.

    >>> replies = "<answer>(212, 140)</answer>", "<answer>[0, 0, 480, 320]</answer>"
    >>> [grounding_score(reply, [[180, 110, 244, 171]]) for reply in replies]
    [1.0, 0.0]
    """
    text = reply_of(reply)
    answer = marked_answer(without_tags(text)) if len(text) <= MOST_CHARACTERS else ""
    marks = read_marks(answer, strict=True) if len(answer) <= LONGEST_ANSWER else None
    spots = spots_of_boxes([*map(list, boxes)])
    if marks is None or not is_right(marks, spots):
        return 0.0
    return score_marks(marks, spots).iou


def hops_score(reply: Completion, reasoning: str, boxes: Iterable[Sequence[float]] = ()) -> float | None:
    """Return the share of the hops of a reasoning that stand in the last `<think>` of a reply, from 0 to 1.

    Each is a sentence with points or boxes in pixels; None if the right reasoning has none. See `score.answers.hops`.

    >>> hops_score("<think>The cube is at (210, 141).</think>", "There is one cube, at (212, 140). It is red.")
    1.0
    """
    text = reply_of(reply)
    thoughts = _THOUGHT.findall(text) if len(text) <= MOST_CHARACTERS else []
    return shared_hops(thoughts[-1] if thoughts else "", reasoning, boxes)


def _grounding_of(reply: Completion, about: Mapping[str, Any]) -> float | None:
    """Return the `grounding_score` for the cells of a row; None if it does not ask for places."""
    boxes, answer_type = _boxes(about.get(BOXES)), value_of(about.get("answer_type"))
    if answer_type not in (None, ANSWER_TYPES[PLACES]):
        return None
    if boxes is None and answer_type:
        every, objects = (
            _boxes(about.get("boxes")),
            read_answer(cell_text(about.get("answer")) or "", PLACES, NO_VOCABULARY),
        )
        if every is None or not isinstance(objects, tuple) or not all(i < len(every) for i in objects):
            raise UsageError("a place cannot be rewarded: its row needs `answer_boxes`, or `answer` and all `boxes`")
        boxes = [every[i] for i in objects]
    return None if boxes is None else grounding_score(reply, boxes)


def _hops_of(reply: Completion, about: Mapping[str, Any]) -> float | None:
    """Return the `hops_score` for the cells of a row; None if it has no reasoning with places."""
    reasoning = value_of(about.get("reasoning"))
    return None if reasoning is None else hops_score(reply, str(reasoning), _boxes(about.get("boxes")) or ())


def _boxes(cell: Any) -> list[list[float]] | None:
    """Return a cell with a list of boxes, or its JSON; None if it is missing. UsageError for another one."""
    value = value_of(cell)
    try:
        value = orjson.loads(value) if isinstance(value, str) else value
        boxes = None if value is None else [[*map(float, box)] for box in value]
        spots_of_boxes(boxes or [])
    except (TypeError, ValueError):
        raise UsageError(f"expected boxes such as [[180, 110, 244, 171]], found {value!r:.80}") from None
    return boxes


# Trainers -------------------------------------------------------------------------------------------------------------


def grounding(prompts: object = None, completions: Sequence[Completion] = (), **columns: Any) -> list[float | None]:
    """Return the `grounding_score` of each completion, as TRL calls a reward; None for a row that asks for no place.

    Of the columns, it reads `answer_boxes`; without it `answer`, `answer_type` and `boxes`, those of all objects.
    """
    return _of_rows(_grounding_of, completions, columns, (BOXES, "boxes"))


def hops(prompts: object = None, completions: Sequence[Completion] = (), **columns: Any) -> list[float | None]:
    """Return the `hops_score` of each completion, as TRL calls a reward; None for a row without a place in it.

    Of the columns, it reads `reasoning` and, if there is one, `boxes`.
    """
    return _of_rows(_hops_of, completions, columns, ("reasoning",))


def _of_rows(
    reward: Reward, completions: Sequence[Completion], columns: Mapping[str, Any], needed: Sequence[str]
) -> list[float | None]:
    """Return a reward of each completion by the cells of its row. UsageError without any of the `needed` columns."""
    given = {name: column for name, column in columns.items() if isinstance(column, Sequence | np.ndarray)}
    if not any(name in given and len(given[name]) == len(completions) for name in needed):
        raise UsageError(
            f"this reward needs a column {' or '.join(f'`{name}`' for name in needed)}, with a value for each"
        )
    rows = [{name: column[i] for name, column in given.items() if i < len(column)} for i in range(len(completions))]
    return [reward(completion, about) for completion, about in zip(completions, rows, strict=True)]


def easyr1_grounding(reward_inputs: Inputs, format_weight: float = FORMAT_WEIGHT) -> Figures | list[Figures]:
    """Return what `easyr1_score` does with `grounding` in place of the accuracy; an input has the cells of its row."""
    return of_easyr1(_grounding_of, "grounding", reward_inputs, format_weight)


def easyr1_hops(reward_inputs: Inputs, format_weight: float = FORMAT_WEIGHT) -> Figures | list[Figures]:
    """Return what `easyr1_score` does with `hops` in place of the accuracy; an input has the cells of its row."""
    return of_easyr1(_hops_of, "hops", reward_inputs, format_weight)


def verl_grounding(
    data_source: str,
    solution_str: Completion,
    ground_truth: object,
    extra_info: Mapping[str, Any] | None = None,
    format_weight: float = FORMAT_WEIGHT,
    **_: Any,
) -> Figures:
    """Return `score`, with `grounding` and `format` for the log; `extra_info` has the cells of the row."""
    about = {"answer": ground_truth, **(extra_info or {})}
    return of_verl(_grounding_of, "grounding", solution_str, about, format_weight)


def verl_hops(
    data_source: str,
    solution_str: Completion,
    ground_truth: object,
    extra_info: Mapping[str, Any] | None = None,
    format_weight: float = FORMAT_WEIGHT,
    **_: Any,
) -> Figures:
    """Return `score`, with `hops` and `format` for the log; `extra_info` has the cells of the row."""
    return of_verl(_hops_of, "hops", solution_str, extra_info or {}, format_weight)
