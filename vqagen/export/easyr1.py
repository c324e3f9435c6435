"""EasyR1: <split>.parquet with `problem`, which says <image> where the picture belongs, `answer` and `images`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vqagen.export.examples import DIALOGS, Example
from vqagen.export.folder import IMAGE, TEXT, Folder, with_tag

CANNOT: Mapping[str, str] = {DIALOGS: "a row is one question without earlier rounds; export to trl"}
FEATURES: Mapping[str, Any] = {
    **dict.fromkeys(("problem", "answer"), TEXT),
    "images": [IMAGE],
    **dict.fromkeys(("answer_type", "id"), TEXT),
}
USE = """    data.train_files=path/to/this/folder/train.parquet data.val_files=path/to/this/folder/validation.parquet
    data.prompt_key=problem data.answer_key=answer data.image_key=images
    worker.reward.reward_function=path/to/this/folder/reward.py:reward

EasyR1 hands the answer alone to the reward, which finds its type by itself."""
REWARD = '''"""The reward of this export, for EasyR1: `vqagen.rewards.easyr1_score` with the words of its domain."""

from vqagen.rewards import easyr1_score

DOMAIN = {domain!r}


def reward(reward_inputs, **settings):
    if isinstance(reward_inputs, dict):
        return easyr1_score({{**reward_inputs, "domain": DOMAIN}}, **settings)
    return easyr1_score([{{**each, "domain": DOMAIN}} for each in reward_inputs], **settings)
'''


def write_split(examples: Iterable[Example], split: str, folder: Folder) -> None:
    """Write a table with a row for each question."""
    rows = (
        {
            "image_id": each.row["image_id"],
            "problem": with_tag(folder.asked(each.turn).text, folder.has_pictures),
            "answer": each.turn.answer,
            "images": [each.image],
            "answer_type": each.turn.answer_type,
            "id": each.id,
        }
        for each in examples
    )
    folder.write_table(f"{split}.parquet", rows, FEATURES)


def finish(splits: Mapping[str, int], folder: Folder) -> None:
    """Write the reward, and the README."""
    folder.write_text("reward.py", REWARD.format(domain=folder.source.domain or None))
    folder.write_readme("EasyR1", USE, FEATURES)
