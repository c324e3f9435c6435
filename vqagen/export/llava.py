"""LLaVA and VLM-R1: <split>.json, a list of conversations, and the folder images/."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vqagen.export.examples import Example
from vqagen.export.folder import Folder, with_tag

CANNOT: Mapping[str, str] = {}
USE = """    --data_path path/to/this/folder/train.json --image_folder path/to/this/folder"""


def conversation(each: Example, has_picture: bool) -> list[dict[str, str]]:
    """Return the turns of an example as two voices; <image> stands before the first question."""
    said: list[dict[str, str]] = []
    for number, turn in enumerate(each.turns):
        said.append({"from": "human", "value": with_tag(turn.text, has_picture and number == 0)})
        said.append({"from": "gpt", "value": turn.answer})
    return said


def write_split(examples: Iterable[Example], split: str, folder: Folder) -> None:
    """Write a list with a conversation for each question or dialog, and the pictures, each once."""

    def values() -> Iterator[dict[str, Any]]:
        for each in examples:
            image = {} if each.image is None else {"image": folder.save_picture(each.image)}
            yield {"id": each.id, **image, "conversations": conversation(each, each.image is not None)}

    folder.write_list(f"{split}.json", values())


def finish(splits: Mapping[str, int], folder: Folder) -> None:
    """Write the README."""
    folder.write_readme("LLaVA and VLM-R1", USE)
