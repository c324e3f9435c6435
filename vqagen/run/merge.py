"""Shards into the output of one run, and outputs into another format; streamed, so that memory stays as it is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from vqagen.errors import BadInput, PlaceError, Problem, UsageError
from vqagen.files.formats import (
    LIST,
    PARQUET,
    Format,
    Selection,
    choose_format,
    encode_lines,
    info_beside,
)
from vqagen.files.info import differences as info_differences
from vqagen.files.locations import Location, files_in, locate, paths_of
from vqagen.files.output import STDOUT, atomic_folder, is_stream
from vqagen.run.blocks import is_begun, part_of
from vqagen.run.output import Destination, Output, claimed, make_destination, write_blocks
from vqagen.run.shard_files import ShardFile, find_records_in, open_shard
from vqagen.run.windows import ROW_GROUP, Shard, Span, block_of
from vqagen.tasks.foreign import ForeignFormat, foreign_format
from vqagen.world.loading import SCENES

OnMerged = Callable[[int], object]


class MergeResult(NamedTuple):
    """The result of a merge."""

    records: int
    shards: int
    noun: str
    """One record, for people."""
    unmerged: str = ""
    """The items of the input of which no shard holds records, as far as the shards can say."""


def merge(
    shards: os.PathLike[str] | str | Sequence[os.PathLike[str] | str],
    out: os.PathLike[str] | str,
    *,
    force: bool = False,
    on_merged: OnMerged = lambda _: None,
) -> MergeResult:
    """Write what one run would have written in place of its `shards`, which may be given in any order.

    The ending of `out` chooses the format; shards of another tool, or merged into standard output, keep theirs.
    `on_merged` is called now and then with the number of records merged since. Raises VqagenError before anything is
    written if the shards do not belong together, and while writing, which then leaves no file, if one has been changed.
    """
    paths = _without_infos([locate(shard) for shard in paths_of(shards)])
    _check_names(paths)
    files = _opened(paths)
    faults = faults_of(files)
    if faults:
        raise BadInput(Problem(fault) for fault in faults)
    files = in_order(files)
    merged = _write_merged(files, out, merged_info(files), None, force, on_merged)
    return merged._replace(unmerged=unmerged_ends(files))


def convert(
    source: os.PathLike[str] | str,
    out: os.PathLike[str] | str,
    *,
    format: str | None = None,
    force: bool = False,
    on_converted: OnMerged = lambda _: None,
) -> MergeResult:
    """Write an output of vqagen in another format: the bytes that its run would have written so.

    The ending of `out` chooses it, or `format` for standard output. `on_converted` is called now and then with
    the number of records converted since. Raises VqagenError before anything is written for what cannot be converted,
    and while writing, which then leaves no file, for an output that was changed.
    """
    file = open_output(source)
    return _write_merged([file], out, file.info, format, force, on_converted)


def open_output(source: os.PathLike[str] | str) -> ShardFile:
    """Open an output of vqagen that is complete. Raises VqagenError if it is none, or holds less than its records."""
    path = locate(source)
    _check_names([path])
    file = open_shard(path)
    if file.foreign:
        is_less = f"{path} is written as {file.foreign}, which does not hold all of a {file.arrangement.noun}"
        raise UsageError(f"{is_less}: take a file in json, jsonl or parquet")
    return file


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


def _check_names(paths: Sequence[Location]) -> None:
    """Raise UsageError for outputs that are not there, or not complete."""
    if not paths:
        raise UsageError("there is no shard to merge")
    missing = [fault for path in paths if (fault := _why_not_there(path))]
    if missing:
        raise PlaceError("\n".join(missing))


def _why_not_there(path: Location) -> str:
    if path.is_dir() and not (isinstance(path, Path) and find_records_in(path)):
        return f"shard {path} is a folder without records; name its files"
    place = make_destination(str(path), PARQUET).place
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


def _write_merged(
    files: Sequence[ShardFile],
    out: os.PathLike[str] | str,
    info: Mapping[str, Any],
    format: str | None,
    force: bool,
    on_merged: OnMerged,
) -> MergeResult:
    """Write the records of shards, which are in order, to `out` under one info; see `merge`."""
    task, folder_of = files[0].task, _folder_of(files)
    named = STDOUT if folder_of else str(out)
    formats = (LIST,) if _foreign_name(files) else task.formats
    form = choose_format(named, format or _own_format(files, named), formats, task.key)
    destination = make_destination(str(out), form, folder_of)
    with claimed(destination, force=force, inputs=[name for file in files for name in file.names]) as blocks:
        if destination.is_folder:
            with atomic_folder(destination.place) as folder:
                _gather_files(files, folder)
                count = _write_records(files, destination.records_in(folder), info, on_merged)
        else:
            count = _write_records(files, destination, info, on_merged)
        if blocks:
            blocks.remove()  # those that an unfinished run had made for this output
    return MergeResult(count, len(files), files[0].arrangement.noun)


def _write_records(
    files: Sequence[ShardFile], destination: Destination, info: Mapping[str, Any], on_merged: OnMerged
) -> int:
    """Write the records of shards into a file, as a run writes its blocks; return how many there are."""
    if foreign := _foreign_name(files):
        return _write_foreign(
            files, foreign_format(files[0].arrangement.key, foreign, info), destination.name, on_merged
        )
    columns = files[0].task.columns(info) if destination.form.is_binary else None
    output = Output(destination, info, columns, _selection(files, info))
    return write_blocks(output, _blocks(files, destination.form, on_merged))


def _blocks(files: Sequence[ShardFile], form: Format, on_merged: OnMerged) -> Iterator[tuple[int, bytes]]:
    """Yield the records of shards in blocks, as a run keeps them; of columns, a block is of one row group.

    Text has no row groups: of its records, the places count and not the items.
    """
    for file in files:
        number_key = file.arrangement.number_key
        window = file.arrangement.window if form.is_binary else 0
        records = file.in_order() if form.is_binary else enumerate(file.records())
        for _, group in groupby(records, key=lambda item: block_of(item[0], window, ROW_GROUP)):
            items = list(group)
            yield items[0][0], encode_lines({**record, number_key: 0} if number_key else record for _, record in items)
            on_merged(len(items))


def _foreign_name(files: Sequence[ShardFile]) -> str:
    """Return the name of the format if the shards are of another tool; "" if they are not. UsageError for several."""
    names = {file.foreign for file in files}
    if len(names) > 1:
        raise UsageError(f"shards of several formats do not merge: {', '.join(sorted(names - {''}))} and others")
    return names.pop()


def _write_foreign(files: Sequence[ShardFile], form: ForeignFormat, out: str, on_merged: OnMerged) -> int:
    """Write the entries of shards into a file of another tool; return how many records there are."""
    return form.write(out, lambda: (entry for file in files for entry in file.entries(form)), on_merged)


def _own_format(files: Sequence[ShardFile], out: str) -> str | None:
    """Return the name of the format that all shards have, if no ending says it; None for different ones."""
    names = {file.form.name if is_stream(out) else None for file in files}
    return names.pop() if len(names) == 1 else None


def _selection(files: Sequence[ShardFile], info: Mapping[str, Any]) -> Selection | None:
    """Return the selection that the run asks for; None if all records stay."""
    if len(files) == 1 and not files[0].shard:
        return None
    return files[0].task.selection(info)


def _gather_files(files: Sequence[ShardFile], into: Path) -> None:
    """Copy the files that belong to the records of all shards. BadInput if two have one name."""
    owner: dict[str, Path] = {}
    for shard in files:
        folder, record_files = Path(str(shard.path)), {Path(name).name for name in shard.names}
        for file in files_in(folder):
            name = file.relative_to(folder).as_posix()
            if name in record_files:
                continue
            if name in owner:
                raise BadInput([Problem(f"{owner[name]} has the same name", str(file))])
            owner[name] = file
            copy = into / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)


# Whether shards belong together: all are of one run, and each of its items is in exactly one shard ------------------

SHOWN = 5
"""Differences of one file, and missing shards, that are named."""
OWN = {"generator.settings.start_index", "generator.settings.count", "generator.shard.number"}
"""Paths in the info at which shards of one run differ."""


def in_order(files: Sequence[ShardFile]) -> list[ShardFile]:
    """Return the shards in the order of their items."""
    return sorted(files, key=lambda file: file.span.first)


def merged_info(files: Sequence[ShardFile]) -> dict[str, Any]:
    """Return the info of the run that equals the shards, which are in order."""
    info, run = files[0].info, _whole_run(files)
    length = sum(file.span.length for file in files) if files[-1].span.length else 0
    whole = {"start_index": run.first, "count": run.length} if run else {"count": length}
    generator = {key: value for key, value in info["generator"].items() if key != "shard"}
    return {**info, "generator": {**generator, "settings": {**generator["settings"], **whole}}}


def unmerged_ends(files: Sequence[ShardFile]) -> str:
    """Return the items before the first shard and behind the last, in order, of an input that may have more; or ""."""
    first, end, item = files[0].span.first, files[-1].end, files[0].arrangement.item
    if _whole_run(files) or SCENES.key not in (files[0].info["generator"].get("inputs") or {}):
        return ""
    ends = [f"{_items(0, first, item)} (--start-index 0 --count {first})"] if first else []
    ends += [f"{item}s from {end} on, if there are any (--start-index {end})"] if end else []
    return " and ".join(ends)


def _whole_run(files: Sequence[ShardFile]) -> Span | None:
    """Return the items of the run, if a shard names them."""
    return next((file.whole_run for file in files if file.whole_run), None)


def faults_of(files: Sequence[ShardFile]) -> list[str]:
    """Return all reasons why the shards do not make up one run."""
    faults = list(differences(files))
    if len({file.arrangement.key for file in files}) > 1:  # other faults would follow from this one
        return faults
    ordered = in_order(files)
    overlaps, gaps = _overlaps_and_gaps(ordered)
    faults += overlaps
    runs = {(file.shard.of, file.whole_run) for file in files if file.shard}
    if len(runs) <= 1:  # of different runs, it cannot be said what is missing
        faults += _missing_shards(ordered) or gaps
    return faults


def differences(files: Sequence[ShardFile]) -> Iterator[str]:
    """Yield the differences of each file from the first."""
    for file in files[1:]:
        ours = files[0]
        if file.arrangement.key != ours.arrangement.key:
            yield f"{file.path} holds {file.arrangement.key}, and {ours.path} {ours.arrangement.key}: merge them apart"
            continue
        ignored = OWN if ours.shard and file.shard else {*OWN, "generator.shard"}
        differing = list(info_differences(ours.info, file.info, ignored))
        for difference in differing[:SHOWN]:
            yield f"{file.path} differs from {ours.path} in {difference}"
        if len(differing) > SHOWN:
            yield f"{file.path} differs from {ours.path} in {len(differing) - SHOWN:,} more places"


def _overlaps_and_gaps(ordered: Sequence[ShardFile]) -> tuple[list[str], list[str]]:
    """Return what two shards both hold, and what none of them does."""
    overlaps, gaps = list[str](), list[str]()
    furthest, run, item = ordered[0], _whole_run(ordered), ordered[0].arrangement.item
    at: int | None = run.first if run else furthest.span.first  # the next item; None if all are held
    for file in ordered:
        first = file.span.first
        if at is None:
            where = f"{furthest.path} holds all {item}s from {furthest.span.first} on (its count is 0)"
            overlaps.append(f"{where}, and {file.path} begins at {first}")
            continue
        if first > at:
            gaps.append(_gap(at, first, item))
        elif first < at and file is not ordered[0]:
            end = at if file.end is None else min(file.end, at)
            overlaps.append(f"{furthest.path} and {file.path} both hold {_items(first, end, item)}")
        if file.end is None or file.end > at:
            furthest, at = file, file.end
    if run and at is not None and not run.length:
        gaps.append(f"the {item}s from {at} on are in no shard: make them with --start-index {at}")
    elif run and at is not None and at < run.first + run.length:
        gaps.append(_gap(at, run.first + run.length, item))
    return overlaps, gaps


def _missing_shards(ordered: Sequence[ShardFile]) -> list[str]:
    """Return the missing shards of a run made with `--shard`; none if some files were made without."""
    there = {file.shard.number for file in ordered if file.shard}
    shards = [file.shard for file in ordered if file.shard]
    if len(shards) < len(ordered):
        return []
    missing = [Shard(number, shards[0].of) for number in range(1, shards[0].of + 1) if number not in there]
    named = [f"shard {shard} is missing" for shard in missing[:SHOWN]]
    return [*named, f"{len(missing) - SHOWN:,} more shards are missing"] if len(missing) > SHOWN else named


def _gap(first: int, end: int, item: str) -> str:
    are, them = ("is", "it") if end - first == 1 else ("are", "them")
    made_with = f"--start-index {first} --count {end - first}"
    return f"{_items(first, end, item)} {are} in no shard: make {them} with {made_with}"


def _items(first: int, end: int, item: str) -> str:
    return f"{item} {first}" if end - first == 1 else f"{item}s {first} to {end - 1}"
