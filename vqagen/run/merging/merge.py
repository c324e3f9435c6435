"""Shards into the file that one run would have written. Streamed: what is held does not grow with the shards."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files.locations import Location, locate
from vqagen.records.writer import chosen_layout, info_beside, record_file
from vqagen.run.merging.belonging import differences, faults_of, in_order, merged_info
from vqagen.run.merging.shard_files import Record, ShardFile, open_shard
from vqagen.run.output.claim import claimed
from vqagen.run.output.journal import is_begun, part_of
from vqagen.run.output.staging import Keep, place_of

Select = Callable[[Mapping[str, Any], bool], Keep | None]
"""The selection that a run asks for, given the `generator` of its info; None if all records stay.

Told whether all files know that they are shards (of a run with `--shard`). May raise UsageError.
"""

BATCH = 1000
"""Records written at once."""


class MergeResult(NamedTuple):
    """What a merge came to."""

    records: int
    shards: int
    noun: str
    """What one record is called, such as `question`."""


def merge(
    shards: Sequence[os.PathLike[str] | str],
    out: str,
    *,
    layout: str | None = None,
    force: bool = False,
    select: Select = lambda generator, are_shards: None,
    on_merged: Callable[[int], object] = lambda _: None,
) -> MergeResult:
    """Write what one run would have written in place of its `shards`, which may be given in any order.

    `layout` is json, jsonl or parquet; by default the name of `out` decides. `on_merged` is called now and then with
    the number of records merged since. Raises VqagenError before anything is written where shards do not belong
    together, and while writing, which then leaves no file, where one has been changed.
    """
    paths = [locate(shard) for shard in shards]
    layout = chosen_layout(out, layout)
    _look_for(paths)
    inputs = [*map(str, paths), *(info_beside(str(path), "jsonl") for path in paths)]
    with claimed(out, layout, force=force, inputs=inputs) as claim:
        files = _opened(paths)
        _check_layouts(files, layout)
        faults = faults_of(files)
        if faults:
            raise BadInput(Problem(fault) for fault in faults)
        files = in_order(files)
        is_part = len(files) > 1 or files[0].shard
        keep = select(files[0].info["generator"], all(file.shard for file in files)) if is_part else None
        records = _write(files, out, layout, keep, on_merged)
        if claim.journal:
            claim.journal.remove()  # with what an unfinished run had made to stand here
    return MergeResult(records, len(files), files[0].noun)


def _look_for(paths: Sequence[Location]) -> None:
    faults = [fault for path in paths if (fault := _why_not_there(path))]
    known: dict[object, Location] = {}
    for path in (path for path in paths if path.is_file()):
        same = known.setdefault(_identity(path), path)
        if same is not path:
            faults.append(f"{path} is given twice" if path == same else f"{same} and {path} are the same file")
    if not paths:
        faults.append("there is no shard to merge")
    if faults:
        raise UsageError("\n".join(faults))


def _identity(path: Location) -> object:
    """What two names of one file have in common."""
    if not isinstance(path, Path):
        return path
    found = path.stat()
    return found.st_dev, found.st_ino


def _why_not_there(path: Location) -> str:
    if path.is_dir():
        return f"shard {path} is a folder; name its files"
    place = place_of(str(path))
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


def _check_layouts(files: Sequence[ShardFile], layout: str) -> None:
    columns = [file.path for file in files if file.layout == "parquet"]
    others = [file.path for file in files if file.layout != "parquet"]
    if columns and others:
        raise UsageError(f"{columns[0]} is Parquet and {others[0]} is not: merge one kind at a time")
    if columns and layout != "parquet":
        raise UsageError("Parquet holds answers as text: its shards make a Parquet file (.parquet) and no other")
    if others and layout == "parquet":
        raise UsageError("only Parquet shards make a Parquet file: make the shards so, or a .json or .jsonl of these")


def _write(
    files: Sequence[ShardFile], out: str, layout: str, keep: Keep | None, on_merged: Callable[[int], object]
) -> int:
    info = merged_info(files)
    if layout == "parquet":
        from vqagen.run.merging.columns import write_columns

        return write_columns(files, out, info, keep, on_merged)
    key, number_key, _ = files[0].arrangement
    kept = (record for file in files for record in file.records() if keep is None or keep(record))
    records = _Numbered(kept, number_key)
    with record_file(out, layout, info, key) as writer:
        while made := records.next_batch(writer.write):
            on_merged(made)
    return records.given


class _Numbered:
    """Records, numbered anew by their place in the merged file where they say it.

    They are given out as they are asked for: to hold a batch of them costs the garbage collector 15 µs a record.
    """

    def __init__(self, records: Iterator[Record], number_key: str) -> None:
        self._records, self._number_key = records, number_key
        self.given = 0

    def next_batch(self, write: Callable[[Iterator[Record]], None]) -> int:
        """Write the next few, and say how many; 0 at the end."""
        before = self.given
        write(self._numbered(islice(self._records, BATCH)))
        return self.given - before

    def _numbered(self, records: Iterator[Record]) -> Iterator[Record]:
        for record in records:
            if self._number_key:
                record[self._number_key] = self.given
            self.given += 1
            yield record
