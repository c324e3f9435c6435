"""The output of a run: which file or folder it becomes, who may write it, and how it is made of finished blocks."""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from vqagen.errors import BadInput, UsageError
from vqagen.files.formats import (
    Arrangement,
    Encode,
    Format,
    Record,
    Selection,
    decode_lines,
    encode_lines,
    info_beside,
    record_file,
)
from vqagen.files.info import describe_output
from vqagen.files.locations import locate
from vqagen.files.output import STDOUT, atomic_output, check_output, is_stream, linked, settle, sweep
from vqagen.frozen import frozen
from vqagen.run.blocks import BlockFolder, held, is_begun, part_of
from vqagen.run.windows import ROW_GROUP, block_of
from vqagen.tasks.contract import find_record_file

if TYPE_CHECKING:
    from vqagen.files.parquet import RecordColumns


@frozen
class Destination:
    """The place of an output: a file, standard output, or a folder with a record file and what belongs to it."""

    name: str
    """As the user gave it."""
    form: Format
    folder_of: str = ""
    """For a folder: the key of the records, such as `trials` for a folder with `trials.json`; "" for a file."""

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
        """The path beside which the blocks lie: the output (or what it links to); for a URL, a name in this folder."""
        location = locate(self.name)
        if isinstance(location, Path):
            is_nameless = location.name in ("", "..")  # "." has no name that another could be made of
            return linked(location) if location.is_symlink() or is_nameless else location
        return Path(f"{location.name}.{zlib.crc32(str(location).encode()):08x}")  # two URLs may end in one name

    @property
    def record_file(self) -> str:
        """The name of the file that holds the records: the one that is there, in any format, or the one to be made."""
        if not self.is_folder:
            return self.name
        return str(find_record_file(self.place, self.folder_of) or self.place / self._inner_name)

    def records_in(self, folder: Path) -> Destination:
        """Return the destination of the record file of this output while it is made in another folder."""
        return Destination(str(folder / self._inner_name), self.form)

    @property
    def _inner_name(self) -> str:
        return f"{self.folder_of}{self.form.endings[0]}"

    @property
    def names(self) -> list[str]:
        """All names that a run writes to: the output, its folder of blocks, and the info beside it."""
        if self.is_stream:
            return [self.name]
        beside = None if self.is_folder else info_beside(self.name, self.form)
        return [self.name, str(part_of(self.place)), *([beside] if beside else [])]

    def check(self, force: bool, inputs: list[str]) -> None:
        """Raise UsageError if the output cannot be written, is one of the `inputs`, or is there without `force`."""
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


def make_destination(name: str, form: Format, folder_of: str = "") -> Destination:
    """Return the destination that a user names; the name of a folder may end in a slash."""
    return Destination(name.rstrip("/" + os.sep) or name if folder_of else name, form, folder_of)


def _is_ours(path: Path) -> bool:
    try:
        info = describe_output(path).info
    except (BadInput, UsageError):
        return False
    match info:
        case {"generator": {"name": "vqagen"}}:
            return True
    return False


@frozen
class Output:
    """An output of a run, and how its records get there."""

    destination: Destination
    info: Record
    columns: RecordColumns | None = None
    """For Parquet."""
    selection: Selection | None = None
    """Chooses from the records when all are there; None if every record stays."""

    @property
    def form(self) -> Format:
        """The format of the record file."""
        return self.destination.form

    @property
    def arrangement(self) -> Arrangement:
        """How the records stand in the output."""
        return Arrangement(**self.info["generator"]["arrangement"])

    @property
    def encode(self) -> Encode:
        """How workers encode the records of a block: one a line."""
        return partial(_encode_fitting, self.columns) if self.columns else encode_lines


def _encode_fitting(columns: RecordColumns, given: Iterable[Record]) -> bytes:
    """Return records, one a line. Raises BadInput for records that do not fit their columns."""
    records = list(given)
    columns.table(records)  # raises it
    return encode_lines(records)


# The claim on its name --------------------------------------------------------------------------------------------


