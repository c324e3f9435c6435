"""Parquet files of records: a column for each key, a row group for each block, the `info` as JSON in the metadata."""

from __future__ import annotations

import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any, cast

import orjson

from vqagen.errors import BadInput, Problem, as_written, counted
from vqagen.extras import needed
from vqagen.files.locations import Location, open_as_it_is

Record = Mapping[str, Any]
INFO = b"vqagen"
"""The key of our info, as JSON, in a file's metadata."""
CHECKSUM = b"vqagen_checksum"
"""The key of the checksum of the columns in a file's metadata: over all bytes before the metadata."""
_FOOTER = 8
"""Bytes at the end of a file: the length of its metadata, and PAR1."""
_CHUNK = 1 << 20
READ_AT_ONCE = 500
"""Rows. A row group of a foreign file may be as large as the file; and 10,000 rows take twice as long for each."""


def pyarrow(module: str = "pyarrow") -> Any:
    """The library for columns, or a part of it."""
    return needed(module, "parquet", "Parquet")


# Columns -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RecordColumns(ABC):
    """The columns of a task's records. Options of a run decide which there are, the data never does."""

    @property
    @abstractmethod
    def number_key(self) -> str:
        """The column of a record's place in the file. Only the writer of the file knows the places."""

    @abstractmethod
    def types(self) -> Mapping[str, Any]:
        """Return column -> `pyarrow` type, in the order of the file."""

    def rows(self, records: Sequence[Record], names: Sequence[str]) -> Sequence[Record]:
        """Return the values of the columns `names` for each record. Raises BadInput for records that do not fit."""
        return records

    def restored(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the record that a row was made of; what is null in the row is left out already."""
        return row

    @cached_property
    def schema(self) -> Any:
        """The `pyarrow.Schema` of the file, without its info."""
        return pyarrow().schema(list(self.types().items()))

    def table(self, records: Sequence[Record], number: int = 0) -> Any:
        """Return records, with `number` before them, as a `pyarrow.Table`. BadInput for records that do not fit."""
        arrow, place = pyarrow(), self.schema.get_field_index(self.number_key)
        schema = self.schema.remove(place)
        table = arrow.Table.from_pylist(list(self.rows(records, schema.names)), schema=schema)
        numbers = arrow.array(range(number, number + table.num_rows), arrow.int64())
        return table.add_column(place, self.schema.field(place), numbers)

    def write(self, groups: Iterable[Sequence[Record]], file: IO[bytes], info: Record) -> None:
        """Write records into a Parquet file, a row group for each group of them.

        Empty ones are left out: `datasets` breaks on a file that begins with an empty row group. The column
        `number_key` is filled with each row's place in the file. The same rows in the same groups give the same bytes.
        """
        described, number = self.schema.with_metadata({INFO: orjson.dumps(info)}), 0
        summed = _Summed(file)
        # Of 100,000 questions, zstd leaves 4.6 MB and snappy, the usual one, 6.1 MB; either takes 0.3 s.
        with pyarrow("pyarrow.parquet").ParquetWriter(summed, described, compression="zstd") as writer:
            for records in filter(None, groups):
                writer.write_table(self.table(records, number), row_group_size=len(records))
                number += len(records)
            writer.add_key_value_metadata({CHECKSUM: b"%08x" % summed.crc})


def refuse_misfits(records: Sequence[Record], wanted: Mapping[str, type], noun: str) -> None:
    """Raise BadInput for values that scenes brought along, and that their columns cannot hold.

    `wanted` gives the type of each column that scenes fill, str or int; `noun` is one record, for people. The first
    value of a column is named, and how many more there are.
    """
    problems = []
    for name, kind in wanted.items():
        wrong = [record for record in records if not _fits(record.get(name), kind)]
        if wrong:
            place = f"scene {wrong[0].get('image_filename') or wrong[0].get('image_index')}"
            more = f" (and of {counted(len(wrong) - 1, f'more {noun}')})" if wrong[1:] else ""
            expected = "text" if kind is str else "a whole number"
            found = f"a column holds {expected}, found {as_written(wrong[0][name])}{more}"
            problems.append(Problem(f"{found}; change it in the scenes, or write JSON Lines (.jsonl)", place, name))
    if problems:
        raise BadInput(problems)


def _fits(value: object, kind: type) -> bool:
    return value is None or (type(value) is kind and (kind is str or -(2**63) <= cast(int, value) < 2**63))


# Writing -------------------------------------------------------------------------------------------------------------


class _Summed:
    """A file that is written, and the checksum of its bytes so far."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.crc = file, 0

    def write(self, content: bytes) -> int:
        self.crc = zlib.crc32(content, self.crc)
        return self._file.write(content)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


# Reading -------------------------------------------------------------------------------------------------------------


def describe_columns(path: Location) -> tuple[list[str], int, dict[str, Any]]:
    """Return the names of a file's columns in its order, the number of its rows, and its `info`, empty if none."""
    with open_columns(path) as file:
        names, rows, metadata = file.schema_arrow.names, file.metadata.num_rows, file.schema_arrow.metadata or {}
    try:
        info = orjson.loads(metadata.get(INFO, b"{}"))
    except orjson.JSONDecodeError as error:
        raise BadInput([Problem(f"its metadata is not valid JSON: {error.msg}", str(path), INFO.decode())]) from None
    return list(names), int(rows), info if isinstance(info, dict) else {}


def read_rows(path: Location, start: int = 0, json_columns: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield every row from `start` on as a plain record. A null is left out.

    The texts in `json_columns`, alone or in lists, are JSON, and become the values that they stand for.
    """
    with open_columns(path) as file:
        for batch in file.iter_batches(READ_AT_ONCE):
            names = batch.schema.names
            left = batch.slice(min(start, batch.num_rows))
            columns = [_values(left.column(name), name in json_columns) for name in names]
            for row in zip(*columns, strict=True):
                yield {name: value for name, value in zip(names, row, strict=True) if value is not None}
            start = max(start - batch.num_rows, 0)


def checksums(path: Location) -> tuple[str | None, str]:
    """Return the checksum that a file gives of its columns (None if it gives none), and that of the columns it holds.

    Reads the file.
    """
    with open_columns(path) as file:
        given: bytes | None = (file.metadata.metadata or {}).get(CHECKSUM)
    found = 0
    with open_as_it_is(path) as file:
        end = file.seek(-_FOOTER, os.SEEK_END)
        left = end - int.from_bytes(file.read(4), "little")
        file.seek(0)
        while left > 0 and (content := file.read(min(left, _CHUNK))):
            found, left = zlib.crc32(content, found), left - len(content)
    return given.decode("ascii", "replace") if given is not None else None, f"{found:08x}"


def _values(column: Any, is_json: bool) -> list[Any]:
    types, values = pyarrow().types, column.to_pylist()
    if is_json and types.is_string(column.type):
        return [text and orjson.loads(text) for text in values]
    if is_json and types.is_list(column.type) and types.is_string(column.type.value_type):
        return [texts and [orjson.loads(text) for text in texts] for texts in values]
    return list(values)


@contextmanager
def open_columns(path: Location) -> Iterator[Any]:
    """Open as a `pyarrow.parquet.ParquetFile`; BadInput for a file that is damaged or not Parquet."""
    arrow, parquet = pyarrow(), pyarrow("pyarrow.parquet")
    with open_as_it_is(path) as file:
        try:
            yield parquet.ParquetFile(file, pre_buffer=False)  # or all that was read stays: 4 MB for 1,000 rows
        except (arrow.ArrowException, OSError) as error:
            why = (str(error).splitlines() or [type(error).__name__])[0]
            raise BadInput([Problem(f"not a Parquet file, damaged or cut off: {why}", str(path))]) from None
        except UnicodeDecodeError:
            raise BadInput([Problem("not a Parquet file, or damaged: a text is not UTF-8", str(path))]) from None
        except orjson.JSONDecodeError as error:
            raise BadInput([Problem(f"a text in a column of JSON is not valid JSON: {error.msg}", str(path))]) from None
