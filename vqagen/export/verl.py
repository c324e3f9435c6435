"""verl: <split>.parquet with prompts, whose text says <image>, and what a rule needs to judge an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vqagen.export.examples import DIALOGS, Example
from vqagen.export.folder import IMAGE, TEXT, Folder, with_tag

CANNOT: Mapping[str, str] = {DIALOGS: "a row has the answer to one prompt of the user; export to trl"}
FEATURES: Mapping[str, Any] = {
    "data_source": TEXT,
    "prompt": [{"role": TEXT, "content": TEXT}],
    "images": [IMAGE],
    "ability": TEXT,
    "reward_model": {"style": TEXT, "ground_truth": TEXT},
    "extra_info": {
        "split": TEXT,
        "index": {"dtype": "int64", "_type": "Value"},
        **dict.fromkeys(("answer", "question", "answer_type"), TEXT),
        "choices": [TEXT],
        **dict.fromkeys(("domain", "id"), TEXT),
    },
}
USE = """    data.train_files=path/to/this/folder/train.parquet data.val_files=path/to/this/folder/validation.parquet
    data.image_key=images
    custom_reward_function.path=<file> custom_reward_function.name=verl_score

`<file>` is what `python -c "import vqagen.rewards; print(vqagen.rewards.__file__)"` prints. verl itself
has no reward for these answers."""


def write_split(examples: Iterable[Example], split: str, folder: Folder) -> None:
    """Write a table with a row for each question."""
    rows = (_row(number, split, each, folder) for number, each in enumerate(examples))
    folder.write_table(f"{split}.parquet", rows, FEATURES)


def _row(number: int, split: str, each: Example, folder: Folder) -> dict[str, Any]:
    text, _, answer_type = folder.asked(each.turn)
    answer = each.row["answer"]
    return {
        "image_id": each.row["image_id"],
        "data_source": folder.name,
        "prompt": [{"role": "user", "content": with_tag(text, folder.has_pictures)}],
        "images": [each.image],
        "ability": "visual question answering",
        "reward_model": {"style": "rule", "ground_truth": answer},
        "extra_info": {
            "split": split,
            "index": number,
            "answer": answer,
            "question": each.row["question"],
            "answer_type": answer_type,
            "choices": each.row.get("choices"),
            "domain": folder.source.domain or None,
            "id": each.id,
        },
    }


def finish(splits: Mapping[str, int], folder: Folder) -> None:
    """Write the README."""
    folder.write_readme("verl", USE, FEATURES)
