"""LLaVA and VLM-R1: conversations as a list (<split>.json) and as lines (<split>.jsonl), and the folder images/.

LLaVA reads the list, and VLM-R1 the lines. As VLM-R1 reads the first question alone, dialogs have no lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from vqagen.export.examples import DIALOGS, Example, Turn
from vqagen.export.folder import IMAGE, TEXT, Folder, with_tag

CANNOT: Mapping[str, str] = {}
FEATURES: Mapping[str, Any] = {"id": TEXT, "image": IMAGE, "conversations": TEXT}
USE = """LLaVA, whose supervised training takes the answer alone (export with `--prompt plain` for it):

    --data_path path/to/this/folder/train.json --image_folder path/to/this/folder

VLM-R1 (grpo_jsonl.py):

    --data_file_paths path/to/this/folder/train.jsonl --image_folders path/to/this/folder"""


def conversation(turns: Iterable[Turn], has_picture: bool) -> list[dict[str, str]]:
    """Return turns as two voices; <image> stands before the first question."""
    said: list[dict[str, str]] = []
    for number, turn in enumerate(turns):
        said.append({"from": "human", "value": with_tag(turn.text, has_picture and number == 0)})
        said.append({"from": "gpt", "value": turn.answer})
    return said


def write_split(examples: Iterable[Example], split: str, folder: Folder) -> None:
    """Write a conversation for each question or dialog, and the pictures, each once."""
    is_dialog = folder.source.kind == DIALOGS  # for supervised training
    values = (
        {
            "id": each.id,
            **({"image": folder.save_picture(each.image)} if each.image is not None else {}),
            "conversations": conversation(each.turns if is_dialog else [folder.asked(each.turn)], folder.has_pictures),
        }
        for each in examples
    )
    folder.write_lines(f"{split}.jsonl", values)
    with (folder.path / f"{split}.jsonl").open("rb") as lines:
        folder.write_list(f"{split}.json", map(orjson.loads, lines))
    if is_dialog:
        (folder.path / f"{split}.jsonl").unlink()


def finish(splits: Mapping[str, int], folder: Folder) -> None:
    """Write the README."""
    folder.write_readme("LLaVA and VLM-R1", USE, FEATURES)
