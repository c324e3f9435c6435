"""The finished blocks of a run: files in a folder beside the output, so that a killed run can be resumed.

    OUT.part/run              which run this is, as JSON: the info and format of its output; locked while a run writes
    OUT.part/250-275.block    the records about items 250 to 274
    OUT.part/files/           the files that belong to the records, if the output is a folder

A block is written beside its name and renamed. It is a line of JSON and, behind it, the records, one a line. The line
begins with the CRC-32 of all that follows, so that a block damaged by a loss of power is noticed, and made again:

    3a6f00d1 {"first":250,"end":275,"records":243,"tally":{…},"files":{"images/250.svg":2190841163}}
"""

from __future__ import annotations

import fcntl
import os
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from vqagen.errors import Problem, UsageError, VqagenError, warn

_OPENING = b'{"vqagen_run":'
"""The beginning of every file `run`."""
_CHECK_LENGTH = len(b"00000000 ")


class Block(NamedTuple):
    """The finished records of consecutive items of one window: what is written, and kept, at once."""

    first: int
    """Absolute index of the first item."""
    end: int
    """One behind the last item's."""
    body: bytes
    """The records, one a line, which say 0 for their number."""
    records: int
    tally: Mapping[str, Any]
    """Counts of the task, as JSON."""
    files: Mapping[str, bytes] = {}
    """Name inside the output folder -> content; empty for a block that was read again."""


def in_order(blocks: Iterable[Block], first: int) -> Iterator[Block]:
    """Yield blocks, which come as they are finished, in the order of their items; `first` is the first of all."""
    waiting: dict[int, Block] = {}
    for block in blocks:
        waiting[block.first] = block
        while next_block := waiting.pop(first, None):
            yield next_block
            first = next_block.end
    assert not waiting, f"no block begins at item {first}"


class BlockFolder:
    """The folder of a run's blocks, held against other processes."""

    def __init__(self, place: Path) -> None:
        """`place`: the path of the output that the blocks become. Nothing is made before `hold`."""
        self.place, self.path = place, part_of(place)
        self.files = self.path / "files"
        self._run_file = self.path / "run"  # no .json: it may lie in a folder of scenes that the run reads
        self._removed = self.path.with_name(f".{self.path.name}")
        self._run: IO[bytes] = BytesIO()

    def hold(self) -> None:
        """Make the folder, unless it is there, and lock it: other runs are refused until it is closed.

        Raises UsageError if another run holds it, or if its name is that of something else.
        """
        is_held = False
        while not is_held:
            self._run.close()
            self._refuse_others()
            self.path.mkdir(exist_ok=True)
            with suppress(FileNotFoundError):  # the run that held the folder may just have removed it
                self._run = self._run_file.open("a+b")
                _lock(self._run, self.place)
                is_held = os.path.samestat(os.fstat(self._run.fileno()), self._run_file.stat())
        shutil.rmtree(self._removed, ignore_errors=True)

    def _refuse_others(self) -> None:
        """Raise UsageError for a file or folder that this version did not make."""
        opening = self._run_file.read_bytes()[: len(_OPENING)] if self._run_file.is_file() else b""
        is_new = _OPENING.startswith(opening) and set(self.path.glob("*")) <= {self._run_file}
        if self.path.is_file() or not (is_new or opening == _OPENING):
            how = "finish it with the vqagen that began it, move it, or name another output"
            raise UsageError(f"{self.path} holds no run that this version can resume: {how}")

    def run_record(self) -> dict[str, Any]:
        """Return which run made the blocks, as it was given to `begin`; empty if the file `run` is damaged."""
        self._run.seek(0)
        with suppress(orjson.JSONDecodeError):
            return dict(orjson.loads(self._run.read())["vqagen_run"])
        return {}

    def begin(self, run: Mapping[str, Any]) -> None:
        """Delete what an earlier run made, and write which run this is. No block is added before that."""
        for path in set(self.path.iterdir()) - {self._run_file}:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self._run.truncate(0)
        self._run.write(orjson.dumps({"vqagen_run": run}))
        self._run.flush()

    def add(self, block: Block) -> None:
        """Write a block: first its files, then its records, by which the block counts as finished."""
        sums = {name: zlib.crc32(content) for name, content in block.files.items()}
        for name, content in block.files.items():
            path = self.files / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        described = {"first": block.first, "end": block.end, "records": block.records, "tally": block.tally}
        text = orjson.dumps({**described, "files": sums}) + b"\n" + block.body
        path = self.path / f"{block.first}-{block.end}.block"
        beside = path.with_suffix(".new")
        beside.write_bytes(b"%08x %b" % (zlib.crc32(text), text))
        os.replace(beside, path)

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in the order of their items. Those that are not whole are deleted."""
        for path in sorted(self.path.glob("*.block"), key=lambda path: int(path.stem.partition("-")[0])):
            if block := self._read(path):
                yield block
            else:
                path.unlink()

    def _read(self, path: Path) -> Block | None:
        """Return a block; None if its bytes, or its files, are not those that were written."""
        content = path.read_bytes()
        text = content[_CHECK_LENGTH:]
        if content[:_CHECK_LENGTH] != b"%08x " % zlib.crc32(text):
            return None
        line, _, body = text.partition(b"\n")
        described = orjson.loads(line)
        sums = described.pop("files")
        is_whole = all(_crc_of(self.files / name) == crc for name, crc in sums.items())
        return Block(body=body, **described) if is_whole else None

    def close(self) -> None:
        """Unlock the folder, and delete it if no run was begun in it."""
        with suppress(OSError):  # a full disk: the error was raised when writing
            self._run.close()
        with suppress(OSError), self._run_file.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.fstat(file.fileno()).st_size:
                self._run_file.unlink()
        with suppress(OSError):  # it is gone, or not empty
            self.path.rmdir()

    def remove(self) -> None:
        """Delete the folder. It loses its name first, so that a kill leaves no half of one."""
        shutil.rmtree(self._removed, ignore_errors=True)
        with suppress(FileNotFoundError):  # Ctrl-C may have come when this was half done
            os.rename(self.path, self._removed)
        shutil.rmtree(self._removed, ignore_errors=True)


@contextmanager
def held(place: Path) -> Iterator[BlockFolder]:
    """Yield the block folder of an output, which no other run writes to until the context ends."""
    folder = BlockFolder(place)
    try:
        try:
            folder.hold()
        except OSError as error:
            name = error.filename or folder.path
            raise VqagenError(f"cannot write {name}: {error.strerror or error}") from None
        yield folder
    finally:
        folder.close()


def part_of(place: Path) -> Path:
    """Return the path of the block folder of an output."""
    return place.with_name(place.name + ".part")


def is_begun(place: Path) -> bool:
    """True if there is an unfinished run for this output, also one of version 1, whose part was a file."""
    part = part_of(place)
    return part.is_file() or any(part.glob("*.block"))


def _crc_of(path: Path) -> int | None:
    """Return the CRC-32 of a file; None if there is none."""
    return zlib.crc32(path.read_bytes()) if path.is_file() else None


def _lock(file: IO[bytes], place: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(f"another run is writing {place}") from None
    except OSError as error:  # some network file systems have no locks
        message = f"cannot be locked ({error.strerror}): take care that no other run writes it at the same time"
        warn(Problem(message, str(place)))
