"""From a complete part to the output: renamed, compressed, uploaded, selected from, gathered or turned into Parquet."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from vqagen.files.formats import Layout, Record, Shape, decode_lines, record_file, write_info
from vqagen.files.locations import locate
from vqagen.files.output import atomic_output, settle
from vqagen.files.packing import packing_of
from vqagen.run.journal import RECORDS, Journal
from vqagen.run.output import Output, Target

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
