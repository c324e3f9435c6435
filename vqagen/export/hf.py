"""Hugging Face: a dataset in Parquet whose pictures `datasets` and the Hub show.

data/<split>-00000-of-00001.parquet has the columns of `vqagen dataset`, and README.md says which file is which split.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vqagen.dataset.rows import DIALOG_FEATURES, FEATURES
from vqagen.export.examples import DIALOGS, Example
from vqagen.export.folder import Folder

CANNOT: Mapping[str, str] = {}


def table_of(split: str) -> str:
    """Return the file of a split, under the name that the Hub gives it."""
    return f"data/{split}-00000-of-00001.parquet"


def card(splits: Iterable[str]) -> dict[str, Any]:
    """Return the settings at the top of a README that tell `datasets` the file of each split."""
    files = [{"split": split, "path": table_of(split)} for split in splits]
    return {
        "configs": [{"config_name": "default", "data_files": files}],
        "task_categories": ["visual-question-answering"],
        "language": ["en"],
    }


def write_split(examples: Iterable[Example], split: str, folder: Folder) -> None:
    """Write a table with a row for each question or dialog."""
    folder.write_table(table_of(split), ({**each.row, "image": each.image} for each in examples), _features(folder))


def _features(folder: Folder) -> Mapping[str, Any]:
    return DIALOG_FEATURES if folder.source.kind == DIALOGS else FEATURES


def finish(splits: Mapping[str, int], folder: Folder) -> None:
    """Write the card; that of a dataset stays as it is, but for its settings."""
    use = '    from datasets import load_dataset\n\n    load_dataset("path/to/this/folder")'
    folder.write_readme("Hugging Face datasets", use, _features(folder), card(splits))
