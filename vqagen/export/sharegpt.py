"""LLaMA-Factory's ShareGPT format: <split>.json, images/, and dataset_info.json, which describes the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import orjson

from vqagen.export.examples import Example
from vqagen.export.folder import IMAGE, TEXT, Folder
from vqagen.export.llava import conversation

CANNOT: Mapping[str, str] = {}


def write_split(examples: Iterable[Example], split: str, folder: Folder) -> None:
    """Write a list with a conversation for each question or dialog, and the pictures, each once."""
    values = (
        {
            "id": each.id,
            "conversations": conversation(each.turns, folder.has_pictures),
            **({"images": [folder.save_picture(each.image)]} if each.image is not None else {}),
        }
        for each in examples
    )
    folder.write_list(f"{split}.json", values)


def finish(splits: Mapping[str, int], folder: Folder) -> None:
    """Write the description of the files, and the README."""
    columns = {"messages": "conversations", **({"images": "images"} if folder.has_pictures else {})}
    files = {
        f"{folder.name}_{split}": {"file_name": f"{split}.json", "formatting": "sharegpt", "columns": columns}
        for split in splits
    }
    folder.write_text("dataset_info.json", orjson.dumps(files, option=orjson.OPT_INDENT_2).decode() + "\n")
    names = ", ".join(files)
    use = f"    dataset_dir: path/to/this/folder\n    dataset: {names}"
    folder.write_readme("LLaMA-Factory", use, {"id": TEXT, "conversations": TEXT, "images": IMAGE})
