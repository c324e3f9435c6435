"""The formats of outputs: how records stand in a file, which file names choose a format, and where its `info` goes.

Workers encode records without their number in the output, which they cannot know; the numbers are put in when a block
is placed.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import IO, Any, NamedTuple, Protocol

import orjson

from vqagen.errors import UsageError, unknown
from vqagen.files.info import CHECKSUM, DOCUMENT_END, FORMAT, LINES
from vqagen.files.output import atomic_output, check_ending, is_stream
from vqagen.files.packing import packing_of, unpacked_name
from vqagen.frozen import frozen

Record = Mapping[str, Any]
Encode = Callable[[Iterable[Record]], bytes]
"""Encodes a block's records, which say 0 for their number, one a line."""


class Arrangement(NamedTuple):
    """How the records of a task stand in its outputs."""

    key: str
    """The key of the records in a document, such as `questions`."""
    number_key: str
    """The key under which a record says its place in the output, from 0; "" for records that do not."""
    item: str
    """One of the things that records are about, such as `scene`."""
    window: int
    """Items in a window; 0 for one window of all."""

    @property
    def noun(self) -> str:
        """One record, for people."""
        return self.key.removesuffix("s")


class Checksum(NamedTuple):
    """The number of records in a file, and a checksum of their text."""

    lines: int = 0
    crc: int = 0
    """CRC-32 over the text of each record, followed by a newline."""

    def add(self, lines: bytes, number: int) -> Checksum:
        """Return the checksum after `number` more lines."""
        return Checksum(self.lines + number, zlib.crc32(lines, self.crc))

    def __str__(self) -> str:
        return f"{self.crc:08x}"


class Selection(Protocol):
    """Keeps or rejects each record of an output, by those before it: `--dedupe all` keeps the first of equal texts."""

    @property
    def reads(self) -> Collection[str]:
        """The keys of a record that decide if it is kept."""

    def keeps(self, record: Record) -> bool:
        """True if the record stays in the output."""

    def to_record(self) -> dict[str, Any]:
        """Return what was kept, as JSON, for the report of the run."""


# Records as text ------------------------------------------------------------------------------------------------------


def encode_lines(records: Iterable[Record]) -> bytes:
    """Return the records, one a line. A value with a method `to_json`, such as a program, gives its own JSON text."""
    try:
        return b"".join([orjson.dumps(record, _fragment, orjson.OPT_APPEND_NEWLINE) for record in records])
    except TypeError as error:  # orjson raises it for every exception in `_fragment`, such as Ctrl-C
        raise error.__cause__ or error from None


def _fragment(value: object) -> orjson.Fragment:
    if to_json := getattr(value, "to_json", None):
        return orjson.Fragment(to_json())
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def decode_lines(body: bytes) -> list[dict[str, Any]]:
    """Return the records of `encode_lines`."""
    return [orjson.loads(line) for line in body.split(b"\n")[:-1]]


# Formats --------------------------------------------------------------------------------------------------------------


