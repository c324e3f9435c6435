"""Records into a file: one JSON document, or JSON Lines. Both hold one record a line and are written as they come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, Any

import orjson

Record = Mapping[str, Any]
FORMATS = ("json", "jsonl")


def layout_of(target: str) -> str:
    """The format that a file's name asks for: JSON Lines for `.jsonl` and `.jsonl.gz`, else one document."""
    return "jsonl" if target.removesuffix(".gz").endswith(".jsonl") else "json"


class RecordWriter:
    """Writes records to an open file; `close` completes the document (the file itself stays open)."""

    def __init__(self, file: IO[bytes], layout: str, info: Record, key: str = "questions") -> None:
        self._file = file
        self._is_document = layout == "json"
        self._separator = b"\n"
        if self._is_document:
            file.write(b'{"info": ' + orjson.dumps(info) + b', "' + key.encode() + b'": [')

    def write(self, records: Iterable[Record]) -> None:
        """Append records."""
        lines = [orjson.dumps(record) for record in records]
        if not lines:
            return
        if self._is_document:
            self._file.write(self._separator + b",\n".join(lines))
            self._separator = b",\n"
        else:
            self._file.write(b"\n".join(lines) + b"\n")

    def close(self) -> None:
        """Complete the document."""
        if self._is_document:
            self._file.write(b"\n]}\n")
