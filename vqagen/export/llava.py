"""LLaVA and VLM-R1: conversations as a list (<split>.json) and as lines (<split>.jsonl), and the folder images/.

LLaVA reads the list, and VLM-R1 the lines. As VLM-R1 reads the first question alone, dialogs have no lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from vqagen.export.examples import DIALOGS, Example
from vqagen.export.folder import IMAGE, TEXT, Folder, with_tag

CANNOT: Mapping[str, str] = {}
FEATURES: Mapping[str, Any] = {"id": TEXT, "image": IMAGE, "conversations": TEXT}
USE = """LLaVA, whose supervised training takes the answer alone (export with `--prompt plain` for it):

    --data_path path/to/this/folder/train.json --image_folder path/to/this/folder

VLM-R1 (grpo_jsonl.py):

    --data_file_paths path/to/this/folder/train.jsonl --image_folders path/to/this/folder"""


def conversation(each: Example) -> list[dict[str, str]]:
    """Return the turns of an example as two voices; <image> stands before the first question."""
    said: list[dict[str, str]] = []
    for number, turn in enumerate(each.turns):
        said.append({"from": "human", "value": with_tag(turn.text, each.image is not None and number == 0)})
        said.append({"from": "gpt", "value": turn.answer})
    return said


def write_split(examples: Iterable[Example], split: str, folder: Folder) -> None:
    """Write a conversation for each question or dialog, and the pictures, each once."""
    values = (
        {
            "id": each.id,
            **({"image": folder.save_picture(each.image)} if each.image is not None else {}),
            "conversations": conversation(_asked(each, folder)),
        }
        for each in examples
    )
    folder.write_lines(f"{split}.jsonl", values)
    with (folder.path / f"{split}.jsonl").open("rb") as lines:
        folder.write_list(f"{split}.json", map(orjson.loads, lines))
    if folder.source.kind == DIALOGS:
        (folder.path / f"{split}.jsonl").unlink()


def _asked(each: Example, folder: Folder) -> Example:
    """Return a question that asks for the form of reply; a dialog as it is, for supervised training."""
    return each if folder.source.kind == DIALOGS else each._replace(turns=(folder.asked(each.turn),))


def finish(splits: Mapping[str, int], folder: Folder) -> None:
    """Write the README."""
    folder.write_readme("LLaVA and VLM-R1", USE, FEATURES)
