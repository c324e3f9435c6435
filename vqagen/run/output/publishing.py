"""From a complete part to the output: renamed, packed, sent away, chosen from, or turned into Parquet."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from vqagen.files.locations import locate
from vqagen.files.output import atomic_output, settle
from vqagen.files.packing import packing_of
from vqagen.records.layouts import decode_lines
from vqagen.records.writer import Record, record_file, write_info
from vqagen.run.output.journal import Conclusion, Journal
from vqagen.run.output.staging import Output

_CHUNK = 1 << 20


def publish(journal: Journal, output: Output) -> Conclusion:
    """Make the output of its part, which is complete and then gone.

    What the output came to is in the journal before it has its name.
    """
    conclusion = _as_it_is(journal, output) if output.is_staged_as_it_is else _rewritten(journal, output)
    journal.drop_part()
    return conclusion


def _as_it_is(journal: Journal, output: Output) -> Conclusion:
    """By its name alone, or packed, or sent away."""
    conclusion = Conclusion(journal.records, {})

    def finish() -> None:
        write_info(output.target, output.layout, output.info, journal.records)
        journal.conclude(conclusion)

    journal.complete(output.staged.tail)
    if isinstance(locate(output.target), Path) and not packing_of(output.target):
        finish()
        os.replace(journal.part, output.place)
        settle(output.place.parent)
    else:
        with journal.part.open("rb") as part, atomic_output(output.target, finish) as file:
            shutil.copyfileobj(part, file, _CHUNK)
    return conclusion


def _rewritten(journal: Journal, output: Output) -> Conclusion:
    """Through memory, block by block."""
    chosen = _Chosen(journal, output)
    if output.layout == "parquet":
        assert output.columns is not None
        batches = map(output.columns.encode, chosen.blocks()) if chosen.choice else chosen.bodies()
        with atomic_output(output.target, chosen.conclude) as file:
            output.columns.write(batches, file, output.info)
    else:
        key = output.arrangement.key
        with record_file(output.target, output.layout, output.info, key, chosen.conclude) as writer:
            for records in chosen.blocks():
                writer.write(records)
    return chosen.conclusion()


class _Chosen:
    """The records of a part that stay, and how many they are."""

    def __init__(self, journal: Journal, output: Output) -> None:
        self.journal = journal
        self.choice = output.choose() if output.choose else None
        self.number_key = output.arrangement.number_key
        self.count = 0

    def bodies(self) -> Iterator[bytes]:
        """Of all blocks, as they are."""
        self.count = self.journal.records
        return self.journal.bodies()

    def blocks(self) -> Iterator[Sequence[Record]]:
        """Each block's records that stay, numbered as they stand in the output."""
        assert self.choice is not None
        for body in self.journal.bodies():
            records = [record for record in decode_lines(body) if self.choice.keeps(record)]
            if self.number_key:
                for number, record in enumerate(records, start=self.count):
                    record[self.number_key] = number
            self.count += len(records)
            yield records

    def conclusion(self) -> Conclusion:
        """What the output came to, when all records were gone through."""
        return Conclusion(self.count, self.choice.to_record() if self.choice else {})

    def conclude(self) -> None:
        """Note it: the output is about to get its name."""
        self.journal.conclude(self.conclusion())
