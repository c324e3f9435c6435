"""The journal of a run: which blocks have been made, so that a killed run can be resumed.

    OUT.part       the blocks, one behind the other, as they were written; for an output that is a folder, a folder with
                   the blocks in `.records` and the files that belong to them
    OUT.journal    JSON Lines: first the header, which names the run; then one line for each block of the part; last,
                   before the output gets its name, the conclusion

A line begins with the CRC-32 of its own text and of all lines before it. A block counts when its line is whole and its
bytes in the part, and its files, are those that the line describes. Whatever follows the last such block, in either
file, was being written when the run was killed, and is cut off when the run is resumed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from vqagen.errors import Problem, UsageError, warn
from vqagen.run.work import Block

Header = Mapping[str, Any]
_OPENING = b'{"journal":"vqagen"'
"""What every journal begins with."""
RECORDS = ".records"
"""The name of the blocks in the part of an output that is a folder."""
_CHECK = len(b"00000000 ")


class Entry(NamedTuple):
    """A block in the part."""

    first: int
    """Absolute index of its first item."""
    end: int
    """One behind its last item's."""
    records: int
    length: int
    """How long it is in the part."""
    crc: int
    """CRC-32 of its bytes."""
    tally: Mapping[str, Any]
    files: Mapping[str, int]
    """Name -> CRC-32 of each file that belongs to the block."""


class Conclusion(NamedTuple):
    """The result of an output, noted when it is written and before it gets its name."""

    records: int
    selection: Mapping[str, Any]
    """The record of the selection from all records; empty where none was made."""


class _Line(NamedTuple):
    """A line of a journal, behind the first."""

    value: dict[str, Any]
    length: int
    check: int


