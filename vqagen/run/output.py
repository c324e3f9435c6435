"""Records into a file: one JSON document, or JSON Lines. Both hold one record a line and are written as they come.

A document begins with its `info`. JSON Lines have no place for one: it goes beside them, into `<name>.info.json`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import orjson

from vqagen.files import STDOUT, atomic_output, check_output, is_pipe_or_device

Record = Mapping[str, Any]


def layout_of(target: str) -> str:
    """The format that a file's name asks for: JSON Lines for `.jsonl` and `.jsonl.gz`, else one document."""
    return "jsonl" if target.removesuffix(".gz").endswith(".jsonl") else "json"


def info_beside(target: str, layout: str) -> str | None:
    """Where the `info` of JSON Lines goes; None for a document, which holds it, and for standard output and devices."""
    is_stream = target == STDOUT or is_pipe_or_device(Path(target))
    return None if layout == "json" or is_stream else f"{target}.info.json"


def check_record_file(target: str, layout: str, force: bool, inputs: Iterable[Path | str | None] = ()) -> None:
    """`files.check_output` for all that `record_file` writes."""
    check_output(target, force, inputs)
    beside = info_beside(target, layout)
    if beside is not None:
        check_output(beside, force, inputs)


@contextmanager
def record_file(target: str, layout: str, info: Record, key: str = "questions") -> Iterator[RecordWriter]:
    """A writer whose file appears under its name when all is written, and so does the `info` beside it."""
    with atomic_output(target) as file:
        writer = RecordWriter(file, layout, info, key)
        yield writer
        writer.close()
        beside = info_beside(target, layout)
        if beside is not None:
            with atomic_output(beside) as info_file:
                info_file.write(orjson.dumps(info, option=orjson.OPT_INDENT_2) + b"\n")


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
