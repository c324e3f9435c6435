"""The journal of a run: which blocks have been made, so that a killed run can be resumed.

    OUT.part       the blocks, one behind the other, with a record a line; for an output that is a folder, a folder with
                   the blocks in `.records` and the files that belong to them
    OUT.journal    JSON Lines: first the header, which names the run; then one line for each block of the part

A line begins with the CRC-32 of its own text and of all lines before it. A block counts when its line is whole and its
bytes in the part, and its files, are those that the line describes. Whatever follows the last such block, in either
file, was being written when the run was killed, and is cut off when the run is resumed.

    {"journal":"vqagen","run":{"info":{…},"format":"jsonl"}}
    3a6f00d1 {"first":0,"end":250,"records":2431,"length":1764211,"crc":2190841163,"tally":{…},"files":{}}
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


class Journal:
    """The journal of an output, held against other processes, and the part. Closing keeps both."""

    def __init__(self, place: Path, is_folder: bool = False) -> None:
        """`place`: the name of the output that the part will become. Nothing is made before `hold`."""
        self.place, self.part, self.path = place, part_of(place), journal_of(place)
        self.records_part = self.part / RECORDS if is_folder else self.part
        self._lines: IO[bytes] = BytesIO()
        self._part: IO[bytes] = BytesIO()
        self.is_new = self.is_begun_anew = False
        """True if there was no journal; if this run has deleted the blocks of an earlier one."""
        self._sum = 0
        """The check sum of the last line, which goes into that of the next."""
        self.end: int | None = None
        """One behind the last item that is done; None while there is no block."""

    def hold(self) -> Journal:
        """Open and lock the journal; return it. Other runs are refused until it is closed.

        Raises UsageError if another run has it, or if the file that has its name is no journal.
        """
        is_held = False
        while not is_held:
            self.is_new = not self.path.exists()
            self._lines = self.path.open("a+b")
            try:
                _lock(self._lines, self.place)
                is_held = os.fstat(self._lines.fileno()).st_nlink > 0
            finally:
                if not is_held:  # between opening and locking, the run that had it may have completed and removed it
                    self._lines.close()
        self._refuse_other_files()
        return self

    def _refuse_other_files(self) -> None:
        self._lines.seek(0)
        opening = self._lines.read(len(_OPENING))
        if not _OPENING.startswith(opening):
            self._lines.close()
            raise UsageError(f"{self.path} is in the way, and no journal of a run: move it, or name another output")

    def begin(self, header: Mapping[str, Any]) -> None:
        """Delete what an earlier run made, and prepare for a run that `header` describes.

        A part never lacks its header, whenever this is killed.
        """
        self.drop_part()
        self.is_begun_anew = True
        self.end = None
        line = orjson.dumps({"journal": "vqagen", "run": header})
        self._lines.truncate(0)
        self._lines.write(line + b"\n")
        self._lines.flush()
        self._sum = zlib.crc32(line)
        self._open_part()

    def _open_part(self) -> IO[bytes]:
        self.records_part.parent.mkdir(exist_ok=True)
        self._part = self.records_part.open("a+b")
        return self._part

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

    def _entries(self) -> Iterator[tuple[Entry, int, int]]:
        """Yield each entry, the place behind its line, and its check sum, up to a line that is damaged or missing."""
        self._lines.seek(0)
        header = self._lines.readline()
        place, check = len(header), zlib.crc32(header[:-1])
        for line in self._lines:
            text = line[_CHECK:-1]
            place, check = place + len(line), zlib.crc32(text, check)
            if line[:_CHECK] != b"%08x " % check or not line.endswith(b"\n"):
                return
            yield Entry(**orjson.loads(text)), place, check

    def resume(self) -> Iterator[Entry]:
        """Yield each whole block, and cut off what follows the last one.

        To be exhausted before anything is added.
        """
        self._lines.seek(0)
        first = self._lines.readline()
        kept, lines, self._sum = 0, len(first), zlib.crc32(first[:-1])
        part = self._open_part()
        part.seek(0)
        for entry, place, check in self._entries():
            body = part.read(entry.length)
            if not self._is_whole(entry, body):
                break
            lines, kept, self._sum = place, kept + entry.length, check
            self.end = entry.end
            yield entry
        part.truncate(kept)
        self._lines.truncate(lines)

    def _is_whole(self, entry: Entry, body: bytes) -> bool:
        """True if the bytes and the files of a block are those that its line describes."""
        if len(body) != entry.length or zlib.crc32(body) != entry.crc:
            return False
        return all(_crc_of(self.part / name) == crc for name, crc in entry.files.items())

    def add(self, block: Block) -> None:
        """Append a block: its files and bytes first, then the line that makes them count."""
        files = {name: zlib.crc32(content) for name, content in block.files.items()}
        for name, content in block.files.items():
            path = self.part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        self._part.write(block.body)
        self._part.flush()
        length, crc = len(block.body), zlib.crc32(block.body)
        text = orjson.dumps(Entry(block.first, block.end, block.records, length, crc, block.tally, files)._asdict())
        self._sum = zlib.crc32(text, self._sum)
        self._lines.write(b"%08x %s\n" % (self._sum, text))
        self._lines.flush()
        self.end = block.end

    def bodies(self) -> Iterator[tuple[int, bytes]]:
        """Yield the first item of each block, and its bytes."""
        self._part.seek(0)
        for entry, _, _ in self._entries():
            yield entry.first, self._part.read(entry.length)

    def close(self) -> None:
        """Close the files."""
        for file in (self._part, self._lines):
            with suppress(OSError):  # a full disk: the error was raised when writing
                file.close()

    def drop_part(self) -> None:
        """Delete the part, if it is there: it may have become the output."""
        with suppress(OSError):
            self._part.close()
        if self.part.is_dir():
            shutil.rmtree(self.part)
        else:
            self.part.unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete both files. Another run may then take the name."""
        self.drop_part()
        self.path.unlink(missing_ok=True)


def _crc_of(path: Path) -> int | None:
    """Return the CRC-32 of a file; None if there is none."""
    return zlib.crc32(path.read_bytes()) if path.is_file() else None


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
    """Delete an empty journal that no run holds: its run made nothing, or was stopped just when it had made it."""
    with suppress(OSError), journal_of(place).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.fstat(file.fileno()).st_size:
            journal_of(place).unlink()


def _lock(file: IO[bytes], place: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(f"another run is writing {place}") from None
    except OSError as error:  # some network file systems have no locks
        message = f"cannot be locked ({error.strerror}): take care that no other run writes it at the same time"
        warn(Problem(message, str(place)))
