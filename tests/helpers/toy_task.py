"""A task of its own, as short as one can be: numbers and their digits, with a picture of each number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vqagen.files.formats import JSON, JSON_LINES, PARQUET
from vqagen.files.parquet import RecordColumns, pyarrow
from vqagen.frozen import frozen
from vqagen.tasks.contract import Item, ItemRecords, Make, Task
from vqagen.tasks.settings import RunSettings, setting


class DigitColumns(RecordColumns):
    """The columns of digits: whole numbers all."""

    number_key = "digit_index"

    def types(self) -> Mapping[str, Any]:
        return dict.fromkeys(("digit_index", "number", "digit", "seen"), pyarrow().int64())


@dataclass(frozen=True)
class DigitSettings(RunSettings):
    """All that decides which digits are written."""

    base: int = setting(10, "The base of the numbers.", least=2)


class DigitTally(Counter[str]):
    def take(self) -> dict[str, int]:
        """Return how often each digit was written, and start again from zero."""
        return {digit: self.pop(digit) for digit in sorted(self)}


@frozen
class DigitTask(Task):
    """Writes each digit of a number that is not a multiple of three. Counts run through a window."""

    settings: DigitSettings
    key, number_key, index_key, item, reads_scenes = "digits", "digit_index", "number", "number", False
    formats, WINDOW, tally = (JSON, JSON_LINES, PARQUET), 4, DigitTally

    def load(self, hashes: Mapping[str, str]) -> Make:
        def make(items: Iterable[Item], first: int, tally: DigitTally) -> Iterator[ItemRecords]:
            seen = 0
            for index in (item.index for item in items):
                digits = [index // self.settings.base**n % self.settings.base for n in range(3)] if index % 3 else []
                seen += len(digits)
                if index >= first:
                    records = [{"digit_index": 0, "number": index, "digit": each, "seen": seen} for each in digits]
                    files = {f"images/{index}.txt": b"%d" % index} if self.makes_files else {}
                    tally.update(str(each) for each in digits)
                    yield ItemRecords(index, records, files)

        return make

    @classmethod
    def columns(cls, info: Mapping[str, Any]) -> RecordColumns:
        return DigitColumns()


class PicturedDigitTask(DigitTask):
    """The same with a file for each number."""

    key, makes_files = "pictured_digits", True
