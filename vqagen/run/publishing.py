"""From a complete part to the output: renamed, packed, sent away, chosen from, or turned into Parquet."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from vqagen.files import atomic_output
from vqagen.locations import locate
from vqagen.packing import packing_of
from vqagen.run.journal import Journal
from vqagen.run.layouts import decode_lines
from vqagen.run.output import Output, Record, record_file, write_info

_CHUNK = 1 << 20


def publish(journal: Journal, output: Output) -> int:
    """Make the output of its part, which is complete, and say how many records it holds."""
    if not output.is_staged_as_it_is:
        return _rewrite(journal, output)
    journal.complete(output.staged.tail)
    write_info(output.target, output.layout, output.info, journal.records)
    if _is_place_of(journal, output) and not packing_of(output.target):
        os.replace(journal.part, output.place)
    else:
        with journal.part.open("rb") as part, atomic_output(output.target) as file:
            shutil.copyfileobj(part, file, _CHUNK)
    return journal.records


def _is_place_of(journal: Journal, output: Output) -> bool:
    return isinstance(locate(output.target), Path) and journal.part.parent == output.place.parent


def _rewrite(journal: Journal, output: Output) -> int:
    """Through memory, block by block."""
    chosen = _Chosen(journal, output)
    if output.layout == "parquet":
        assert output.columns is not None
        batches = map(output.columns.encode, chosen.blocks()) if output.select else chosen.bodies()
        with atomic_output(output.target) as file:
            output.columns.write(batches, file, output.info)
    else:
        with record_file(output.target, output.layout, output.info, output.key) as writer:
            for records in chosen.blocks():
                writer.write(records)
    return chosen.count


class _Chosen:
    """The records of a part that stay, and how many they are."""

    def __init__(self, journal: Journal, output: Output) -> None:
        self.journal, self.output = journal, output
        self.count = 0

    def bodies(self) -> Iterator[bytes]:
        self.count = self.journal.records
        return self.journal.bodies()

    def blocks(self) -> Iterator[Sequence[Record]]:
        """Each block's records, numbered as they stand in the output."""
        assert self.output.select is not None
        keep = self.output.select()
        for body in self.journal.bodies():
            records = [record for record in decode_lines(body) if keep(record)]
            if self.output.number_key:
                for number, record in enumerate(records, start=self.count):
                    record[self.output.number_key] = number
            self.count += len(records)
            yield records
