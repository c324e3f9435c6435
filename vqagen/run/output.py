"""The output of a run: which file or folder it becomes, who may write it, how its records are staged and published."""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.files.formats import (
    JSON_LINES,
    Arrangement,
    Encode,
    Format,
    Layout,
    Record,
    Selection,
    Shape,
    decode_lines,
    encode_lines,
    info_beside,
    record_file,
    write_info,
)
from vqagen.files.info import describe_output
from vqagen.files.locations import locate
from vqagen.files.output import STDOUT, atomic_output, check_output, is_stream, linked, settle, sweep
from vqagen.files.packing import packing_of
from vqagen.files.parquet import RecordColumns
from vqagen.run.journal import RECORDS, Journal, drop_unused, is_begun, journal_of, part_of
from vqagen.tasks.record_files import find_record_file


@dataclass(frozen=True)
class Target:
    """The place of an output: a file, standard output, or a folder with a record file and what belongs to it."""

    name: str
    """As the user gave it."""
    form: Format
    folder_of: str = ""
    """For a folder: the key of the records, which names the file that they stand in."""

    @property
    def is_folder(self) -> bool:
        """True if the output is a folder."""
        return bool(self.folder_of)

    @property
    def is_stream(self) -> bool:
        """True if the output is written as it comes."""
        return not self.is_folder and is_stream(self.name)

    @cached_property
    def place(self) -> Path:
        """What the part lies beside: the target (or what it links to), or for a URL its name in this folder."""
        location = locate(self.name)
        if isinstance(location, Path):
            is_nameless = location.name in ("", "..")  # "." has no name that another could be made of
            return linked(location) if location.is_symlink() or is_nameless else location
        return Path(f"{location.name}.{zlib.crc32(str(location).encode()):08x}")  # two URLs may end in one name

    @property
    def record_file(self) -> str:
        """The name of the file that the records stand in: the one that is there in any format, or is to be made."""
        if not self.is_folder:
            return self.name
        return str(find_record_file(self.place, self.folder_of) or self.place / self._inner_name)

    def records_in(self, folder: Path) -> Target:
        """Return the target of the record file if the output is made in another folder."""
        return Target(str(folder / self._inner_name), self.form)

    @property
    def _inner_name(self) -> str:
        return f"{self.folder_of}{self.form.endings[0]}"

    @property
    def names(self) -> list[str]:
        """All names that a run writes to for the target, meanwhile or for good."""
        if self.is_stream:
            return [self.name]
        beside = None if self.is_folder else info_beside(self.name, self.form)
        return [self.name, str(part_of(self.place)), str(journal_of(self.place)), *([beside] if beside else [])]

    def check(self, force: bool, inputs: list[str]) -> None:
        """Raise UsageError if the target cannot be written, is one of the `inputs`, or is there without `force`."""
        if self.is_folder:
            self._check_folder(force, inputs)
            return
        for name in filter(None, (self.name, info_beside(self.name, self.form))):
            check_output(name, force, inputs)

    def _check_folder(self, force: bool, inputs: list[str]) -> None:
        if self.name == STDOUT or not isinstance(locate(self.name), Path):
            raise UsageError(f"output {self.name}: {self.folder_of} come with files; name a local folder")
        place = linked(self.place)
        if place in (Path.cwd(), *Path.cwd().parents):
            raise UsageError(f"output {self.name} is the current folder or holds it; name another folder")
        read = [linked(path) for path in map(locate, inputs) if isinstance(path, Path)]
        if any(place in (path, *path.parents) or (path.is_dir() and path in place.parents) for path in read):
            raise UsageError(f"output {self.name} is in use by the same run; name another folder")
        if not self.place.is_dir():
            check_output(str(self.place), False, inputs)
        elif any(self.place.iterdir()):
            if not force:
                raise UsageError(f"output {self.name} exists already; give --force to replace it")
            if not _is_ours(Path(self.record_file)):
                what = f"it holds no {self.folder_of} of vqagen"
                raise UsageError(f"output {self.name} is a folder of something else ({what}); name another folder")


def make_target(name: str, form: Format, folder_of: str = "") -> Target:
    """Return the target of a name; a folder's name may end in a slash."""
    return Target(name.rstrip("/" + os.sep) or name if folder_of else name, form, folder_of)


