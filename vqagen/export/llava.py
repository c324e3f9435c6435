"""LLaVA and VLM-R1: <split>.json, a list of conversations, and the folder images/."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vqagen.export.examples import Example
from vqagen.export.folder import Folder, with_tag

CANNOT: Mapping[str, str] = {}
USE = """    --data_path path/to/this/folder/train.json --image_folder path/to/this/folder"""


def conversation(each: Example) -> list[dict[str, str]]:
    """Return the turns of an example as two voices; <image> stands before the first question."""
    said: list[dict[str, str]] = []
    for number, turn in enumerate(each.turns):
        said.append({"from": "human", "value": with_tag(turn.text, each.image is not None and number == 0)})
        said.append({"from": "gpt", "value": turn.answer})
    return said


def write_split(examples: Iterable[Example], split: str, folder: Folder) -> None:
    """Write a list with a conversation for each question or dialog, and the pictures, each once."""
    values = (
        {
            "id": each.id,
            **({"image": folder.save_picture(each.image)} if each.image is not None else {}),
            "conversations": conversation(each),
        }
        for each in examples
    )
    folder.write_list(f"{split}.json", values)


def finish(splits: Mapping[str, int], folder: Folder) -> None:
    """Write the README."""
    folder.write_readme("LLaVA and VLM-R1", USE)
