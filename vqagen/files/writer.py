"""Write record files, with their `info` inside or beside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO

import orjson

from vqagen.files.formats import Format
from vqagen.files.layouts import Arrangement, Checksum, Placing, Record, encode_lines
from vqagen.files.output import atomic_output, is_stream

LINES, CHECKSUM, FORMAT = "lines", "checksum", "format"
"""Keys in the `generator` of the info beside a file: how many lines its records are, their checksum, and the name of
the file's format if that has a shape."""


def info_beside(target: str, form: Format) -> str | None:
    """Return where the `info` goes; None for formats that hold it, and for standard output and devices."""
    return None if form.holds_info or is_stream(target) else f"{target}.info.json"


def write_info(target: str, form: Format, info: Record, checksum: Checksum) -> None:
    """Write the `info` beside a target that does not hold it, with the count and the checksum of the records.

    The end of such a file does not show that lines are missing.
    """
    beside = info_beside(target, form)
    if beside is not None:
        with atomic_output(beside) as file:
            of_file = {LINES: checksum.lines, CHECKSUM: str(checksum), **({FORMAT: form.name} if form.shape else {})}
            whole = {**info, "generator": {**info["generator"], **of_file}}
            file.write(orjson.dumps(whole, option=orjson.OPT_INDENT_2) + b"\n")


@contextmanager
def record_file(
    target: str, form: Format, info: Record, arrangement: Arrangement, on_ready: Callable[[], object] = lambda: None
) -> Iterator[RecordWriter]:
    """Yield a writer. The file, and the `info` beside it, get their names when all is written.

    `on_ready` is called just before. The records have their numbers already.
    """

    def finish() -> None:
        write_info(target, form, info, writer.checksum)
        on_ready()

    with atomic_output(target, finish) as file:
        writer = RecordWriter(file, form, info, arrangement)
        yield writer
        writer.close()


class RecordWriter:
    """Writes records to an open file; `close` completes the document (the file itself stays open)."""

    def __init__(self, file: IO[bytes], form: Format, info: Record, arrangement: Arrangement) -> None:
        self._layout = form.layout(arrangement._replace(number_key=""))
        self._file, self._placing = file, Placing(self._layout)
        file.write(self._layout.head(info))

    @property
    def checksum(self) -> Checksum:
        """The checksum of the records so far."""
        return self._placing.checksum

    def survey(self, entries: Iterable[Record]) -> None:
        """Take note of entries that will be written, in a format that is surveyed, before the first is."""
        self._layout.survey(entries)

    def write(self, records: Iterable[Record]) -> None:
        """Append records."""
        lines = encode_lines(records)
        self._file.write(self._placing.place(lines, lines.count(b"\n")))

    def close(self) -> None:
        """Complete the document."""
        self._file.write(self._placing.tail())
