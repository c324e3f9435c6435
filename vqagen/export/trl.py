"""TRL: prompts of chats with their picture, for GRPO (`solution`) and for supervised training (`completion`).

A round of a dialog is a row whose prompt has the rounds before it, rightly answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from vqagen.export.examples import Example, Turn
from vqagen.export.folder import IMAGE, TEXT, Folder
from vqagen.export.hf import card, table_of

CANNOT: Mapping[str, str] = {}
_MESSAGES = [{"role": TEXT, "content": [{"type": TEXT, "text": TEXT}]}]
FEATURES: Mapping[str, Any] = {
    "prompt": _MESSAGES,
    "image": IMAGE,
    "completion": _MESSAGES,
    **dict.fromkeys(("solution", "answer", "answer_type"), TEXT),
    "choices": [TEXT],
    **dict.fromkeys(("domain", "id"), TEXT),
}
USE = """    from datasets import load_dataset
    from trl import GRPOTrainer
    from vqagen.rewards import accuracy, format

    train = load_dataset("path/to/this/folder", split="train")
    GRPOTrainer(model, reward_funcs=[accuracy, format], train_dataset=train)

Do not use TRL's own `accuracy_reward`: it reads answers as LaTeX, so that it skips rows whose answer is a color or yes,
and does not understand `<answer>3</answer>`. `SFTTrainer` reads `prompt` and `completion`, the answer alone:
export with `--prompt plain` for it."""


def message(role: str, text: str, has_picture: bool = False) -> dict[str, Any]:
    """Return a message of a chat, with the place of its picture."""
    picture = [{"type": "image", "text": None}] if has_picture else []
    return {"role": role, "content": [*picture, {"type": "text", "text": text}]}


def chat(turns: Sequence[Turn], has_picture: bool) -> list[dict[str, Any]]:
    """Return the messages up to the last question; the earlier ones have their answers."""
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(turns):
        messages.append(message("user", turn.text, has_picture and number == 0))
        messages.append(message("assistant", turn.answer))
    return messages[:-1]


def write_split(examples: Iterable[Example], split: str, folder: Folder) -> None:
    """Write a table with a row for each question, or round of a dialog."""

    def rows() -> Iterator[dict[str, Any]]:
        for each in examples:
            for number, turn in enumerate(each.turns):
                asked = (*each.turns[:number], folder.asked(turn))
                yield {
                    "image_id": each.row["image_id"],
                    "prompt": chat(asked, folder.has_pictures),
                    "image": each.image,
                    "completion": [message("assistant", turn.answer)],
                    "solution": turn.solution,
                    "answer": each.row.get("answer", turn.answer),
                    "answer_type": turn.answer_type,
                    "choices": each.row.get("choices", []),
                    "domain": folder.source.domain or None,
                    "id": each.id if len(each.turns) == 1 else f"{each.id}/{number}",
                }

    folder.write_table(table_of(split), rows(), FEATURES)


def finish(splits: Mapping[str, int], folder: Folder) -> None:
    """Write the README with the files of the splits."""
    folder.write_readme("TRL", USE, FEATURES, card(splits))