def _is_ours(path: Path) -> bool:
    try:
        info = describe_output(path).info
    except (BadInput, UsageError):
        return False
    match info:
        case {"generator": {"name": "vqagen"}}:
            return True
    return False


@dataclass(frozen=True)
class Output:
    """An output of a run, and how its records get there.

    Records are staged in a part (see `journal`), and the output is made of the part when all are there: once, for a
    selection remembers the records.
    """

    target: Target
    info: Record
    columns: RecordColumns | None = None
    """For Parquet."""
    selection: Selection | None = None
    """Chooses from the records when all are there; None if every record stays."""

    @property
    def form(self) -> Format:
        """The format of the record file."""
        return self.target.form

    @property
    def is_staged_as_it_is(self) -> bool:
        """True if the complete part is what the record file says, before packing."""
        return self.selection is None and not self.form.is_binary and not self.form.is_gathered

    @property
    def arrangement(self) -> Arrangement:
        """How the records stand in the output."""
        return Arrangement(**self.info["generator"]["arrangement"])

    @property
    def shape(self) -> Shape | None:
        """The entries of the output; None if the records stand in it as they are."""
        return self.form.shape(self.info) if self.form.shape else None

    @property
    def staged(self) -> Layout:
        """How the part is written."""
        if self.selection is not None:  # it chooses from the records
            return JSON_LINES.layout(self.arrangement)
        numbered = self.arrangement._replace(number_key=self.shape.number_key) if self.shape else self.arrangement
        form = JSON_LINES if self.form.is_gathered else self.form
        return form.layout(numbered)

    @property
    def encode(self) -> Encode:
        """How workers encode the records of a block."""
        if self.selection is not None:
            return encode_lines
        if self.form.is_binary:
            assert self.columns is not None, f"no columns for {self.arrangement.key}"
            return self.columns.encode
        return self.shape.encode if self.shape else encode_lines


# The claim on its name --------------------------------------------------------------------------------------------


@contextmanager
def claimed(
    target: Target, *, resume: bool = False, force: bool = False, inputs: Iterable[Path | str] = ()
) -> Iterator[Journal | None]:
    """Hold an output's name until the block ends; yield its journal, or None for an output that is written as it comes.

    Raises UsageError if it cannot be written, is one of the `inputs` or another run's, and if something is there that
    is neither to be resumed nor to be replaced. Nothing that is there changes before the run has something to replace
    it with.
    """
    if resume and force:
        raise UsageError("--resume finishes what is there and --force replaces it; choose one")
    given = [str(name) for name in inputs]
    target.check(resume or force, given)
    if target.is_stream:
        if resume:
            raise UsageError("--resume needs a file to finish, and the output is a stream")
        yield None
        return
    place = target.place
    for name in (part_of(place), journal_of(place)):
        if not (target.is_folder and name.is_dir()):
            check_output(str(name), True, given)
    with _held(place, target.is_folder) as journal:
        if is_begun(place) and not force:
            if journal.is_new:
                raise UsageError(f"{journal.part} has lost its journal, {journal.path.name}; --force replaces it")
            if not resume:
                choice = "give --resume to finish it, or --force to begin anew"
                raise UsageError(f"{journal.part} holds an unfinished run; {choice}")
        target.check(resume or force, given)  # another run may have made it since
        for written in target.names:
            sweep(written)
        yield journal


@contextmanager
def _held(place: Path, is_folder: bool = False) -> Iterator[Journal]:
    try:
        with closing(Journal(place, is_folder)) as journal:
            try:
                journal.hold()
            except OSError as error:
                name = error.filename or journal.path
                raise VqagenError(f"cannot write {name}: {error.strerror or error}") from None
            yield journal
    finally:
        drop_unused(place)  # a signal may come between any two steps of the above


@contextmanager
def temporary_journal() -> Iterator[Journal]:
    """Yield the journal of a stream whose records are selected, or turned into columns, when all are there."""
    with TemporaryDirectory(prefix="vqagen-") as folder, _held(Path(folder, "output")) as journal:
        yield journal


# From a complete part to the output: renamed, compressed, uploaded, selected from, gathered or turned into Parquet ---

_CHUNK = 1 << 20
_SYNCS = 16


