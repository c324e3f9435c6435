"""Suffixes of record files."""

from __future__ import annotations

from vqagen.files.packing import PACKINGS, unpacked_name

COLUMNS_SUFFIX = ".parquet"
LINES_SUFFIXES = (".jsonl", ".ndjson")
IN_FOLDERS = (".json", *(f".json{packing}" for packing in PACKINGS))
"""Suffixes of the files that are read in a folder, one record in each."""


def is_named_columns(name: str) -> bool:
    """True for a name that says Parquet."""
    return name.lower().endswith(COLUMNS_SUFFIX)


def is_named_lines(name: str) -> bool:
    """True for a name that says JSON Lines, packed or not."""
    return unpacked_name(name).lower().endswith(LINES_SUFFIXES)
