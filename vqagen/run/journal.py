"""The journal of a run: what has been made so far, block by block, so that a run that was killed can go on.

    OUT.part       the blocks, one behind the other, as they were written
    OUT.journal    JSON Lines: first what run this is, then one line for each block of the part

A block counts when its line is whole and its bytes in the part are those that the line tells of. Whatever stands behind
the last such block, in either file, is cut off when the run goes on: it was being written when the run was killed.
"""

from __future__ import annotations

import fcntl
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from vqagen.errors import UsageError
from vqagen.run.work import Block

Header = Mapping[str, Any]


class Entry(NamedTuple):
    """A block in the part."""

    first: int
    """Absolute index of its first item."""
    end: int
    """One behind its last item's."""
    records: int
    bytes: int
    """How long it is in the part."""
    crc: int
    """CRC-32 of its bytes."""
    tally: Mapping[str, Any]


class Journal:
    """An open part and its journal, held against other processes. Closing it keeps both files."""

    def __init__(self, place: Path) -> None:
        """Open, and create what is missing. `place` is the name of the output that the part will become."""
        self.part, self.path = part_of(place), journal_of(place)
        self._lines = _held(self.path, place)
        self._part = _opened(self.part)
        self.records = 0
        """In the part."""
        self.end: int | None = None
        """One behind the last item that is done; None while there is no block."""
        self._head = 0

    def begin(self, header: Header, head: bytes = b"") -> None:
        """Forget what is there. `head` is what the part begins with."""
        self.records, self.end, self._head = 0, None, len(head)
        self._lines.truncate(0)
        self._part.truncate(0)
        self._part.write(head)
        self._part.flush()
        self._lines.write(orjson.dumps(header) + b"\n")
        self._lines.flush()

    def header(self) -> dict[str, Any] | None:
        """What run the journal is of; None if it is new, or was killed before it said so; empty if it is no journal."""
        self._lines.seek(0)
        line = self._lines.readline()
        return _value(line) or {} if line.endswith(b"\n") else None

    def go_on(self, head: bytes = b"") -> Iterator[Entry]:
        """Each block that is whole; cuts off what follows the last. To be gone through before anything is added."""
        self.records, self.end, self._head = 0, None, len(head)
        self._lines.seek(0)
        kept, length = len(self._lines.readline()), len(head)
        self._part.seek(0)
        if self._part.read(len(head)) != head:
            self._part.truncate(0)
            self._part.write(head)
        for line in self._lines:
            entry = self._whole_entry(line)
            if entry is None:
                break
            yield entry
            kept += len(line)
            length += entry.bytes
            self._count(entry)
        self._part.truncate(length)
        self._lines.truncate(kept)

    def _whole_entry(self, line: bytes) -> Entry | None:
        try:
            entry = Entry(**_value(line) or {})
        except TypeError:
            return None
        body = self._part.read(entry.bytes)
        return entry if len(body) == entry.bytes and zlib.crc32(body) == entry.crc else None

    def add(self, block: Block, body: bytes) -> None:
        """Append a block as the part holds it: its bytes first, then the line that makes them count."""
        entry = Entry(block.first, block.end, block.records, len(body), zlib.crc32(body), block.tally)
        self._part.write(body)
        self._part.flush()
        self._lines.write(orjson.dumps(entry._asdict()) + b"\n")
        self._lines.flush()
        self._count(entry)

    def _count(self, entry: Entry) -> None:
        self.records += entry.records
        self.end = entry.end

    def bodies(self) -> Iterator[bytes]:
        """The bytes of each block."""
        self._part.seek(self._head)
        self._lines.seek(0)
        self._lines.readline()
        for line in self._lines:
            yield self._part.read(orjson.loads(line)["bytes"])

    def complete(self, tail: bytes) -> None:
        """Write the end of the part, and have all of it on the disk. The tail is cut off again if the run goes on."""
        self._part.seek(0, os.SEEK_END)
        self._part.write(tail)
        self._part.flush()
        os.fsync(self._part.fileno())

    def close(self) -> None:
        """Let go of the files."""
        for file in (self._part, self._lines):
            with suppress(OSError):  # a full disk: what could not be written was told when it was tried
                file.close()

    def remove(self) -> None:
        """Delete both files, if they are there: the part may have become the output."""
        self.part.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)


def left_behind(place: Path) -> list[Entry]:
    """The blocks of a run that was killed when its output was there and its journal not yet removed; removes it."""
    path = journal_of(place)
    try:
        lines = path.read_bytes().splitlines(keepends=True)[1:]
    except FileNotFoundError:
        return []
    path.unlink(missing_ok=True)
    return [Entry(**value) for value in map(_value, lines) if value]


def _opened(path: Path) -> IO[bytes]:
    """Open for reading, and for writing at the end."""
    return path.open("a+b")


def part_of(place: Path) -> Path:
    """Where what is made for an output is kept until it is complete."""
    return place.with_name(place.name + ".part")


def journal_of(place: Path) -> Path:
    """Where it is written what the part holds."""
    return place.with_name(place.name + ".journal")


def is_begun(place: Path) -> bool:
    """Whether a run for this output was begun and not completed. A journal alone is of a run killed at its very end."""
    return part_of(place).exists()


def _held(path: Path, place: Path) -> IO[bytes]:
    """The journal, opened. Other runs are kept away for as long as it is open."""
    while True:
        file = _opened(path)
        _lock(file, place)
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()  # between opening and locking, the run that had it was completed, and removed it


def _lock(file: IO[bytes], place: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise UsageError(f"another run is writing {place}") from None
    except OSError:  # some network file systems have no locks
        return


def _value(line: bytes) -> dict[str, Any] | None:
    """What a line says; None if it was cut off."""
    if not line.endswith(b"\n"):
        return None
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None
