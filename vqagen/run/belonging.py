"""Checks that shards belong together: all are of one run, and each of its items is in exactly one shard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from vqagen.files.info import differences as info_differences
from vqagen.run.shard_files import ShardFile
from vqagen.run.shards import Shard
from vqagen.run.windows import Span

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
        found = list(info_differences(ours.info, file.info, ignored))
        for difference in found[:SHOWN]:
            yield f"{file.path} differs from {ours.path} in {difference}"
        if len(found) > SHOWN:
            yield f"{file.path} differs from {ours.path} in {len(found) - SHOWN:,} more places"


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
