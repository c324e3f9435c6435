"""Shards into the output of one run. Streamed: what is held does not grow with the shards."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from vqagen.errors import BadInput, PlaceError, Problem, UsageError
from vqagen.files.formats import (
    LIST,
    PARQUET,
    Format,
    Record,
    Selection,
    Shape,
    choose_format,
    info_beside,
    record_file,
)
from vqagen.files.locations import Location, files_in, locate, paths_of
from vqagen.files.output import STDOUT, is_stream
from vqagen.run.merging.belonging import differences, faults_of, in_order, merged_info
from vqagen.run.merging.columns import write_columns
from vqagen.run.merging.shard_files import ShardFile, find_records_in, open_shard
from vqagen.run.output.claim import claimed
from vqagen.run.output.journal import is_begun, part_of
from vqagen.run.output.publishing import folder_output
from vqagen.run.output.staging import Target, make_target
from vqagen.tasks import task_named
from vqagen.tasks.contract import Task

BATCH = 1000
"""Records written at once."""
OnMerged = Callable[[int], object]


class MergeResult(NamedTuple):
    """The result of a merge."""

    records: int
    shards: int
    noun: str
    """One record, for people."""


def merge(
    shards: os.PathLike[str] | str | Sequence[os.PathLike[str] | str],
    out: os.PathLike[str] | str,
    *,
    force: bool = False,
    on_merged: OnMerged = lambda _: None,
) -> MergeResult:
    """Write what one run would have written in place of its `shards`, which may be given in any order.

    The ending of `out` chooses the format; shards in that of another tool, or merged into standard output, keep
    theirs. `on_merged` is called now and then with the number of records merged since. Raises VqagenError before
    anything is written if the shards do not belong together, and while writing, which then leaves no file, if one has
    been changed.
    """
    paths = _without_infos([locate(shard) for shard in paths_of(shards)])
    check_names(paths)
    files = _opened(paths)
    faults = faults_of(files)
    if faults:
        raise BadInput(Problem(fault) for fault in faults)
    files = in_order(files)
    return write_merged(files, out, merged_info(files), format=None, force=force, on_merged=on_merged)


def _without_infos(paths: Sequence[Location]) -> Sequence[Location]:
    """Return paths without the infos beside others of them: part-*.json names part-1.json.info.json as well."""
    infos = {info_beside(str(path), LIST) for path in paths}
    return [path for path in paths if str(path) not in infos]


def _folder_of(files: Sequence[ShardFile]) -> str:
    """Return the key of the records if the shards are folders; "" if they are files. UsageError for both."""
    folders, others = [file for file in files if file.is_folder], [file for file in files if not file.is_folder]
    if folders and others:
        raise UsageError(f"{folders[0].path} is a folder and {others[0].path} is not: merge one kind at a time")
    return files[0].arrangement.key if folders else ""


def check_names(paths: Sequence[Location]) -> None:
    """Raise UsageError for outputs that are not there, not complete, or given twice."""
    missing = [fault for path in paths if (fault := _why_not_there(path))]
    faults = list[str]()
    known: dict[object, Location] = {}
    for path in (path for path in paths if path.exists()):
        same = known.setdefault(_identity(path), path)
        if same is not path:
            faults.append(f"{path} is given twice" if path == same else f"{same} and {path} are the same file")
    if not paths:
        faults.append("there is no shard to merge")
    if missing:
        raise PlaceError("\n".join(missing + faults))
    if faults:
        raise UsageError("\n".join(faults))


def _identity(path: Location) -> object:
    """What two names of one file have in common."""
    if not isinstance(path, Path):
        return path
    found = path.stat()
    return found.st_dev, found.st_ino


def _why_not_there(path: Location) -> str:
    if path.is_dir() and not (isinstance(path, Path) and find_records_in(path)):
        return f"shard {path} is a folder without records; name its files"
    place = make_target(str(path), PARQUET).place
    if is_begun(place):  # what is there may be about to be replaced, and its info be that of the new one already
        return f"shard {path} is not complete ({part_of(place)} is still there): finish it with --resume"
    return "" if path.exists() else f"shard not found: {path}"


def _opened(paths: Sequence[Location]) -> list[ShardFile]:
    files, problems = [], list[Problem]()
    for path in paths:
        try:
            files.append(open_shard(path))
        except BadInput as error:
            problems += error.problems
    if problems:
        raise BadInput([*problems, *(Problem(fault) for fault in differences(files))])
    return files


def write_merged(
    files: Sequence[ShardFile],
    out: os.PathLike[str] | str,
    info: Mapping[str, Any],
    *,
    format: str | None,
    force: bool,
    on_merged: OnMerged,
) -> MergeResult:
    """Write the records of shards, which are in order, to `out` under one info; see `merge`."""
    task = task_named(files[0].arrangement.key)
    folder_of = _folder_of(files)
    named = STDOUT if folder_of else str(out)
    form = choose_format(named, format or _own_format(files, named), task.formats, task.key)
    _check_shapes(files, form)
    target = make_target(str(out), form, folder_of)
    with claimed(target, force=force, inputs=[name for file in files for name in file.names]) as claim:
        if target.is_folder:
            with folder_output(target.place) as folder:
                _gather_files(files, folder)
                count = _write_records(files, target.records_in(folder), task, info, on_merged)
        else:
            count = _write_records(files, target, task, info, on_merged)
        if claim.journal:
            claim.journal.remove()  # with what an unfinished run had made under this name
    return MergeResult(count, len(files), files[0].arrangement.noun)


def _write_records(
    files: Sequence[ShardFile], target: Target, task: type[Task], info: Mapping[str, Any], on_merged: OnMerged
) -> int:
    """Write the records of shards into a file; return how many there are."""
    if target.form.is_binary:
        return write_columns(files, target.name, info, task, _selection(files, task, info), on_merged)
    arrangement, shape = files[0].arrangement, target.form.shape(info) if target.form.shape else None

    def content() -> Iterator[dict[str, Any]]:
        selection = _selection(files, task, info)  # it remembers what it was asked
        return (each for file in files for each in _content(file, task, selection, shape))

    if shape:
        records = _Numbered(content(), shape.number_key, shape.records_in)
    else:
        records = _Numbered(content(), arrangement.number_key)
    with record_file(target.name, target.form, info, arrangement) as writer:
        if target.form.is_surveyed:
            writer.layout.survey(content())
        while made := records.next_batch(writer.write):
            on_merged(made)
    return records.records


def _content(
    file: ShardFile, task: type[Task], selection: Selection | None, shape: Shape | None
) -> Iterator[dict[str, Any]]:
    """Yield what the merged file has of a shard: its records that stay or, in a shape, their entries."""
    if shape and file.form.shape:
        return file.entries(shape)
    records = file.records(task)
    kept = filter(selection.keeps, records) if selection else records
    return shape.entries(kept) if shape else kept


def _own_format(files: Sequence[ShardFile], out: str) -> str | None:
    """Return the name of the format that all shards have, if no ending says it; None for different ones."""
    names = {file.form.name if file.form.shape or is_stream(out) else None for file in files}
    return names.pop() if len(names) == 1 else None


def _check_shapes(files: Sequence[ShardFile], form: Format) -> None:
    """Raise UsageError for files of a shape that cannot be turned into the format."""
    shaped = [file for file in files if file.form.shape and file.form != form]
    if shaped:
        what = f"does not hold all of a {files[0].arrangement.noun}"
        cannot = "; ".join(f"{file.path} is written as {file.form.name}, which {what}" for file in shaped)
        raise UsageError(f"{cannot}: make {form.name} from a file in json, jsonl or parquet")


def _selection(files: Sequence[ShardFile], task: type[Task], info: Mapping[str, Any]) -> Selection | None:
    """Return the selection that the run asks for; None if all records stay."""
    if len(files) == 1 and not files[0].shard:
        return None
    return task.selection(info)


def _gather_files(files: Sequence[ShardFile], into: Path) -> None:
    """Copy the files that belong to the records of all shards. BadInput if two have one name."""
    owner: dict[str, Path] = {}
    for shard in files:
        folder, own = Path(str(shard.path)), {Path(name).name for name in shard.names}
        for file in files_in(folder):
            name = file.relative_to(folder).as_posix()
            if name in own:
                continue
            if name in owner:
                raise BadInput([Problem(f"{owner[name]} has the same name", str(file))])
            owner[name] = file
            place = into / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)


class _Numbered:
    """Records, numbered anew by their place in the merged file.

    They are yielded one by one: holding a batch of them costs the garbage collector 15 µs a record.
    """

    def __init__(
        self,
        given: Iterator[dict[str, Any]],
        number_key: str,
        records_in: Callable[[dict[str, Any]], int] = lambda _: 1,
    ) -> None:
        """`given` are records, or entries of which each was made of `records_in` records."""
        self._given, self._number_key, self._records_in = given, number_key, records_in
        self._place = 0
        self.records = 0

    def next_batch(self, write: Callable[[Iterator[Record]], None]) -> int:
        """Write the next few, and return how many records; 0 at the end."""
        before = self.records
        write(self._numbered(islice(self._given, BATCH)))
        return self.records - before

    def _numbered(self, batch: Iterator[dict[str, Any]]) -> Iterator[Record]:
        for each in batch:
            if self._number_key:
                each[self._number_key] = self._place
            self._place += 1
            self.records += self._records_in(each)
            yield each