@contextmanager
def claimed(
    destination: Destination, *, resume: bool = False, force: bool = False, inputs: Iterable[Path | str] = ()
) -> Iterator[BlockFolder | None]:
    """Hold an output's name until the context ends; yield the folder of its blocks, or None for a stream.

    Raises UsageError if the output cannot be written, is one of the `inputs`, is being written by another run, or is
    there and neither `resume` nor `force` is set. An output that is there stays as it is until the new one is complete.
    """
    if resume and force:
        raise UsageError("--resume finishes what is there and --force replaces it; choose one")
    given = [str(name) for name in inputs]
    destination.check(resume or force, given)
    if destination.is_stream:
        if resume:
            raise UsageError("--resume needs a file to finish, and the output is a stream")
        yield None
        return
    part = part_of(destination.place)
    if not part.is_dir():
        check_output(str(part), True, given)
    with held(destination.place) as folder:
        if is_begun(destination.place) and not (resume or force):
            choice = "give --resume to finish it, or --force to begin anew"
            raise UsageError(f"{part} holds an unfinished run; {choice}")
        destination.check(resume or force, given)  # another run may have made it since
        for written in destination.names:
            sweep(written)
        yield folder


# From finished blocks to the output ----------------------------------------------------------------------------------

_SYNCS = 16

Blocks = Iterable[tuple[int, bytes]]
"""The first item of each block, and its records, one a line, which say 0 for their number."""
Finish = Callable[[int, Mapping[str, Any]], object]
"""Called with the number of records in the output, and the record of their selection, before it gets its name."""


def publish(blocks: Blocks, files: Path, output: Output, finish: Finish) -> None:
    """Make the output of all blocks. A folder is completed in `files`, which is then renamed to the output."""
    destination = output.destination
    if not destination.is_folder:
        write_blocks(output, blocks, finish)
        return
    files.mkdir(exist_ok=True)
    write_blocks(replace(output, destination=destination.records_in(files)), blocks, finish)
    replace_folder(files, destination.place)


def write_blocks(output: Output, blocks: Blocks, finish: Finish = lambda count, selection: None) -> int:
    """Write the records that the selection keeps to the file or stream of the output, and return their number.

    One pass, block by block.
    """
    kept, name = _Kept(output, blocks), output.destination.name

    def conclude() -> None:
        finish(kept.count, kept.selection.to_record() if kept.selection else {})

    if output.form.is_binary:
        assert output.columns is not None, f"no columns for {output.arrangement.key}"
        with atomic_output(name, conclude) as file:
            output.columns.write(kept.row_groups(), file, output.info)
    else:
        with record_file(name, output.form, output.info, output.arrangement, conclude) as writer:
            for _, body in kept.chosen():
                writer.write_lines(body)
    return kept.count


class _Kept:
    """The records of blocks that the selection keeps, and their count so far."""

    def __init__(self, output: Output, blocks: Blocks) -> None:
        self._output, self._blocks, self.count = output, blocks, 0
        self.selection = deepcopy(output.selection)  # it remembers what it was asked

    def chosen(self) -> Iterator[tuple[int, bytes]]:
        """Yield each block without the records that the selection rejects."""
        for first, body in self._blocks:
            if self.selection is not None:
                lines = (line for line in body.splitlines(keepends=True) if self.selection.keeps(orjson.loads(line)))
                body = b"".join(lines)
            self.count += body.count(b"\n")
            yield first, body

    def row_groups(self) -> Iterator[list[dict[str, Any]]]:
        """Yield the records of each window, or of the pieces of a long one."""
        window = self._output.arrangement.window
        for _, blocks in groupby(self.chosen(), key=lambda block: block_of(block[0], window, ROW_GROUP)):
            yield [record for _, body in blocks for record in decode_lines(body)]


def replace_folder(part: Path, place: Path) -> None:
    """Give a complete folder the name of the output, in place of the folder that has it."""
    _sync_files(part)
    if place.exists():
        drop_replaced(place)
        os.rename(place, _replaced(place))
    os.rename(part, place)
    settle(place.parent)
    drop_replaced(place)


def drop_replaced(place: Path) -> None:
    """Delete the folder that an output replaced: a run may be killed before it did so."""
    shutil.rmtree(_replaced(place), ignore_errors=True)


def _replaced(place: Path) -> Path:
    return place.with_name(f".{place.name}.replaced")


def _sync_files(folder: Path) -> None:
    """Force all files of a folder to the disk. Many at once take a thirtieth of the time of one after the other."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_SYNCS) as pool:
        list(pool.map(_sync, [path for path in folder.rglob("*") if path.is_file()]))


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