@frozen
class Format:
    """A format of record files."""

    name: str
    """As `--format` takes it."""
    suffixes: tuple[str, ...]
    """Endings of file names that ask for it; a packing may follow. A format without is one of JSON that is named."""
    is_list: bool = True
    """True if the records of a file of text are separated by commas, in brackets."""
    holds_info: bool = True
    """True if the file holds its `info`, False if that goes beside it."""
    is_binary: bool = False
    """True for columns, which are packed inside and cannot be written record by record."""

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings of its files. The first is that of a file that the user does not name."""
        return self.suffixes or (".json",)


JSON = Format("json", (".json",))
JSON_LINES = Format("jsonl", (".jsonl", ".ndjson"), is_list=False, holds_info=False)
PARQUET = Format("parquet", (".parquet",), is_list=False, is_binary=True)
LIST = Format("list", (), holds_info=False)
"""One bare list of records, as many other tools write and read."""
FORMATS = (JSON, JSON_LINES, PARQUET, LIST)


FOREIGN = ("visual7w", "clevr-dialog", "visdial", "reference")
"""Formats of other tools, which version 1.0 wrote too."""


def refuse_foreign(name: str | None) -> None:
    """Raise UsageError for a format that `vqagen export` writes since version 2.0."""
    if name in FOREIGN:
        instead = f"write json, jsonl or parquet, and `vqagen export FILE --to {name} -o OUT.json` makes it of that"
        raise UsageError(f"--format {name} was removed in version 2.0: {instead}")


def choose_format(target: str, name: str | None, formats: Sequence[Format], records: str) -> Format:
    """Return the format of an output by its ending or, for standard output, a device or a folder, by its `name`.

    Raises UsageError for a name or an ending that the `records` do not have, and for an ending that contradicts the
    name.
    """
    refuse_foreign(name)
    chosen = next((form for form in formats if form.name == name), None)
    if name and chosen is None:
        raise UsageError(unknown("format", name, [form.name for form in formats]))
    if is_stream(target):
        return chosen or formats[0]
    check_ending(target, dict.fromkeys(ending for form in formats for ending in form.endings), records)
    asked = [form for form in formats if unpacked_name(target.lower()).endswith(form.endings)]
    if chosen and chosen not in asked:
        raise UsageError(f"output {target}: the ending asks for {asked[0].name}, not {name}; name another file")
    if asked[0].is_binary and packing_of(target):
        raise UsageError(f"output {target}: Parquet is packed inside; name the file {unpacked_name(target)}")
    return chosen or asked[0]


# Files ----------------------------------------------------------------------------------------------------------------


def info_beside(target: str, form: Format) -> str | None:
    """Return where the `info` goes; None for formats that hold it, and for standard output and devices."""
    return None if form.holds_info or is_stream(target) else f"{target}.info.json"


def write_info(target: str, form: Format, info: Record, checksum: Checksum, foreign: str = "") -> None:
    """Write the `info` beside a target that does not hold it, with the count and the checksum of the records.

    Without them, nobody would see that lines are missing at its end. `foreign`: the format of a file of another tool.
    """
    beside = info_beside(target, form)
    if beside is not None:
        with atomic_output(beside) as file:
            of_file = {LINES: checksum.lines, CHECKSUM: str(checksum), **({FORMAT: foreign} if foreign else {})}
            whole = {**info, "generator": {**info["generator"], **of_file}}
            file.write(orjson.dumps(whole, option=orjson.OPT_INDENT_2) + b"\n")


@contextmanager
def record_file(
    target: str, form: Format, info: Record, arrangement: Arrangement, on_ready: Callable[[], object] = lambda: None
) -> Iterator[RecordWriter]:
    """Yield a writer. The file, and the `info` beside it, get their names when all is written.

    `on_ready` is called just before.
    """

    def finish() -> None:
        write_info(target, form, info, writer.checksum)
        on_ready()

    with atomic_output(target, finish) as file:
        writer = RecordWriter(file, form, info, arrangement)
        yield writer
        writer.write_end()


BATCH = 1000


class RecordWriter:
    """Writes records to an open file of text: a document, a list or lines."""

    def __init__(self, file: IO[bytes], form: Format, info: Record, arrangement: Arrangement) -> None:
        """Write what comes before the records. They say 0 for their number, if the arrangement has a number key."""
        self.checksum = Checksum()
        self._file, self._form = file, form
        self._key = b'"%s":' % arrangement.number_key.encode() if arrangement.number_key else b""
        if form.is_list:
            head = b'{"info": %b, "%b": ' % (orjson.dumps(info), arrangement.key.encode())
            file.write((head if form.holds_info else b"") + b"[")

    def write(self, records: Iterable[Record]) -> None:
        """Append records; the text of BATCH of them is in memory at once."""
        left = iter(records)
        while lines := encode_lines(islice(left, BATCH)):
            self.write_lines(lines)

    def write_lines(self, body: bytes) -> None:
        """Append records as `encode_lines` returns them."""
        lines = self._numbered(body.split(b"\n")[:-1])
        if not lines:
            return
        text = b"\n".join(lines) + b"\n"
        if self._form.is_list:
            self._file.write((b",\n" if self.checksum.lines else b"\n") + b",\n".join(lines))
        else:
            self._file.write(text)
        self.checksum = self.checksum.add(text, len(lines))

    def _numbered(self, lines: list[bytes]) -> list[bytes]:
        """Return lines with their numbers in place of 0. The first such key in a line is the record's own.

        The key cannot stand inside a text, whose quotes are escaped:

            {"question_index":0,"question":"Is \\"question_index\\":0 …"}  ->  {"question_index":17,"question":…}
        """
        blank, key = self._key + b"0", self._key
        if not key:
            return lines
        assert not lines or blank in lines[0], f"records without {blank.decode()}"  # one writer made them all
        return [line.replace(blank, key + b"%d" % number, 1) for number, line in enumerate(lines, self.checksum.lines)]

    def write_end(self) -> None:
        """Write what comes behind the records."""
        if self._form.is_list:
            self._file.write(DOCUMENT_END % str(self.checksum).encode() if self._form.holds_info else b"\n]\n")
