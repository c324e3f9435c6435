"""Shards into one Parquet file, block by block, whichever format they have.

A Parquet shard may end inside a block, whose row group is then put together again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, groupby
from typing import Any

from vqagen.files.output import atomic_output
from vqagen.records.layouts import Columns, Record, Selection
from vqagen.records.parquet import decode, pyarrow, row_groups, to_records
from vqagen.run.merging.shard_files import ShardFile
from vqagen.run.windows import BLOCK, block_of
from vqagen.tasks.contract import Task

Block = tuple[int, int]


def write_columns(
    files: Sequence[ShardFile],
    out: str,
    info: Mapping[str, Any],
    task: type[Task],
    selection: Selection | None,
    on_merged: Callable[[int], object],
) -> int:
    """Write the rows of shards, which are in order, as one run has them, and return how many there are."""
    columns = task.columns(info)
    assert columns is not None, f"{task.key} have no columns"
    written = 0

    def tables() -> Iterator[Any]:
        nonlocal written
        pieces = (piece for file in files for piece in _pieces(file, task, columns))
        for _, tables in groupby(pieces, key=lambda piece: piece[0]):
            table = _whole([_selected(table, selection) for _, table in tables])
            yield table
            written += table.num_rows
            on_merged(table.num_rows)

    with atomic_output(out) as file:
        columns.write_tables(tables(), file, info)
    return written


def _pieces(file: ShardFile, task: type[Task], columns: Columns) -> Iterator[tuple[Block, Any]]:
    """Yield the tables of a shard, each with the block that it is all of, or a part."""
    blocks = blocks_from(file.span.first, file.arrangement.window)
    if file.layout == "parquet":
        place = 0
        for block, table in zip(blocks, row_groups(file.record_file), strict=False):
            _check_numbers(file, table, place)
            place += table.num_rows
            yield block, table.drop_columns([file.arrangement.number_key])
        return
    for block, records in _in_blocks(file, task, blocks):
        yield block, decode(columns.encode(records))


def _in_blocks(file: ShardFile, task: type[Task], blocks: Iterator[Block]) -> Iterator[tuple[Block, list[Record]]]:
    """Yield each block of a JSON shard with its records. Without the index of their items, records fill blocks."""
    key, size, numbers = task.index_key, file.arrangement.window, count()
    records = file.records(task)
    grouped = groupby(records, key=lambda each: block_of(each[key], size) if key else (0, next(numbers) // BLOCK))
    for block, content in grouped:
        if key:
            while (passed := next(blocks)) != block:
                yield passed, []
        yield block, list(content)


def blocks_from(index: int, size: int) -> Iterator[Block]:
    """The block that an item lies in, and those that follow, without end.

    >>> from itertools import islice
    >>> list(islice(blocks_from(3990, 2500), 3))
    [(1, 1), (1, 2), (2, 0)]
    """
    while True:
        yield block_of(index, size)
        inside = index % size if size else index
        end = inside - inside % BLOCK + BLOCK
        index += (min(end, size) if size else end) - inside


def _check_numbers(file: ShardFile, table: Any, place: int) -> None:
    numbers = table.column(file.arrangement.number_key).to_numpy()
    wrong = (numbers != range(place, place + len(numbers))).nonzero()[0]
    if len(wrong):
        raise file.misnumbered(int(numbers[wrong[0]]), place + int(wrong[0]))


def _selected(table: Any, selection: Selection | None) -> Any:
    if selection is None or not table.num_rows:
        return table
    shown = table.select([name for name in selection.reads if name in table.schema.names])
    return table.filter([selection.keeps(record) for record in to_records(shown)])


def _whole(pieces: Sequence[Any]) -> Any:
    return pieces[0] if len(pieces) == 1 else pyarrow().concat_tables(pieces)