Finish = Callable[[int, Mapping[str, Any]], object]
"""Called with the number of records in the output, and the record of their selection, before it gets its name."""


def publish(journal: Journal, output: Output, placing: Layout, finish: Finish) -> None:
    """Make the output of its part, which is complete, and delete the part. `placing` has placed the part's blocks."""
    publish_records = _as_it_is if output.is_staged_as_it_is else _rewritten
    target = output.target
    publish_records(journal, output, target.records_in(journal.part) if target.is_folder else target, placing, finish)
    if target.is_folder:
        replace_folder(journal.part, target.place)
    journal.drop_part()


def replace_folder(part: Path, place: Path) -> None:
    """Give a complete part the name of the output, in place of the folder that has it."""
    _sync_files(part)
    if place.exists():
        shutil.rmtree(_replaced(place), ignore_errors=True)
        os.rename(place, _replaced(place))
    os.rename(part, place)
    settle(place.parent)
    tidy_folder(place)


def tidy_folder(place: Path) -> None:
    """Delete what a complete folder does not need: the blocks of its part, and the folder that it replaced."""
    (place / RECORDS).unlink(missing_ok=True)
    shutil.rmtree(_replaced(place), ignore_errors=True)


def _replaced(place: Path) -> Path:
    return place.with_name(f".{place.name}.replaced")


def _sync_files(folder: Path) -> None:
    """Have all files of a folder on the disk. Asked at once for many, a disk takes a thirtieth of the time."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_SYNCS) as pool:
        list(pool.map(_sync, [path for path in folder.rglob("*") if path.is_file()]))


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _as_it_is(journal: Journal, output: Output, target: Target, placing: Layout, finish: Finish) -> None:
    """Publish the part: rename, compress or upload it."""

    def conclude() -> None:
        write_info(target.name, target.form, output.info, placing.checksum)
        finish(journal.records, {})

    journal.complete(placing.tail(placing.checksum))
    if output.target.is_folder or packing_of(target.name) or not isinstance(locate(target.name), Path):
        with journal.records_part.open("rb") as part, atomic_output(target.name, conclude) as file:
            shutil.copyfileobj(part, file, _CHUNK)
    else:
        conclude()
        os.replace(journal.part, target.place)
        settle(target.place.parent)


def _rewritten(journal: Journal, output: Output, target: Target, placing: Layout, finish: Finish) -> None:
    """Publish the records of the part through memory, block by block."""
    kept = _Kept(journal, output)

    def conclude() -> None:
        finish(kept.count, kept.selection.to_record() if kept.selection else {})

    if output.form.is_binary:
        assert output.columns is not None
        batches = map(output.columns.encode, kept.blocks()) if kept.selection else kept.bodies()
        with atomic_output(target.name, conclude) as file:
            output.columns.write(batches, file, output.info)
    else:
        with record_file(target.name, target.form, output.info, output.arrangement, conclude) as writer:
            if output.form.is_surveyed:
                for content in _Kept(journal, output).entries(output.shape):
                    writer.layout.survey(content)
            for content in kept.entries(output.shape):
                writer.write(content)


class _Kept:
    """The records of a part that stay in the output, and their count so far."""

    def __init__(self, journal: Journal, output: Output) -> None:
        self.journal, self.number_key = journal, output.arrangement.number_key
        self.selection = deepcopy(output.selection)  # it remembers what it was asked
        self.count = 0

    def bodies(self) -> Iterator[bytes]:
        """Yield all blocks as they are."""
        self.count = self.journal.records
        return self.journal.bodies()

    def entries(self, shape: Shape | None) -> Iterator[Iterable[Record]]:
        """Yield what the output has of each block: its records that stay, or their entries."""
        if self.selection is None:  # a gathered output, whose part holds entries
            return map(decode_lines, self.bodies())
        return map(shape.entries, self.blocks()) if shape else self.blocks()

    def blocks(self) -> Iterator[Sequence[Record]]:
        """Yield each block's records that stay, numbered by their place in the output."""
        assert self.selection is not None
        for body in self.journal.bodies():
            records = [record for record in decode_lines(body) if self.selection.keeps(record)]
            if self.number_key:
                for number, record in enumerate(records, start=self.count):
                    record[self.number_key] = number
            self.count += len(records)
            yield records
