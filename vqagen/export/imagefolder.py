"""Hugging Face's folder of pictures: <split>/images/, and a line in <split>/metadata.jsonl for each question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vqagen.dataset.rows import COLUMNS
from vqagen.export.examples import DIALOGS, Example
from vqagen.export.folder import Folder

CANNOT: Mapping[str, str] = {
    "no pictures": "it is a folder of pictures; export to hf",
    DIALOGS: "a line is about one question; export to hf, which has columns for dialogs",
}


def write_split(examples: Iterable[Example], split: str, folder: Folder) -> None:
    """Write the pictures of a split, each once, and the lines about them."""
    lines = (
        {"file_name": folder.save_picture(each.image, f"{split}/images").removeprefix(f"{split}/"), **each.row}
        for each in examples
        if each.image is not None
    )
    folder.write_lines(f"{split}/metadata.jsonl", lines)


def finish(splits: Mapping[str, int], folder: Folder) -> None:
    """Write the README, which names the files of each split."""
    files = [{"split": split, "path": f"{split}/**"} for split in splits]
    use = """    from datasets import load_dataset

    load_dataset("imagefolder", data_dir="path/to/this/folder")

A picture stands here once and has a line for each of its questions, which `datasets` from 4.0 on reads."""
    folder.write_readme(
        "Hugging Face imagefolder",
        use,
        dict.fromkeys(("file_name", *COLUMNS[1:])),
        {"configs": [{"config_name": "default", "data_files": files}]},
    )