class Journal:
    """The journal of an output, held against other processes, and the part. Closing keeps both."""

    def __init__(self, place: Path, is_folder: bool = False) -> None:
        """`place`: the name of the output that the part will become. Nothing is made before `hold`."""
        self.place, self.part, self.path = place, part_of(place), journal_of(place)
        self.records_part = self.part / RECORDS if is_folder else self.part
        self._lines: IO[bytes] = BytesIO()
        self.is_new = self.is_begun_anew = self.is_concluded = False
        """True if there was no journal; if this run has deleted the blocks of an earlier one; if the conclusion is in
        the journal."""
        self._sum = 0
        """Check sum of the last line, which goes into that of the next."""
        self._opened_part: IO[bytes] | None = None
        self._opening: tuple[bytes, bytes] | None = None
        self.records = 0
        """Records in the part."""
        self.end: int | None = None
        """One behind the last item that is done; None while there is no block."""
        self._head = 0

    def hold(self) -> Journal:
        """Open and lock the journal; return it. Other runs are refused until it is closed.

        Raises UsageError if another run has it, or if the file that has its name is no journal.
        """
        is_held = False
        while not is_held:
            try:
                handle, is_new = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o666), True
                self._lines = os.fdopen(handle, "a+b")
            except FileExistsError:
                self._lines, is_new = _opened(self.path), False
            try:
                _lock(self._lines, self.place)
                is_held = os.fstat(self._lines.fileno()).st_nlink > 0
            finally:
                if not is_held:  # between opening and locking, the run that had it may have completed and removed it
                    self._lines.close()
        self.is_new = is_new
        self._refuse_other_files()
        return self

    def _refuse_other_files(self) -> None:
        self._lines.seek(0)
        opening = self._lines.read(len(_OPENING))
        if not _OPENING.startswith(opening):
            self._lines.close()
            raise UsageError(f"{self.path} is in the way, and no journal of a run: move it, or name another output")

    @property
    def _part(self) -> IO[bytes]:
        if self._opened_part is None:
            self.records_part.parent.mkdir(exist_ok=True)
            self._opened_part = _opened(self.records_part)
        return self._opened_part

    @property
    def _is_folder(self) -> bool:
        return self.records_part != self.part

    def begin(self, header: Header, head: bytes = b"") -> None:
        """Prepare for the blocks of a new run, which `header` describes; the part begins with `head`.

        An earlier run's blocks are deleted when the first new block is added: a run that makes none keeps them.
        """
        self._opening = orjson.dumps({"journal": "vqagen", "run": header}), head

    def _begin_now(self) -> None:
        if self._opening is None:
            return
        (header, head), self._opening = self._opening, None
        self.is_begun_anew = True
        self.records, self.end, self._head = 0, None, len(head)
        self._lines.truncate(0)
        if self._is_folder:
            self.drop_part()
        self._part.truncate(0)
        self._part.write(head)
        self._part.flush()
        self._lines.write(header + b"\n")
        self._lines.flush()
        self._sum = zlib.crc32(header)

    def header(self) -> dict[str, Any] | None:
        """Return the header of the run; None if there is none yet, empty if the journal is damaged."""
        self._lines.seek(0)
        line = self._lines.readline()
        if not line.endswith(b"\n"):
            return None
        with suppress(orjson.JSONDecodeError):
            match orjson.loads(line):
                case {"run": dict(header)}:
                    return header
        return {}

    def _read_lines(self) -> Iterator[_Line]:
        """Yield the lines behind the header up to the first that is damaged or missing."""
        self._lines.seek(0)
        before = zlib.crc32(self._lines.readline()[:-1])
        for line in self._lines:
            check, text = line[:_CHECK], line[_CHECK:-1]
            before = zlib.crc32(text, before)
            if check != b"%08x " % before or not line.endswith(b"\n"):
                return
            yield _Line(orjson.loads(text), len(line), before)

    def _write_line(self, value: Entry | Conclusion) -> None:
        text = orjson.dumps(value._asdict())
        check = zlib.crc32(text, self._sum)
        self._lines.write(b"%08x %s\n" % (check, text))
        self._lines.flush()
        self._sum = check

    def resume(self, head: bytes = b"") -> Iterator[tuple[Entry, bytes]]:
        """Yield each whole block with its bytes, and cut off what follows the last one.

        To be exhausted before anything is added.
        """
        self.records, self.end, self._head = 0, None, len(head)
        self._lines.seek(0)
        header = self._lines.readline()
        kept, length, self._sum = len(header), len(head), zlib.crc32(header[:-1])
        self._part.seek(0)
        if self._part.read(len(head)) != head:
            self._part.truncate(0)
            self._part.write(head)
        for line in self._read_lines():
            entry = _entry(line.value)
            body = self._part.read(entry.length) if entry else b""
            if entry is None or not self._is_whole(entry, body):
                break
            kept += line.length
            length += entry.length
            self._sum = line.check
            self._count(entry)
            yield entry, body
        self._part.truncate(length)
        self._lines.truncate(kept)

    def _is_whole(self, entry: Entry, body: bytes) -> bool:
        """True if the bytes and the files of a block are those that its line describes."""
        if len(body) != entry.length or zlib.crc32(body) != entry.crc:
            return False
        return all(_crc_of(self.part / name) == crc for name, crc in entry.files.items())

    def add(self, block: Block, body: bytes) -> None:
        """Append a block as the part holds it: its files and bytes first, then the line that makes them count."""
        self._begin_now()
        files = {name: zlib.crc32(content) for name, content in block.files.items()}
        entry = Entry(block.first, block.end, block.records, len(body), zlib.crc32(body), block.tally, files)
        self._write_files(block.files)
        self._part.write(body)
        self._part.flush()
        self._write_line(entry)
        self._count(entry)

    def _write_files(self, files: Mapping[str, bytes]) -> None:
        assert self._is_folder or not files, "files belong into a folder"
        for name, content in files.items():
            path = self.part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def _count(self, entry: Entry) -> None:
        self.records += entry.records
        self.end = entry.end

    def bodies(self) -> Iterator[bytes]:
        """Yield the bytes of each block."""
        self._begin_now()
        self._part.seek(self._head)
        for line in self._read_lines():
            yield self._part.read(line.value["length"])

    def complete(self, tail: bytes) -> None:
        """Write the end of the part, and have all of it on the disk. Resuming the run cuts the tail off again."""
        self._begin_now()
        self._part.seek(0, os.SEEK_END)
        self._part.write(tail)
        self._part.flush()
        os.fsync(self._part.fileno())

    def conclude(self, conclusion: Conclusion) -> None:
        """Write the conclusion, before the output gets its name. Resuming the run cuts it off again."""
        self._write_line(conclusion)
        self.is_concluded = True

    def left_behind(self, header: Header) -> tuple[list[Entry], Conclusion] | None:
        """Return the blocks and the conclusion of a run that was killed when its output was there already.

        Return None if the journal is of another run, or damaged.
        """
        if self.header() != header:
            return None
        *blocks, last = [line.value for line in self._read_lines()] or [{}]
        if last.keys() != set(Conclusion._fields):
            return None
        return [Entry(**block) for block in blocks], Conclusion(**last)

    def close(self) -> None:
        """Close the files. Delete a journal in which no run was begun."""
        if self.is_new and not self.is_begun_anew:
            self.path.unlink(missing_ok=True)
        for file in (self._opened_part, self._lines):
            if file is not None:
                with suppress(OSError):  # a full disk: the error was raised when writing
                    file.close()

    def drop_part(self) -> None:
        """Delete the part, if it is there: it may have become the output."""
        if self._opened_part is not None and self._is_folder:
            self._opened_part.close()
            self._opened_part = None
        if self.part.is_dir():
            shutil.rmtree(self.part)
        else:
            self.part.unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete both files. Another run may then take the name."""
        self.drop_part()
        self.path.unlink(missing_ok=True)
        self.is_new = False


def _crc_of(path: Path) -> int | None:
    """Return the CRC-32 of a file; None if there is none."""
    return zlib.crc32(path.read_bytes()) if path.is_file() else None


def _opened(path: Path) -> IO[bytes]:
    """Open for reading, and for writing at the end."""
    return path.open("a+b")


def part_of(place: Path) -> Path:
    """Return the path of the part: the blocks of an output until it is complete."""
    return place.with_name(place.name + ".part")


def journal_of(place: Path) -> Path:
    """Return the path of the journal, which describes the part."""
    return place.with_name(place.name + ".journal")


def is_begun(place: Path) -> bool:
    """True if a run for this output is unfinished. A journal alone is left by a run killed at its very end."""
    return part_of(place).exists()


def drop_unused(place: Path) -> None:
    """Delete an empty journal that no run holds: a run was stopped just when it had made it."""
    with suppress(OSError), journal_of(place).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.fstat(file.fileno()).st_size and not is_begun(place):
            journal_of(place).unlink()


def _lock(file: IO[bytes], place: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(f"another run is writing {place}") from None
    except OSError as error:  # some network file systems have no locks
        message = f"cannot be locked ({error.strerror}): take care that no other run writes it at the same time"
        warn(Problem(message, str(place)))


def _entry(value: Mapping[str, Any]) -> Entry | None:
    """Return the block that a line describes; None for a conclusion."""
    return Entry(**value) if value.keys() == set(Entry._fields) else None
