"""What all rewards share: the text of replies, their format, the cells of rows, and the figures of EasyR1 and verl."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vqagen.errors import UsageError
from vqagen.items.answers import text_of

_MISSING = ("None", "nan", "NaN", "NaT", "<NA>")
"""Values that are no texts, as text, by which tables say that there is none."""
_SAID = r"(?:(?!</?(?:think|answer)>)[\W_])*[^\W_](?:(?!</?(?:think|answer)>).)*"
FORMAT = re.compile(rf"\s*<think>{_SAID}</think>\s*<answer>{_SAID}</answer>\s*", re.DOTALL | re.IGNORECASE)
_TAGGED = re.compile(r"\A\s*<answer>(.*)</answer>\s*\Z", re.DOTALL | re.IGNORECASE)
HOW_TO_REPLY = (
    "First think between <think> and </think>, then give nothing but the answer between <answer> and </answer>, such as"
    " <think>…</think> <answer>…</answer>."
)
"""The end of a system message that asks for the `FORMAT`."""
Completion = str | Sequence[Mapping[str, Any]] | None
"""A reply as text, or as the messages of a chat, whose contents are texts or lists of parts."""
Reward = Callable[[Completion, Mapping[str, Any]], float | None]
"""(reply, cells of its row by their columns) -> reward; None if the row has none."""
Inputs = Mapping[str, Any] | Sequence[Mapping[str, Any]]
Figures = dict[str, float]
FORMAT_WEIGHT = 0.1
"""Share of the format in the rewards of EasyR1 and verl, which take one number."""


def reply_of(completion: Completion) -> str:
    """Return the text of a completion: of its last message, if it is a chat; "" of what is neither."""
    content: Any = completion
    if isinstance(completion, Sequence) and not isinstance(completion, str):
        content = completion[-1].get("content") if completion and isinstance(completion[-1], Mapping) else ""
    parts = content if isinstance(content, list | tuple) else [content]
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def format_score(reply: Completion) -> float:
    """Return 1 for `<think>…</think><answer>…</answer>`, each once and with a letter or digit inside; otherwise 0."""
    return float(FORMAT.fullmatch(reply_of(reply)) is not None)


def value_of(cell: Any) -> Any:
    """Return a cell of a table as a value of Python's own types; None if it is missing, as pandas says it."""
    value = cell.tolist() if hasattr(cell, "tolist") else cell
    return None if (not value if isinstance(value, str) else str(value) in _MISSING) else value


def cell_text(answer: object) -> str | None:
    """Return a right answer as text, without the tags of a `solution`; None if it is missing."""
    value = value_of(answer)
    text = _TAGGED.sub(r"\1", text_of(tuple(value) if isinstance(value, list) else value))
    return None if value is None else text.strip() or None


def of_easyr1(reward: Reward, name: str, inputs: Inputs, format_weight: float) -> Figures | list[Figures]:
    if isinstance(inputs, Mapping):
        return figures_of(reward, name, inputs.get("response"), inputs, format_weight)
    return [figures_of(reward, name, each.get("response"), each, format_weight) for each in inputs]


def of_verl(reward: Reward, name: str, reply: Completion, about: Mapping[str, Any], format_weight: float) -> Figures:
    both = figures_of(reward, name, reply, about, format_weight)
    return {"score": both["overall"], **both}


def figures_of(reward: Reward, name: str, reply: Completion, about: Mapping[str, Any], format_weight: float) -> Figures:
    right, formed = reward(reply, about), format_score(reply)
    if right is None:
        raise UsageError(f"{name}: the row has no places to compare with; leave out rows without them")
    return {"overall": (1 - format_weight) * right + format_weight * formed, "format": formed, name: right}
